use core::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer};

use super::written;

/// Ports from a first to a last, written `80` or `1024-65535`.
///
/// Invariant: the first is not above the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortRange {
    first: u16,
    last: u16,
}

impl PortRange {
    /// Every port.
    pub const ALL: Self = Self { first: 0, last: u16::MAX };

    /// Whether the port is one of them.
    #[inline]
    #[must_use]
    pub fn contains(self, port: u16) -> bool {
        self.first <= port && port <= self.last
    }
}

/// Why a text is no range of ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParsePortRangeError {
    /// An end is not a number up to 65535.
    Number,
    /// The first is above the last.
    Backwards,
}

impl fmt::Display for ParsePortRangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Number => "is not made of numbers from 0 to 65535",
            Self::Backwards => "begins above its end",
        })
    }
}

impl core::error::Error for ParsePortRangeError {}

impl FromStr for PortRange {
    type Err = ParsePortRangeError;

    fn from_str(text: &str) -> Result<Self, ParsePortRangeError> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let port = |text: &str| text.parse().map_err(|_| ParsePortRangeError::Number);
        let (first, last) = (port(first)?, port(last)?);
        if first <= last { Ok(Self { first, last }) } else { Err(ParsePortRangeError::Backwards) }
    }
}

impl<'de> Deserialize<'de> for PortRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        written::deserialize(deserializer, "a port such as 80, or a range such as \"1024-65535\"")
    }
}
