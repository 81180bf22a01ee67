use weft_abi::{Descriptor, NO_OFFSET, traits};

use super::IN_PORT;
use crate::header::{ethertype, protocol};

/// Describes a frame as Weft's parser would: Ethernet, up to two VLAN tags, ARP, IPv4 with options,
/// IPv6 with extension headers, fragments, and the transport header.
///
/// A header that is cut or contradicts itself is not there, and neither is anything behind it. The
/// window is the frame's first bytes, at address 0.
///
/// # Panics
///
/// Panics if the frame is longer than a frame can be.
#[must_use]
pub fn describe(frame: &[u8], window: u32) -> Descriptor {
    let packet_length = u32::try_from(frame.len()).expect("a frame is shorter than 4 GiB");
    let mut found = Descriptor {
        data_length: packet_length.min(window),
        packet_length,
        in_port: IN_PORT.0.into(),
        ..Descriptor::default()
    };
    // What is cut stays as the default has it.
    let _ = Frame(frame).parse(&mut found);
    found
}

#[derive(Clone, Copy)]
struct Frame<'a>(&'a [u8]);

impl Frame<'_> {
    fn array<const N: usize>(self, offset: usize) -> Option<[u8; N]> {
        self.0.get(offset..)?.first_chunk().copied()
    }

    fn word(self, offset: usize) -> Option<u16> {
        self.array(offset).map(u16::from_be_bytes)
    }

    fn parse(self, found: &mut Descriptor) -> Option<()> {
        let (mut ethertype, mut l3) = (self.word(12)?, 14);
        for _ in 0..2 {
            if let (0x8100 | 0x88a8 | 0x9100, Some(behind)) = (ethertype, self.word(l3 + 2)) {
                (ethertype, l3) = (behind, l3 + 4);
            }
        }
        // Below 0x0600 it is a length (IEEE 802.3, 3.2.6).
        found.ethertype = if ethertype < 0x0600 { ethertype::NONE } else { ethertype };
        match found.ethertype {
            ethertype::IPV4 => self.parse_ipv4(l3, found),
            ethertype::IPV6 => self.parse_ipv6(l3, found),
            ethertype::ARP => self.parse_arp(l3, found),
            _ => None,
        }
    }

    fn parse_arp(self, l3: usize, found: &mut Descriptor) -> Option<()> {
        let arp: [u8; 28] = self.array(l3)?;
        if arp[..6] == [0, 1, 8, 0, 6, 4] {
            found.l3 = offset(l3);
        }
        Some(())
    }

    fn parse_ipv4(self, l3: usize, found: &mut Descriptor) -> Option<()> {
        let header: [u8; 20] = self.array(l3)?;
        let length = usize::from(header[0] & 0x0f) * 4;
        let total = usize::from(self.word(l3 + 2)?);
        if header[0] >> 4 != 4 || length < 20 || total < length {
            return None;
        }
        let packet = Frame(self.0.get(..l3 + total)?);
        found.l3 = offset(l3);
        found.protocol = header[9];
        note_fragment(self.word(l3 + 6)? & 0x1fff, header[6] & 0x20 != 0, found);
        packet.parse_transport(l3 + length, found)
    }

    fn parse_ipv6(self, l3: usize, found: &mut Descriptor) -> Option<()> {
        let header: [u8; 40] = self.array(l3)?;
        let payload = usize::from(self.word(l3 + 4)?);
        if header[0] >> 4 != 6 {
            return None;
        }
        let packet = Frame(self.0.get(..l3 + 40 + payload)?);
        found.l3 = offset(l3);
        found.protocol = header[6];
        let l4 = packet.follow_extensions(l3 + 40, found)?;
        packet.parse_transport(l4, found)
    }

    /// Where the transport header is; `None` behind more than the eight extension headers that Weft
    /// follows.
    fn follow_extensions(self, mut at: usize, found: &mut Descriptor) -> Option<usize> {
        for followed in 0..=8 {
            if !matches!(found.protocol, 0 | 43 | 44 | 51 | 60 | 135) {
                return Some(at);
            }
            if followed == 8 {
                return None;
            }
            let length = usize::from(*self.0.get(at + 1)?);
            let length = match found.protocol {
                44 => 8,
                51 if length == 0 => return None,
                51 => length * 4 + 8,
                _ => length * 8 + 8,
            };
            let header = Frame(self.0.get(at..at + length)?);
            if found.protocol == 44 {
                let word = header.word(2)?;
                note_fragment(word >> 3, word & 1 != 0, found);
            }
            found.protocol = *header.0.first()?;
            at += length;
            if found.traits & traits::LATER_FRAGMENT != 0 {
                return None;
            }
        }
        None
    }

    fn parse_transport(self, l4: usize, found: &mut Descriptor) -> Option<()> {
        let header = Frame(self.0.get(l4..)?);
        let is_whole = found.traits & traits::FRAGMENT == 0;
        let is_there = match found.protocol {
            protocol::TCP => header.has_tcp()?,
            protocol::UDP => header.has_udp(is_whole)?,
            protocol::SCTP => header.0.len() >= 12,
            protocol::ICMP | protocol::ICMPV6 => header.0.len() >= 8,
            _ => false,
        };
        if is_there && found.traits & traits::LATER_FRAGMENT == 0 {
            found.l4 = offset(l4);
        }
        Some(())
    }

    fn has_tcp(self) -> Option<bool> {
        let length = usize::from(self.0.get(12)? >> 4) * 4;
        Some(length >= 20 && self.0.len() >= length)
    }

    fn has_udp(self, is_whole: bool) -> Option<bool> {
        let length = usize::from(self.word(4)?);
        Some(self.0.len() >= 8 && length >= 8 && (!is_whole || self.0.len() >= length))
    }
}

fn note_fragment(place: u16, more: bool, found: &mut Descriptor) {
    found.traits |= match (place, more) {
        (0, false) => 0,
        (0, true) => traits::FRAGMENT,
        _ => traits::FRAGMENT | traits::LATER_FRAGMENT,
    };
}

fn offset(offset: usize) -> u16 {
    u16::try_from(offset).unwrap_or(NO_OFFSET)
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use etherparse::PacketBuilder;

    use super::*;

    const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];

    fn where_is(frame: &[u8]) -> (u16, u16, u16, u8, u8) {
        let found = describe(frame, 128);
        (found.ethertype, found.l3, found.l4, found.protocol, found.traits)
    }

    fn udp_behind_two_tags() -> Vec<u8> {
        let builder = PacketBuilder::ethernet2(MAC, MAC)
            .double_vlan(etherparse::VlanId::try_new(10).unwrap(), etherparse::VlanId::ZERO)
            .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
            .udp(1000, 53);
        let mut frame = Vec::new();
        builder.write(&mut frame, &[7; 4]).unwrap();
        frame
    }

    #[test]
    fn headers_are_found_behind_tags_and_not_beyond_the_cut() {
        let frame = udp_behind_two_tags();
        let whole = (ethertype::IPV4, 22, 42, protocol::UDP, 0);
        assert_eq!(where_is(&frame), whole);
        for length in 0..frame.len() {
            let (_, l3, l4, protocol, _) = where_is(&frame[..length]);
            assert_eq!((l3, l4, protocol), (NO_OFFSET, NO_OFFSET, 0), "cut to {length}");
        }
    }

    #[test]
    fn a_later_fragment_has_no_transport_header() {
        let mut frame = udp_behind_two_tags();
        frame[22 + 6] = 0x20;
        assert_eq!(where_is(&frame), (ethertype::IPV4, 22, 42, 17, traits::FRAGMENT));
        frame[22 + 7] = 1;
        let later = traits::FRAGMENT | traits::LATER_FRAGMENT;
        assert_eq!(where_is(&frame), (ethertype::IPV4, 22, NO_OFFSET, 17, later));
    }

    #[test]
    fn a_transport_header_is_found_behind_extension_headers() {
        let mut frame = Vec::from([0; 14 + 40 + 8 + 8 + 20]);
        frame[12..14].copy_from_slice(&ethertype::IPV6.to_be_bytes());
        frame[14] = 0x60;
        frame[19] = 36;
        frame[14 + 6] = 0; // hop-by-hop options,
        frame[54] = 44; // a fragment header,
        frame[62] = 6; // TCP,
        frame[82] = 0x50; // 20 bytes of it.
        assert_eq!(where_is(&frame), (ethertype::IPV6, 14, 70, protocol::TCP, 0));
        frame[65] = 8;
        let later = traits::FRAGMENT | traits::LATER_FRAGMENT;
        assert_eq!(where_is(&frame), (ethertype::IPV6, 14, NO_OFFSET, protocol::TCP, later));
    }
}
