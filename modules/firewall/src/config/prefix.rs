use core::{fmt, net::IpAddr, str::FromStr};

use serde::{Deserialize, Deserializer};

use super::written;

/// A block of addresses, written `10.0.0.0/8`, or one address.
///
/// Invariant: the length is at most that of an address, and no bit beyond it is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    address: IpAddr,
    length: u8,
}

impl Prefix {
    /// The first address.
    #[must_use]
    pub fn address(self) -> IpAddr {
        self.address
    }

    /// How many bits of the address count.
    #[must_use]
    pub fn length(self) -> u8 {
        self.length
    }
}

/// Why a text is no prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParsePrefixError {
    /// It does not begin with an address.
    Address,
    /// What follows the slash is not a number up to this.
    Length(u8),
    /// Its address has bits beyond its length.
    HostBits(Prefix),
}

impl fmt::Display for ParsePrefixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address => f.write_str("holds no address"),
            Self::Length(longest) => write!(f, "has a length that is not 0 to {longest}"),
            Self::HostBits(meant) => {
                write!(f, "has bits beyond its length, perhaps {meant} is meant")
            }
        }
    }
}

impl core::error::Error for ParsePrefixError {}

impl FromStr for Prefix {
    type Err = ParsePrefixError;

    fn from_str(text: &str) -> Result<Self, ParsePrefixError> {
        let (address, length) = text.split_once('/').map_or((text, None), |(a, l)| (a, Some(l)));
        let address: IpAddr = address.parse().map_err(|_| ParsePrefixError::Address)?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let length = length
            .map_or(Ok(longest), str::parse)
            .ok()
            .filter(|length| *length <= longest)
            .ok_or(ParsePrefixError::Length(longest))?;
        let first = first_address(address, length);
        let prefix = Self { address: first, length };
        if first == address { Ok(prefix) } else { Err(ParsePrefixError::HostBits(prefix)) }
    }
}

fn first_address(address: IpAddr, length: u8) -> IpAddr {
    let length = u32::from(length);
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(u32::BITS - length).unwrap_or(0);
            IpAddr::V4((address.to_bits() & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(u128::BITS - length).unwrap_or(0);
            IpAddr::V6((address.to_bits() & mask).into())
        }
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

impl<'de> Deserialize<'de> for Prefix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        written::deserialize(
            deserializer,
            "an address or a prefix such as 10.0.0.0/8 or 2001:db8::/32",
        )
    }
}
