use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use super::text::{TextError, number, split_mask, text_type};

/// The IP addresses that equal `address` where `mask` has ones: `10.0.0.0/8`, `10.0.0.1`,
/// `0.0.0.1/0.0.0.255`, `2001:db8::/32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IpMatch {
    /// Of IPv4.
    V4 {
        /// The address; zero where the mask is.
        address: Ipv4Addr,
        /// The bits that count.
        mask: Ipv4Addr,
    },
    /// Of IPv6.
    V6 {
        /// The address; zero where the mask is.
        address: Ipv6Addr,
        /// The bits that count.
        mask: Ipv6Addr,
    },
}

/// An IP address, of either version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IpAddress(pub IpAddr);

impl FromStr for IpAddress {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let error = || TextError::new(text, "an IP address", "write it as 10.0.0.1 or 2001:db8::1");
        text.parse().map(Self).map_err(|_| error())
    }
}

impl fmt::Display for IpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

const WHAT: &str = "an IP address or prefix";

impl IpMatch {
    fn with_mask(address: IpAddr, mask: IpAddr) -> Option<Self> {
        match (address, mask) {
            (IpAddr::V4(address), IpAddr::V4(mask)) => Some(Self::V4 { address, mask }),
            (IpAddr::V6(address), IpAddr::V6(mask)) => Some(Self::V6 { address, mask }),
            _ => None,
        }
    }

    fn with_prefix(address: IpAddr, length: u64) -> Option<Self> {
        let length = u32::try_from(length).ok()?;
        match address {
            IpAddr::V4(address) if length <= 32 => {
                let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
                Some(Self::V4 { address, mask: mask.into() })
            }
            IpAddr::V6(address) if length <= 128 => {
                let mask = u128::MAX.checked_shl(128 - length).unwrap_or(0);
                Some(Self::V6 { address, mask: mask.into() })
            }
            _ => None,
        }
    }

    fn inside_mask(self) -> Self {
        match self {
            Self::V4 { address, mask } => Self::V4 { address: address & mask, mask },
            Self::V6 { address, mask } => Self::V6 { address: address & mask, mask },
        }
    }

    /// The mask's length, if its ones are all in front.
    fn prefix(self) -> Option<u32> {
        let (ones, zeros, width) = match self {
            Self::V4 { mask, .. } => {
                (mask.to_bits().leading_ones(), mask.to_bits().count_zeros(), 32)
            }
            Self::V6 { mask, .. } => {
                (mask.to_bits().leading_ones(), mask.to_bits().count_zeros(), 128)
            }
        };
        (ones + zeros == width).then_some(ones)
    }
}

impl FromStr for IpMatch {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let error = |reason: &str| TextError::new(text, WHAT, reason);
        let (value, mask) = split_mask(text);
        let address: IpAddr = value
            .parse()
            .map_err(|_| error("write it as 10.0.0.0/8, 10.0.0.1 or 2001:db8::/32"))?;
        let mask = mask.unwrap_or(if address.is_ipv4() { "32" } else { "128" });
        let parsed = match mask.parse() {
            Ok(mask) => Self::with_mask(address, mask),
            Err(_) => number(mask).and_then(|length| Self::with_prefix(address, length)),
        };
        let parsed = parsed.ok_or_else(|| {
            error("after the slash goes a prefix length (to 32, or 128 for IPv6) or a mask of the same family")
        })?;
        if parsed.inside_mask() != parsed {
            let meant = parsed.inside_mask();
            return Err(error(&format!("it has ones outside its mask; write {meant}")));
        }
        Ok(parsed)
    }
}

impl fmt::Display for IpMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (address, mask): (IpAddr, IpAddr) = match *self {
            Self::V4 { address, mask } => (address.into(), mask.into()),
            Self::V6 { address, mask } => (address.into(), mask.into()),
        };
        match self.prefix() {
            Some(32) if address.is_ipv4() => write!(f, "{address}"),
            Some(128) => write!(f, "{address}"),
            Some(length) => write!(f, "{address}/{length}"),
            None => write!(f, "{address}/{mask}"),
        }
    }
}

text_type!(IpAddress, "An IP address", "10.0.0.1");
text_type!(IpMatch, "An IP address, optionally with a prefix length or a mask", "10.0.0.0/8");

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        text.parse::<IpMatch>().unwrap().to_string()
    }

    #[test]
    fn every_way_to_write_it_has_one_canonical_form() {
        for (written, shown) in [
            ("10.0.0.1", "10.0.0.1"),
            ("10.0.0.1/32", "10.0.0.1"),
            ("10.0.0.0/255.0.0.0", "10.0.0.0/8"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("0.0.0.1/0.0.0.255", "0.0.0.1/0.0.0.255"),
            ("2001:DB8::/32", "2001:db8::/32"),
            ("::1/128", "::1"),
            ("::/0", "::/0"),
            ("::1/::ffff", "::1/::ffff"),
        ] {
            assert_eq!(canonical(written), shown, "{written}");
            assert_eq!(canonical(shown), shown, "{written}");
        }
    }

    #[test]
    fn says_what_it_refuses() {
        let refused = |text: &str| text.parse::<IpMatch>().unwrap_err().to_string();
        assert!(refused("10.0.0.1/24").ends_with("ones outside its mask; write 10.0.0.0/24"));
        for bad in ["", "10.0.0", "10.0.0.0/33", "::/129", "10.0.0.0/::", "10.0.0.0/+8", "1.1.1.1/"]
        {
            assert!(refused(bad).contains("is not an IP address or prefix"), "{bad:?}");
        }
    }
}
