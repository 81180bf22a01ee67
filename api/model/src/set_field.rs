use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    ArpOperation, Dscp, Ecn, Invalid, IpAddress, Ipv6Label, MacAddress, Metadata, MplsLabel,
    MplsTrafficClass, VlanId, VlanPriority,
    action::{NotOne, one},
    matching::Family,
};

/// A field and what is written into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", try_from = "Fields")]
pub enum SetField {
    /// Who sent the frame.
    EthSrc(MacAddress),
    /// Whom the frame is for.
    EthDst(MacAddress),
    /// Who sent the IP packet.
    IpSrc(IpAddress),
    /// Whom the IP packet is for.
    IpDst(IpAddress),
    /// Its differentiated services.
    IpDscp(Dscp),
    /// Its congestion notification.
    IpEcn(Ecn),
    /// Its TTL or hop limit.
    IpTtl(u8),
    /// The source port of TCP, UDP or SCTP.
    L4Src(u16),
    /// The destination port of TCP, UDP or SCTP.
    L4Dst(u16),
    /// The VLAN of the outer tag.
    VlanVid(VlanId),
    /// The priority in the outer tag.
    VlanPcp(VlanPriority),
    /// The outermost MPLS label.
    MplsLabel(MplsLabel),
    /// Its traffic class.
    MplsTc(MplsTrafficClass),
    /// Its TTL.
    MplsTtl(u8),
    /// What an ARP packet asks or answers.
    ArpOp(ArpOperation),
    /// The IPv4 address of ARP's sender.
    ArpSpa(IpAddress),
    /// The IPv4 address of ARP's target.
    ArpTpa(IpAddress),
    /// The Ethernet address of ARP's sender.
    ArpSha(MacAddress),
    /// The Ethernet address of ARP's target.
    ArpTha(MacAddress),
    /// The flow label of IPv6.
    Ipv6Label(Ipv6Label),
    /// Bits beside the packet, which rules of later tables can match and stages can read.
    Metadata(Metadata),
}

/// The set-field action as it is written: an object with one of these keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    eth_src: Option<MacAddress>,
    eth_dst: Option<MacAddress>,
    ip_src: Option<IpAddress>,
    ip_dst: Option<IpAddress>,
    ip_dscp: Option<Dscp>,
    ip_ecn: Option<Ecn>,
    ip_ttl: Option<u8>,
    l4_src: Option<u16>,
    l4_dst: Option<u16>,
    vlan_vid: Option<VlanId>,
    vlan_pcp: Option<VlanPriority>,
    mpls_label: Option<MplsLabel>,
    mpls_tc: Option<MplsTrafficClass>,
    mpls_ttl: Option<u8>,
    arp_op: Option<ArpOperation>,
    arp_spa: Option<IpAddress>,
    arp_tpa: Option<IpAddress>,
    arp_sha: Option<MacAddress>,
    arp_tha: Option<MacAddress>,
    ipv6_label: Option<Ipv6Label>,
    metadata: Option<Metadata>,
}

impl TryFrom<Fields> for SetField {
    type Error = NotOne;

    fn try_from(fields: Fields) -> Result<Self, NotOne> {
        one([
            fields.eth_src.map(Self::EthSrc),
            fields.eth_dst.map(Self::EthDst),
            fields.ip_src.map(Self::IpSrc),
            fields.ip_dst.map(Self::IpDst),
            fields.ip_dscp.map(Self::IpDscp),
            fields.ip_ecn.map(Self::IpEcn),
            fields.ip_ttl.map(Self::IpTtl),
            fields.l4_src.map(Self::L4Src),
            fields.l4_dst.map(Self::L4Dst),
            fields.vlan_vid.map(Self::VlanVid),
            fields.vlan_pcp.map(Self::VlanPcp),
            fields.mpls_label.map(Self::MplsLabel),
            fields.mpls_tc.map(Self::MplsTc),
            fields.mpls_ttl.map(Self::MplsTtl),
            fields.arp_op.map(Self::ArpOp),
            fields.arp_spa.map(Self::ArpSpa),
            fields.arp_tpa.map(Self::ArpTpa),
            fields.arp_sha.map(Self::ArpSha),
            fields.arp_tha.map(Self::ArpTha),
            fields.ipv6_label.map(Self::Ipv6Label),
            fields.metadata.map(Self::Metadata),
        ])
    }
}

impl SetField {
    /// Checks that packets of `family`, if that is known, can have the field.
    pub(crate) fn validate(self, family: Option<Family>) -> Result<(), Invalid> {
        if let Self::ArpSpa(address) | Self::ArpTpa(address) = self
            && address.0.is_ipv6()
        {
            return Err(Invalid::at(&[self.name()], "the addresses of ARP are IPv4's"));
        }
        match family {
            Some(family) if !self.fits(family) => {
                let reason = format!("the packets that the rule matches are {}", family.name());
                Err(Invalid::at(&[self.name()], reason))
            }
            _ => Ok(()),
        }
    }

    /// Whether packets of a family can have the field.
    fn fits(self, family: Family) -> bool {
        match self {
            Self::EthSrc(_)
            | Self::EthDst(_)
            | Self::VlanVid(_)
            | Self::VlanPcp(_)
            | Self::Metadata(_) => true,
            Self::IpSrc(address) | Self::IpDst(address) => Family::of(address.0) == family,
            Self::IpDscp(_) | Self::IpEcn(_) | Self::IpTtl(_) => family.is_ip(),
            Self::L4Src(_) | Self::L4Dst(_) => family.is_ip(),
            Self::MplsLabel(_) | Self::MplsTc(_) | Self::MplsTtl(_) => family == Family::Mpls,
            Self::ArpOp(_)
            | Self::ArpSpa(_)
            | Self::ArpTpa(_)
            | Self::ArpSha(_)
            | Self::ArpTha(_) => family == Family::Arp,
            Self::Ipv6Label(_) => family == Family::V6,
        }
    }

    /// The key that it is written with.
    fn name(self) -> &'static str {
        match self {
            Self::EthSrc(_) => "eth_src",
            Self::EthDst(_) => "eth_dst",
            Self::IpSrc(_) => "ip_src",
            Self::IpDst(_) => "ip_dst",
            Self::IpDscp(_) => "ip_dscp",
            Self::IpEcn(_) => "ip_ecn",
            Self::IpTtl(_) => "ip_ttl",
            Self::L4Src(_) => "l4_src",
            Self::L4Dst(_) => "l4_dst",
            Self::VlanVid(_) => "vlan_vid",
            Self::VlanPcp(_) => "vlan_pcp",
            Self::MplsLabel(_) => "mpls_label",
            Self::MplsTc(_) => "mpls_tc",
            Self::MplsTtl(_) => "mpls_ttl",
            Self::ArpOp(_) => "arp_op",
            Self::ArpSpa(_) => "arp_spa",
            Self::ArpTpa(_) => "arp_tpa",
            Self::ArpSha(_) => "arp_sha",
            Self::ArpTha(_) => "arp_tha",
            Self::Ipv6Label(_) => "ipv6_label",
            Self::Metadata(_) => "metadata",
        }
    }
}
