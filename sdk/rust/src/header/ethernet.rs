use core::{
    fmt,
    ops::{Deref, DerefMut},
    str::FromStr,
};

use serde::{Deserialize, Deserializer, de};

/// An Ethernet header, without VLAN tags.
#[derive(Debug, Clone, Copy)]
pub struct Ethernet<B>(B);

impl<B: Deref<Target = [u8; 14]>> Ethernet<B> {
    pub(crate) fn new(bytes: B) -> Self {
        Self(bytes)
    }

    /// Where it goes.
    #[inline]
    pub fn destination(&self) -> Mac {
        let [a, b, c, d, e, f, ..] = *self.0;
        Mac([a, b, c, d, e, f])
    }

    /// Where it comes from.
    #[inline]
    pub fn source(&self) -> Mac {
        let [_, _, _, _, _, _, a, b, c, d, e, f, ..] = *self.0;
        Mac([a, b, c, d, e, f])
    }
}

impl<B: DerefMut<Target = [u8; 14]>> Ethernet<B> {
    /// Says where it goes.
    #[inline]
    pub fn set_destination(&mut self, Mac(address): Mac) {
        self.0[..6].copy_from_slice(&address);
    }

    /// Says where it comes from.
    #[inline]
    pub fn set_source(&mut self, Mac(address): Mac) {
        self.0[6..12].copy_from_slice(&address);
    }
}

/// A MAC address, written `02:00:00:00:00:01`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// Whether it is the address of a group: multicast or broadcast.
    #[must_use]
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// A text is not a MAC address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseMacError;

impl fmt::Display for ParseMacError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a MAC address is six pairs of hexadecimal digits, such as 02:00:00:00:00:01")
    }
}

impl core::error::Error for ParseMacError {}

impl FromStr for Mac {
    type Err = ParseMacError;

    fn from_str(text: &str) -> Result<Self, ParseMacError> {
        let mut address = [0; 6];
        let mut pairs = text.split(':');
        for byte in &mut address {
            let pair = pairs.next().filter(|pair| pair.len() == 2).ok_or(ParseMacError)?;
            let digits = pair.bytes().all(|digit| digit.is_ascii_hexdigit());
            *byte = u8::from_str_radix(pair, 16).ok().filter(|_| digits).ok_or(ParseMacError)?;
        }
        if pairs.next().is_none() { Ok(Self(address)) } else { Err(ParseMacError) }
    }
}

impl<'de> Deserialize<'de> for Mac {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Mac;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a MAC address")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Mac, E> {
                text.parse().map_err(|error| E::custom(format_args!("`{text}`: {error}")))
            }
        }
        deserializer.deserialize_str(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn a_mac_address_is_read_as_it_is_written() {
        let mac = Mac([2, 0, 0xab, 0xcd, 0, 0xff]);
        assert_eq!(mac.to_string(), "02:00:ab:cd:00:ff");
        assert_eq!("02:00:AB:cd:00:ff".parse(), Ok(mac));
    }

    #[test]
    fn what_is_no_mac_address_is_refused() {
        for text in
            ["", "02:00:ab:cd:00", "02:00:ab:cd:00:ff:00", "2:0:ab:cd:0:ff", "+2:00:ab:cd:00:ff"]
        {
            assert_eq!(text.parse::<Mac>(), Err(ParseMacError), "{text}");
        }
    }

    #[test]
    fn addresses_are_set_where_they_are_read() {
        let mut bytes = [0; 14];
        let mut header = Ethernet::new(&mut bytes);
        header.set_destination(Mac([1; 6]));
        header.set_source(Mac([2; 6]));
        assert_eq!((header.destination(), header.source()), (Mac([1; 6]), Mac([2; 6])));
        assert_eq!(bytes, [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0, 0]);
    }
}
