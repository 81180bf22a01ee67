use core::{
    net::Ipv6Addr,
    ops::{Deref, DerefMut},
};

/// The fixed header of IPv6 (RFC 8200).
#[derive(Debug, Clone, Copy)]
pub struct Ipv6<B>(B);

impl<B: Deref<Target = [u8; 40]>> Ipv6<B> {
    pub(crate) fn new(bytes: B) -> Self {
        Self(bytes)
    }

    /// The differentiated services code point (RFC 2474).
    #[inline]
    pub fn dscp(&self) -> u8 {
        (self.0[0] << 2 | self.0[1] >> 6) & 0x3f
    }

    /// The bytes of what follows this header.
    #[inline]
    pub fn payload_length(&self) -> u16 {
        u16::from_be_bytes([self.0[4], self.0[5]])
    }

    /// What follows this header: an extension header or a protocol.
    #[inline]
    pub fn next_header(&self) -> u8 {
        self.0[6]
    }

    /// How many more hops it may take.
    #[inline]
    pub fn hop_limit(&self) -> u8 {
        self.0[7]
    }

    /// Where it comes from.
    #[inline]
    pub fn source(&self) -> Ipv6Addr {
        self.address(8)
    }

    /// Where it goes.
    #[inline]
    pub fn destination(&self) -> Ipv6Addr {
        self.address(24)
    }

    #[inline]
    fn address(&self, offset: usize) -> Ipv6Addr {
        core::array::from_fn::<u8, 16, _>(|place| self.0[offset + place]).into()
    }
}

impl<B: DerefMut<Target = [u8; 40]>> Ipv6<B> {
    /// Says how many more hops it may take.
    #[inline]
    pub fn set_hop_limit(&mut self, hop_limit: u8) {
        self.0[7] = hop_limit;
    }

    /// Says where it comes from. A checksum behind this header that covers the address is the
    /// caller's to update, by [`checksum::update_u32`](crate::checksum::update_u32).
    #[inline]
    pub fn set_source(&mut self, address: Ipv6Addr) {
        self.0[8..24].copy_from_slice(&address.octets());
    }

    /// Says where it goes; see [`set_source`](Self::set_source).
    #[inline]
    pub fn set_destination(&mut self, address: Ipv6Addr) {
        self.0[24..40].copy_from_slice(&address.octets());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_from<const N: usize>(first: u8) -> [u8; N] {
        core::array::from_fn(|place| first + u8::try_from(place).unwrap())
    }

    #[test]
    fn fields_are_read_where_they_lie_and_set() {
        let mut bytes: [u8; 40] = bytes_from(0);
        bytes[..2].copy_from_slice(&[0x6b, 0x80]);
        let mut header = Ipv6::new(&mut bytes);
        assert_eq!((header.dscp(), header.payload_length()), (0x2e, 0x0405));
        assert_eq!((header.next_header(), header.hop_limit()), (6, 7));
        assert_eq!(header.source().octets(), bytes_from(8));
        assert_eq!(header.destination().octets(), bytes_from(24));

        let (source, destination) =
            ("2001:db8::1".parse().unwrap(), "2001:db8::2".parse().unwrap());
        header.set_hop_limit(63);
        header.set_source(source);
        header.set_destination(destination);
        assert_eq!(header.hop_limit(), 63);
        assert_eq!((header.source(), header.destination()), (source, destination));
        assert_eq!(bytes[..7], [0x6b, 0x80, 2, 3, 4, 5, 6]);
    }
}
