use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    Dscp, Ecn, EtherType, Invalid, IpFragment, IpMatch, IpProtocol, L4PortMatch, MacMatch, Name,
    TcpFlagsMatch, VlanMatch, VlanPriority,
};

/// The packets that a rule is about: those that match every field that is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// The port that they came by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_port: Option<Name>,
    /// Who sent the frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eth_src: Option<MacMatch>,
    /// Whom the frame is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eth_dst: Option<MacMatch>,
    /// What is in the frame, behind its VLAN tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eth_type: Option<EtherType>,
    /// The outer VLAN tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlan_vid: Option<VlanMatch>,
    /// The outer VLAN tag's priority. Needs a `vlan_vid`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlan_pcp: Option<VlanPriority>,
    /// Who sent the IP packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_src: Option<IpMatch>,
    /// Whom the IP packet is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_dst: Option<IpMatch>,
    /// What the IP packet carries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_proto: Option<IpProtocol>,
    /// The IP packet's differentiated services.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_dscp: Option<Dscp>,
    /// The IP packet's congestion notification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_ecn: Option<Ecn>,
    /// The IP packet's TTL or hop limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_ttl: Option<u8>,
    /// Whether the IP packet is a fragment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_frag: Option<IpFragment>,
    /// The source port of TCP, UDP or SCTP. Needs such an `ip_proto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l4_src: Option<L4PortMatch>,
    /// The destination port of TCP, UDP or SCTP. Needs such an `ip_proto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l4_dst: Option<L4PortMatch>,
    /// The control bits of TCP. Needs the `ip_proto` tcp.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_flags: Option<TcpFlagsMatch>,
    /// The type of an ICMP message. Needs the `ip_proto` icmp or icmpv6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icmp_type: Option<u8>,
    /// The code of an ICMP message. Needs the `ip_proto` icmp or icmpv6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icmp_code: Option<u8>,
}

/// What the matched packets are known to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
    /// Not IP.
    Other,
}

impl Family {
    pub(crate) fn of(address: IpAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
            Self::Other => "not IP",
        }
    }
}

impl Match {
    /// Checks that no field contradicts another or lacks the one that it needs. Answers with what
    /// the packets are then known to be.
    pub(crate) fn validate(&self) -> Result<Option<Family>, Invalid> {
        self.vlan_fields()?;
        self.transport_fields()?;
        self.family()
    }

    fn vlan_fields(&self) -> Result<(), Invalid> {
        match (self.vlan_pcp, self.vlan_vid) {
            (Some(_), None | Some(VlanMatch::Untagged)) => {
                Err(Invalid::at(&["vlan_pcp"], "only a packet with a VLAN tag has a priority")
                    .hint("add vlan_vid with a VLAN's number"))
            }
            _ => Ok(()),
        }
    }

    fn transport_fields(&self) -> Result<(), Invalid> {
        let is = |protocols: &[IpProtocol]| {
            self.ip_proto.is_some_and(|protocol| protocols.contains(&protocol))
        };
        let has_ports = self.ip_proto.is_some_and(IpProtocol::has_ports);
        let is_icmp = is(&[IpProtocol::ICMP, IpProtocol::ICMPV6]);
        for (field, given, allowed, protocols) in [
            ("l4_src", self.l4_src.is_some(), has_ports, "tcp, udp or sctp"),
            ("l4_dst", self.l4_dst.is_some(), has_ports, "tcp, udp or sctp"),
            ("tcp_flags", self.tcp_flags.is_some(), is(&[IpProtocol::TCP]), "tcp"),
            ("icmp_type", self.icmp_type.is_some(), is_icmp, "icmp or icmpv6"),
            ("icmp_code", self.icmp_code.is_some(), is_icmp, "icmp or icmpv6"),
        ] {
            if given && !allowed {
                return Err(Invalid::at(&[field], format!("only {protocols} has this field"))
                    .hint(format!("add ip_proto with {protocols}")));
            }
            if given && self.ip_frag == Some(IpFragment::Later) {
                return Err(Invalid::at(&[field], "later fragments have no transport header")
                    .hint("leave out this field, or match another ip_frag"));
            }
        }
        Ok(())
    }

    fn family(&self) -> Result<Option<Family>, Invalid> {
        let mut known = self.eth_type.map(|eth_type| match eth_type {
            EtherType::IPV4 => ("eth_type", Family::V4),
            EtherType::IPV6 => ("eth_type", Family::V6),
            _ => ("eth_type", Family::Other),
        });
        for (field, family) in self.ip_fields() {
            match (known, family) {
                (Some((by, Family::Other)), _) => {
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
        ];
        fields.into_iter().filter_map(|(field, given)| given.map(|family| (field, family)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn validate(value: Value) -> Result<Option<Family>, String> {
        let matching: Match = serde_json::from_value(value).unwrap();
        matching.validate().map_err(|invalid| invalid.to_string())
    }

    #[test]
    fn knows_the_family_if_a_field_implies_it() {
        for (value, family) in [
            (json!({}), None),
            (json!({"ip_proto": "tcp", "l4_dst": 443, "tcp_flags": "0x02/0x12"}), None),
            (json!({"ip_dscp": 46, "ip_ecn": 1, "ip_ttl": 1, "ip_frag": "any"}), None),
            (
                json!({"eth_type": "ipv4", "ip_proto": "udp", "l4_src": "0x8000/0x8000"}),
                Some(Family::V4),
            ),
            (json!({"ip_src": "10.0.0.0/8", "ip_dst": "10.1.0.0/16"}), Some(Family::V4)),
            (json!({"ip_proto": "icmpv6", "icmp_type": 135, "icmp_code": 0}), Some(Family::V6)),
            (json!({"eth_type": "arp", "vlan_vid": 10, "vlan_pcp": 7}), Some(Family::Other)),
        ] {
            assert_eq!(validate(value.clone()), Ok(family), "{value}");
        }
    }

    #[test]
    fn refuses_contradictions_and_fields_without_their_header() {
        for (value, expected) in [
            (json!({"vlan_pcp": 1}), "/vlan_pcp: only a packet with a VLAN tag"),
            (
                json!({"vlan_pcp": 1, "vlan_vid": "none"}),
                "/vlan_pcp: only a packet with a VLAN tag",
            ),
            (json!({"l4_dst": 80}), "/l4_dst: only tcp, udp or sctp has this field"),
            (json!({"l4_src": 80, "ip_proto": "icmp"}), "/l4_src: only tcp, udp or sctp"),
            (json!({"tcp_flags": "0x02", "ip_proto": "udp"}), "/tcp_flags: only tcp has"),
            (json!({"icmp_code": 0, "ip_proto": "tcp"}), "/icmp_code: only icmp or icmpv6"),
            (
                json!({"ip_proto": "tcp", "l4_dst": 80, "ip_frag": "later"}),
                "/l4_dst: later fragments",
            ),
            (json!({"eth_type": "arp", "ip_ttl": 1}), "/ip_ttl: eth_type says that this is not IP"),
            (
                json!({"ip_src": "10.0.0.1", "ip_dst": "::1"}),
                "/ip_dst: it is of IPv6, but ip_src says IPv4",
            ),
            (
                json!({"eth_type": "ipv6", "ip_src": "10.0.0.1"}),
                "/ip_src: it is of IPv4, but eth_type says IPv6",
            ),
            (
                json!({"ip_src": "::1", "ip_proto": "icmp"}),
                "/ip_proto: it is of IPv4, but ip_src says IPv6",
            ),
        ] {
            let refused = validate(value.clone()).unwrap_err();
            assert!(refused.starts_with(expected), "{value}: {refused}");
        }
    }

    #[test]
    fn shows_only_what_was_given() {
        let value = json!({"in_port": "lan", "eth_dst": "02:00:00:00:00:01", "ip_ttl": 0});
        let matching: Match = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(json!(matching), value);
    }
}
