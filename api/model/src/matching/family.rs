use std::net::IpAddr;

use super::Match;
use crate::{EtherType, Invalid, IpMatch, IpProtocol};

/// What packets are known to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
    Arp,
    Mpls,
    /// None of these.
    Other,
}

impl Family {
    pub(crate) fn of(address: IpAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }

    /// What an EtherType announces.
    pub(crate) fn behind(ether_type: EtherType) -> Self {
        match ether_type {
            EtherType::IPV4 => Self::V4,
            EtherType::IPV6 => Self::V6,
            EtherType::ARP => Self::Arp,
            EtherType::MPLS | EtherType::MPLS_MULTICAST => Self::Mpls,
            _ => Self::Other,
        }
    }

    pub(crate) fn is_ip(self) -> bool {
        matches!(self, Self::V4 | Self::V6)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
            Self::Arp => "ARP",
            Self::Mpls => "MPLS",
            Self::Other => "not IP",
        }
    }
}

impl Match {
    /// What the packets are known to be.
    pub(super) fn family(&self) -> Result<Option<Family>, Invalid> {
        let mut known = self.eth_type.map(|eth_type| ("eth_type", Family::behind(eth_type)));
        for (field, family) in self.ip_fields() {
            match (known, family) {
                (Some((by, known)), _) if !known.is_ip() => {
                    return Err(Invalid::at(&[field], format!("{by} says that this is not IP")));
                }
                (Some((by, known)), Some(family)) if known != family => {
                    let (family, known) = (family.name(), known.name());
                    let reason = format!("it is of {family}, but {by} says {known}");
                    return Err(Invalid::at(&[field], reason));
                }
                (None, Some(family)) => known = Some((field, family)),
                _ => {}
            }
        }
        Ok(known.map(|(_, family)| family))
    }

    /// The fields that only IP packets have, and the family that each implies.
    fn ip_fields(&self) -> impl Iterator<Item = (&'static str, Option<Family>)> {
        let of_address = |address: Option<IpMatch>| {
            address.map(|address| match address {
                IpMatch::V4 { .. } => Some(Family::V4),
                IpMatch::V6 { .. } => Some(Family::V6),
            })
        };
        let of_protocol = self.ip_proto.map(|protocol| match protocol {
            IpProtocol::ICMP => Some(Family::V4),
            IpProtocol::ICMPV6 => Some(Family::V6),
            _ => None,
        });
        let fields = [
            ("ip_src", of_address(self.ip_src)),
            ("ip_dst", of_address(self.ip_dst)),
            ("ip_proto", of_protocol),
            ("ip_dscp", self.ip_dscp.map(|_| None)),
            ("ip_ecn", self.ip_ecn.map(|_| None)),
            ("ip_ttl", self.ip_ttl.map(|_| None)),
            ("ip_frag", self.ip_frag.map(|_| None)),
            ("ipv6_label", self.ipv6_label.map(|_| Some(Family::V6))),
        ];
        fields.into_iter().filter_map(|(field, given)| given.map(|family| (field, family)))
    }
}
