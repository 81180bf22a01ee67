use std::{fmt, str::FromStr};

use super::text::{TextError, number, text_or_number_type};

/// What an IP packet carries, behind IPv6's extension headers: `tcp`, `udp`, `icmp`, `icmpv6`,
/// `sctp` or a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IpProtocol(pub u8);

impl IpProtocol {
    /// ICMP of IPv4.
    pub const ICMP: Self = Self(1);
    /// TCP.
    pub const TCP: Self = Self(6);
    /// UDP.
    pub const UDP: Self = Self(17);
    /// ICMP of IPv6.
    pub const ICMPV6: Self = Self(58);
    /// SCTP.
    pub const SCTP: Self = Self(132);

    const NAMES: [(Self, &'static str); 5] = [
        (Self::TCP, "tcp"),
        (Self::UDP, "udp"),
        (Self::ICMP, "icmp"),
        (Self::ICMPV6, "icmpv6"),
        (Self::SCTP, "sctp"),
    ];

    fn name(self) -> Option<&'static str> {
        Self::NAMES.iter().find(|(named, _)| *named == self).map(|(_, name)| *name)
    }

    fn number(self) -> Option<u16> {
        self.name().is_none().then_some(u16::from(self.0))
    }

    /// Whether its header begins with a source and a destination port.
    #[must_use]
    pub fn has_ports(self) -> bool {
        [Self::TCP, Self::UDP, Self::SCTP].contains(&self)
    }
}

impl FromStr for IpProtocol {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        if let Some((named, _)) = Self::NAMES.iter().find(|(_, name)| *name == text) {
            return Ok(*named);
        }
        let value = number(text).and_then(|number| u8::try_from(number).ok());
        let reason = "write tcp, udp, icmp, icmpv6, sctp or a number from 0 to 255";
        value.map(Self).ok_or_else(|| TextError::new(text, "an IP protocol", reason))
    }
}

impl fmt::Display for IpProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => self.0.fmt(f),
        }
    }
}

text_or_number_type!(
    IpProtocol,
    "tcp, udp, icmp, icmpv6, sctp or a number from 0 to 255",
    [serde_json::json!("tcp"), serde_json::json!(47)]
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_protocol_is_a_name_and_another_a_number() {
        for (written, shown) in
            [("\"tcp\"", "\"tcp\""), ("6", "\"tcp\""), ("47", "47"), ("\"47\"", "47")]
        {
            let protocol: IpProtocol = serde_json::from_str(written).unwrap();
            assert_eq!(serde_json::to_string(&protocol).unwrap(), shown, "{written}");
        }
        for bad in ["256", "\"TCP\"", "\"gre\"", "-1"] {
            assert!(serde_json::from_str::<IpProtocol>(bad).is_err(), "{bad}");
        }
    }
}
