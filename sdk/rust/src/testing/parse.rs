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
        let mut l3 = 14;
        found.ethertype = self.word(12)?;
        for _ in 0..2 {
            if matches!(found.ethertype, 0x8100 | 0x88a8) {
                found.ethertype = self.word(l3 + 2)?;
                l3 += 4;
            }
        }
        match found.ethertype {
            ethertype::IPV4 => self.parse_ipv4(l3, found),
            ethertype::IPV6 => self.parse_ipv6(l3, found),
            ethertype::ARP => self.array::<28>(l3).map(|_| found.l3 = offset(l3)),
            _ => None,
        }
    }

    fn parse_ipv4(self, l3: usize, found: &mut Descriptor) -> Option<()> {
        let header: [u8; 20] = self.array(l3)?;
        let length = usize::from(header[0] & 0x0f) * 4;
        let total = usize::from(self.word(l3 + 2)?);
        if header[0] >> 4 != 4 || length < 20 || total < length || self.0.len() < l3 + total {
            return None;
        }
        found.l3 = offset(l3);
        found.protocol = header[9];
        note_fragment(self.word(l3 + 6)? & 0x1fff, header[6] & 0x20 != 0, found);
        Frame(&self.0[..l3 + total]).parse_transport(l3 + length, found)
    }

    fn parse_ipv6(self, l3: usize, found: &mut Descriptor) -> Option<()> {
        let header: [u8; 40] = self.array(l3)?;
        let end = l3 + 40 + usize::from(self.word(l3 + 4)?);
        if header[0] >> 4 != 6 || self.0.len() < end {
            return None;
        }
        found.l3 = offset(l3);
        found.protocol = header[6];
        Frame(&self.0[..end]).parse_extensions(l3 + 40, found)
    }

    fn parse_extensions(self, mut at: usize, found: &mut Descriptor) -> Option<()> {
        loop {
            let [next, length, a, b] = match found.protocol {
                0 | 43 | 44 | 51 | 60 => self.array(at)?,
                _ => return self.parse_transport(at, found),
            };
            at += match found.protocol {
                44 => {
                    let word = u16::from_be_bytes([a, b]);
                    note_fragment(word >> 3, word & 1 != 0, found);
                    8
                }
                51 => usize::from(length) * 4 + 8,
                _ => usize::from(length) * 8 + 8,
            };
            found.protocol = next;
            if found.traits & traits::LATER_FRAGMENT != 0 {
                return None;
            }
        }
    }

    fn parse_transport(self, l4: usize, found: &mut Descriptor) -> Option<()> {
        let length = match found.protocol {
            protocol::TCP => 20,
            protocol::SCTP => 12,
            protocol::UDP | protocol::ICMP | protocol::ICMPV6 => 8,
            _ => return None,
        };
        if found.traits & traits::LATER_FRAGMENT == 0 && self.0.len() >= l4 + length {
            found.l4 = offset(l4);
        }
        Some(())
    }
}

fn note_fragment(place: u16, more: bool, found: &mut Descriptor) {
    if place != 0 {
        found.traits |= traits::FRAGMENT | traits::LATER_FRAGMENT;
    } else if more {
        found.traits |= traits::FRAGMENT;
    }
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
        frame[62] = 6; // TCP.
        assert_eq!(where_is(&frame), (ethertype::IPV6, 14, 70, protocol::TCP, 0));
        frame[65] = 8;
        let later = traits::FRAGMENT | traits::LATER_FRAGMENT;
        assert_eq!(where_is(&frame), (ethertype::IPV6, 14, NO_OFFSET, protocol::TCP, later));
    }
}
