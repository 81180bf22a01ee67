use core::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer};
use weft_sdk::header::protocol::{ICMP, ICMPV6, SCTP, TCP, UDP};

use super::written;

/// An IP protocol, by its name or number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protocol(pub u8);

const NAMES: [(&str, u8); 5] =
    [("tcp", TCP), ("udp", UDP), ("icmp", ICMP), ("icmpv6", ICMPV6), ("sctp", SCTP)];

/// A text is no protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseProtocolError;

impl fmt::Display for ParseProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("is no protocol that this firewall knows")
    }
}

impl core::error::Error for ParseProtocolError {}

impl FromStr for Protocol {
    type Err = ParseProtocolError;

    fn from_str(text: &str) -> Result<Self, ParseProtocolError> {
        let named = NAMES.into_iter().find(|(name, _)| *name == text).map(|(_, number)| number);
        named.or_else(|| text.parse().ok()).map(Self).ok_or(ParseProtocolError)
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.into_iter().find(|(_, number)| *number == self.0) {
            Some((name, _)) => f.write_str(name),
            None => write!(f, "protocol {}", self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Protocol {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        written::deserialize(deserializer, "tcp, udp, icmp, icmpv6, sctp or a number from 0 to 255")
    }
}
