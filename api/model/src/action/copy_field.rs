use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Invalid, matching::Family};

/// A field that is copied into another of its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CopyField {
    /// What is read.
    pub from: CopiedField,
    /// What is written.
    pub to: CopiedField,
}

/// A field that can be copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CopiedField {
    /// Who sent the frame.
    EthSrc,
    /// Whom the frame is for.
    EthDst,
    /// Who sent the IP packet.
    IpSrc,
    /// Whom the IP packet is for.
    IpDst,
    /// The IPv4 address of ARP's sender.
    ArpSpa,
    /// The IPv4 address of ARP's target.
    ArpTpa,
    /// The Ethernet address of ARP's sender.
    ArpSha,
    /// The Ethernet address of ARP's target.
    ArpTha,
    /// The source port of TCP, UDP or SCTP.
    L4Src,
    /// The destination port of TCP, UDP or SCTP.
    L4Dst,
    /// As many of the low bits beside the packet as the other field has.
    Metadata,
}

/// Which packets have a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    All,
    Ip,
    Arp,
}

impl CopyField {
    /// Checks that both fields are of one size, and that packets of `family`, if that is known, can
    /// have both.
    pub(super) fn validate(self, family: Option<Family>) -> Result<(), Invalid> {
        let Self { from, to } = self;
        let at_to = |reason: String| Err(Invalid::at(&["to"], reason));
        if from == to {
            return at_to("a field is copied into another".to_owned());
        }
        if [from.owner(), to.owner()].iter().all(|owner| *owner != Owner::All)
            && from.owner() != to.owner()
        {
            return at_to("no packet has both fields".to_owned());
        }
        for (end, field) in [("from", from), ("to", to)] {
            if let Some(family) = family.filter(|family| !field.owner().has(*family)) {
                let reason = format!("the packets that the rule matches are {}", family.name());
                return Err(Invalid::at(&[end], reason));
            }
        }
        match (from.bits(family), to.bits(family)) {
            (Some(read), Some(written)) if read != written => {
                at_to(format!("it has {written} bits, and the other field {read}"))
            }
            (Some(wide @ 65..), None) | (None, Some(wide @ 65..)) => {
                at_to(format!("{wide} bits do not fit metadata, which has 64"))
            }
            _ => Ok(()),
        }
    }
}

impl CopiedField {
    fn owner(self) -> Owner {
        match self {
            Self::EthSrc | Self::EthDst | Self::Metadata => Owner::All,
            Self::IpSrc | Self::IpDst | Self::L4Src | Self::L4Dst => Owner::Ip,
            Self::ArpSpa | Self::ArpTpa | Self::ArpSha | Self::ArpTha => Owner::Arp,
        }
    }

    /// How wide it is; `None` for metadata, which has the other field's width.
    fn bits(self, family: Option<Family>) -> Option<u32> {
        match self {
            Self::EthSrc | Self::EthDst | Self::ArpSha | Self::ArpTha => Some(48),
            Self::IpSrc | Self::IpDst if family == Some(Family::V6) => Some(128),
            Self::IpSrc | Self::IpDst | Self::ArpSpa | Self::ArpTpa => Some(32),
            Self::L4Src | Self::L4Dst => Some(16),
            Self::Metadata => None,
        }
    }
}

impl Owner {
    fn has(self, family: Family) -> bool {
        match self {
            Self::All => true,
            Self::Ip => family.is_ip(),
            Self::Arp => family == Family::Arp,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn validate(from: &str, to: &str, family: Option<Family>) -> Result<(), String> {
        let copy: CopyField = serde_json::from_value(json!({"from": from, "to": to})).unwrap();
        copy.validate(family).map_err(|invalid| invalid.to_string())
    }

    #[test]
    fn both_fields_are_of_one_size_and_of_one_packet() {
        for (from, to, family) in [
            ("eth_src", "eth_dst", None),
            ("arp_sha", "eth_dst", Some(Family::Arp)),
            ("arp_spa", "arp_tpa", None),
            ("ip_src", "ip_dst", Some(Family::V6)),
            ("l4_src", "l4_dst", Some(Family::V4)),
            ("ip_src", "metadata", Some(Family::V4)),
            ("metadata", "eth_src", Some(Family::Other)),
        ] {
            assert_eq!(validate(from, to, family), Ok(()), "{from} {to}");
        }
        for (from, to, family, expected) in [
            ("eth_src", "eth_src", None, "/to: a field is copied into another"),
            ("eth_src", "l4_dst", None, "/to: it has 16 bits, and the other field 48"),
            ("ip_src", "arp_spa", None, "/to: no packet has both fields"),
            ("arp_spa", "arp_tpa", Some(Family::V4), "/from: the packets that the rule matches"),
            ("eth_src", "arp_tha", Some(Family::V4), "/to: the packets that the rule matches"),
            ("ip_src", "metadata", Some(Family::V6), "/to: 128 bits do not fit metadata"),
            ("metadata", "ip_src", Some(Family::V6), "/to: 128 bits do not fit metadata"),
        ] {
            let refused = validate(from, to, family).unwrap_err();
            assert!(refused.starts_with(expected), "{from} {to}: {refused}");
        }
    }
}
