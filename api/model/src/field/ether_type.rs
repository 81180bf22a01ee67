use std::{fmt, str::FromStr};

use super::text::{TextError, number, text_type};

/// What is in an Ethernet frame, behind its VLAN tags: `ipv4`, `ipv6`, `arp`, `mpls`,
/// `mpls_multicast` or a number such as `0x88cc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EtherType(u16);

impl EtherType {
    /// IPv4.
    pub const IPV4: Self = Self(0x0800);
    /// ARP.
    pub const ARP: Self = Self(0x0806);
    /// IPv6.
    pub const IPV6: Self = Self(0x86dd);
    /// MPLS (RFC 5332: downstream-assigned labels).
    pub const MPLS: Self = Self(0x8847);
    /// MPLS (RFC 5332: upstream-assigned labels).
    pub const MPLS_MULTICAST: Self = Self(0x8848);

    const NAMES: [(Self, &'static str); 5] = [
        (Self::IPV4, "ipv4"),
        (Self::IPV6, "ipv6"),
        (Self::ARP, "arp"),
        (Self::MPLS, "mpls"),
        (Self::MPLS_MULTICAST, "mpls_multicast"),
    ];
    /// Below it the field is a length (IEEE 802.3, 3.2.6).
    const SMALLEST: u16 = 0x0600;
    const TAGS: [u16; 2] = [0x8100, 0x88a8];

    /// The number on the wire.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }

    /// Whether a stack of MPLS labels follows.
    #[must_use]
    pub fn is_mpls(self) -> bool {
        [Self::MPLS, Self::MPLS_MULTICAST].contains(&self)
    }
}

impl FromStr for EtherType {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        if let Some((named, _)) = Self::NAMES.iter().find(|(_, name)| *name == text) {
            return Ok(*named);
        }
        let error = |reason| TextError::new(text, "an EtherType", reason);
        match number(text).and_then(|number| u16::try_from(number).ok()) {
            Some(tag) if Self::TAGS.contains(&tag) => {
                Err(error("it stands for a VLAN tag; match the tag by vlan_vid"))
            }
            Some(value) if value >= Self::SMALLEST => Ok(Self(value)),
            _ => Err(error("write ipv4, ipv6, arp, mpls or a number from 0x0600 to 0xffff")),
        }
    }
}

impl fmt::Display for EtherType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Self::NAMES.iter().find(|(named, _)| named == self) {
            Some((_, name)) => f.write_str(name),
            None => write!(f, "{:#06x}", self.0),
        }
    }
}

text_type!(EtherType, "ipv4, ipv6, arp, mpls or a number from 0x0600 to 0xffff", "ipv4");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_number_is_shown_by_its_name() {
        for (written, shown) in [
            ("ipv4", "ipv4"),
            ("0x86DD", "ipv6"),
            ("2054", "arp"),
            ("0x8847", "mpls"),
            ("0x88cc", "0x88cc"),
        ] {
            assert_eq!(written.parse::<EtherType>().unwrap().to_string(), shown);
        }
    }

    #[test]
    fn lengths_and_tags_are_refused() {
        for bad in ["0x05ff", "0x10000", "IPv4", "", "0x8100", "0x88a8"] {
            assert!(bad.parse::<EtherType>().is_err(), "{bad:?}");
        }
        let tag = "0x8100".parse::<EtherType>().unwrap_err().to_string();
        assert!(tag.ends_with("match the tag by vlan_vid"), "{tag}");
    }
}
