use std::{fmt, str::FromStr};

use super::text::{TextError, split_mask, text_type};

/// An Ethernet address, as in `02:00:00:00:00:01`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress(pub [u8; 6]);

/// The Ethernet addresses that equal `address` where `mask` has ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MacMatch {
    /// The address; zero where the mask is.
    pub address: MacAddress,
    /// The bits that count.
    pub mask: MacAddress,
}

const ALL_ONES: MacAddress = MacAddress([0xff; 6]);

impl FromStr for MacAddress {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        address(text).ok_or_else(|| {
            TextError::new(
                text,
                "an Ethernet address",
                "write six bytes in hexadecimal, such as 02:00:00:00:00:01",
            )
        })
    }
}

fn address(text: &str) -> Option<MacAddress> {
    let mut bytes = [0; 6];
    let mut parts = text.split(':');
    for byte in &mut bytes {
        let part = parts.next().filter(|part| part.len() == 2 && !part.starts_with('+'))?;
        *byte = u8::from_str_radix(part, 16).ok()?;
    }
    parts.next().is_none().then_some(MacAddress(bytes))
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl FromStr for MacMatch {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let (value, mask) = split_mask(text);
        let address: MacAddress = value.parse()?;
        let mask = mask.map_or(Ok(ALL_ONES), MacAddress::from_str)?;
        let inside = Self { address: and(address, mask), mask };
        if inside.address == address {
            return Ok(inside);
        }
        let reason = format!("it has ones outside its mask; write {inside}");
        Err(TextError::new(text, "an Ethernet address with a mask", reason))
    }
}

fn and(MacAddress(mut bytes): MacAddress, MacAddress(mask): MacAddress) -> MacAddress {
    bytes.iter_mut().zip(mask).for_each(|(byte, mask)| *byte &= mask);
    MacAddress(bytes)
}

impl fmt::Display for MacMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.mask == ALL_ONES {
            return self.address.fmt(f);
        }
        write!(f, "{}/{}", self.address, self.mask)
    }
}

text_type!(MacAddress, "An Ethernet address", "02:00:00:00:00:01");
text_type!(
    MacMatch,
    "An Ethernet address, optionally with a mask",
    "01:00:00:00:00:00/01:00:00:00:00:00"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_six_pairs_of_digits() {
        let address: MacAddress = "02:00:5E:00:53:aF".parse().unwrap();
        assert_eq!(address, MacAddress([2, 0, 0x5e, 0, 0x53, 0xaf]));
        assert_eq!(address.to_string(), "02:00:5e:00:53:af");
        for bad in
            ["", "02:00:00:00:00", "02:00:00:00:00:01:02", "2:0:0:0:0:1", "+2:00:00:00:00:01"]
        {
            assert!(bad.parse::<MacAddress>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_full_mask_is_left_out_and_a_partial_one_kept() {
        let text = |text: &str| text.parse::<MacMatch>().map(|mac| mac.to_string());
        let full = "02:00:00:00:00:01/ff:ff:ff:ff:ff:ff";
        assert_eq!(text(full).unwrap(), "02:00:00:00:00:01");
        let group = "01:00:00:00:00:00/01:00:00:00:00:00";
        assert_eq!(text(group).unwrap(), group);
    }

    #[test]
    fn ones_outside_the_mask_are_refused_with_what_was_meant() {
        let error = "03:00:00:00:00:00/01:00:00:00:00:00".parse::<MacMatch>().unwrap_err();
        let meant = "write 01:00:00:00:00:00/01:00:00:00:00:00";
        assert!(error.to_string().ends_with(meant), "{error}");
    }
}
