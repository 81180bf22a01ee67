use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    Dscp, Ecn, Invalid, IpAddress, MacAddress, VlanId, VlanPriority,
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
        ])
    }
}

impl SetField {
    /// Checks that packets of `family`, if that is known, can have the field.
    pub(crate) fn validate(self, family: Option<Family>) -> Result<(), Invalid> {
        let Some(family) = family else { return Ok(()) };
        let (field, fits) = match self {
            Self::IpSrc(address) => ("ip_src", Family::of(address.0) == family),
            Self::IpDst(address) => ("ip_dst", Family::of(address.0) == family),
            Self::IpDscp(_) => ("ip_dscp", family != Family::Other),
            Self::IpEcn(_) => ("ip_ecn", family != Family::Other),
            Self::IpTtl(_) => ("ip_ttl", family != Family::Other),
            Self::L4Src(_) => ("l4_src", family != Family::Other),
            Self::L4Dst(_) => ("l4_dst", family != Family::Other),
            _ => return Ok(()),
        };
        let reason = || format!("the packets that the rule matches are {}", family.name());
        if fits { Ok(()) } else { Err(Invalid::at(&[field], reason())) }
    }
}
