use core::{
    net::Ipv4Addr,
    ops::{Deref, DerefMut},
};

use crate::checksum;

/// An IPv4 header (RFC 791), without its options.
///
/// What changes a field keeps the header's checksum right, or as wrong as it was.
#[derive(Debug, Clone, Copy)]
pub struct Ipv4<B>(B);

impl<B: Deref<Target = [u8; 20]>> Ipv4<B> {
    pub(crate) fn new(bytes: B) -> Self {
        Self(bytes)
    }

    /// The bytes of the header, with its options.
    #[inline]
    pub fn header_length(&self) -> usize {
        usize::from(self.0[0] & 0x0f) * 4
    }

    /// The differentiated services code point (RFC 2474).
    #[inline]
    pub fn dscp(&self) -> u8 {
        self.0[1] >> 2
    }

    /// The bytes of the header and what follows it.
    #[inline]
    pub fn total_length(&self) -> u16 {
        self.word(2)
    }

    /// Where the fragment stands in the packet, in bytes.
    #[inline]
    pub fn fragment_offset(&self) -> u16 {
        (self.word(6) & 0x1fff) * 8
    }

    /// How many more hops it may take.
    #[inline]
    pub fn ttl(&self) -> u8 {
        self.0[8]
    }

    /// What follows the header.
    #[inline]
    pub fn protocol(&self) -> u8 {
        self.0[9]
    }

    /// The header's checksum.
    #[inline]
    pub fn checksum(&self) -> u16 {
        self.word(10)
    }

    /// Where it comes from.
    #[inline]
    pub fn source(&self) -> Ipv4Addr {
        let [_, _, _, _, _, _, _, _, _, _, _, _, a, b, c, d, ..] = *self.0;
        Ipv4Addr::new(a, b, c, d)
    }

    /// Where it goes.
    #[inline]
    pub fn destination(&self) -> Ipv4Addr {
        let [.., a, b, c, d] = *self.0;
        Ipv4Addr::new(a, b, c, d)
    }

    #[inline]
    fn word(&self, offset: usize) -> u16 {
        u16::from_be_bytes([self.0[offset], self.0[offset + 1]])
    }
}

impl<B: DerefMut<Target = [u8; 20]>> Ipv4<B> {
    /// Says how many more hops it may take.
    #[inline]
    pub fn set_ttl(&mut self, ttl: u8) {
        let old = self.word(8);
        self.0[8] = ttl;
        self.set_checksum(checksum::update_u16(self.checksum(), old, self.word(8)));
    }

    /// Says where it comes from. A checksum behind this header that covers the address is the
    /// caller's to update, by [`checksum::update_u32`].
    #[inline]
    pub fn set_source(&mut self, address: Ipv4Addr) {
        let sum = checksum::update_u32(self.checksum(), self.source().into(), address.into());
        self.0[12..16].copy_from_slice(&address.octets());
        self.set_checksum(sum);
    }

    /// Says where it goes; see [`set_source`](Self::set_source).
    #[inline]
    pub fn set_destination(&mut self, address: Ipv4Addr) {
        let sum = checksum::update_u32(self.checksum(), self.destination().into(), address.into());
        self.0[16..20].copy_from_slice(&address.octets());
        self.set_checksum(sum);
    }

    #[inline]
    fn set_checksum(&mut self, sum: u16) {
        self.0[10..12].copy_from_slice(&sum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The header of RFC 1624's neighbourhood: 192.168.0.1 to 192.168.0.199, UDP, TTL 64.
    const HEADER: [u8; 20] = [
        0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0x00,
        0x01, 0xc0, 0xa8, 0x00, 0xc7,
    ];

    #[test]
    fn fields_are_read_where_they_lie() {
        let header = Ipv4::new(&HEADER);
        assert_eq!(header.header_length(), 20);
        assert_eq!((header.dscp(), header.total_length(), header.fragment_offset()), (0, 115, 0));
        assert_eq!((header.ttl(), header.protocol(), header.checksum()), (64, 17, 0xb861));
        assert_eq!(header.source(), Ipv4Addr::new(192, 168, 0, 1));
        assert_eq!(header.destination(), Ipv4Addr::new(192, 168, 0, 199));
    }

    #[test]
    fn a_changed_field_keeps_the_checksum_right() {
        for ttl in 0..=255 {
            let mut bytes = HEADER;
            let mut header = Ipv4::new(&mut bytes);
            header.set_ttl(ttl);
            header.set_source(Ipv4Addr::new(10, ttl, 0, 1));
            header.set_destination(Ipv4Addr::new(203, 0, 113, ttl));
            assert_eq!((header.ttl(), header.source().octets()[1]), (ttl, ttl));
            assert_eq!(header.destination().octets(), [203, 0, 113, ttl]);
            assert!(checksum::is_right(&bytes), "TTL {ttl}");
        }
    }
}
