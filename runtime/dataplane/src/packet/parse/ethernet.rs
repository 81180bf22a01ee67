//! Ethernet II and IEEE 802.3 with at most two VLAN tags (IEEE 802.1Q).

use super::{Parsed, arp, array, ipv4, ipv6, mpls};
use crate::flow::{FlowKey, vlan};

/// The bytes of the two addresses.
const ADDRESSES: usize = 12;
/// The bytes of the EtherType, which follows them.
const TYPE: usize = 2;
/// The bytes of a tag.
const TAG: usize = 4;
/// Below this, the EtherType is a length (IEEE 802.3, 3.2.6).
const FIRST_ETHERTYPE: u16 = 0x0600;

#[inline]
pub(super) fn read(frame: &[u8], parsed: &mut Parsed) -> Option<()> {
    let addresses: [u8; ADDRESSES + TYPE] = array(frame, 0)?;
    let [d0, d1, d2, d3, d4, d5, s0, s1, s2, s3, s4, s5, t0, t1] = addresses;
    parsed.key.eth_dst = [d0, d1, d2, d3, d4, d5];
    parsed.key.eth_src = [s0, s1, s2, s3, s4, s5];

    let (ethertype, next) = read_tags(frame, u16::from_be_bytes([t0, t1]), parsed);
    let ethertype = if ethertype < FIRST_ETHERTYPE { FlowKey::NO_ETHERTYPE } else { ethertype };
    parsed.key.ethertype = ethertype;
    parsed.headers.ethertype = ethertype;
    // A network header that is wrong leaves the frame what it is to a switch.
    let _ = match ethertype {
        0x0800 => ipv4::read(frame, next, parsed),
        0x86dd => ipv6::read(frame, next, parsed),
        0x0806 => arp::read(frame, next, parsed),
        0x8847 | 0x8848 => mpls::read(frame, next, parsed),
        _ => None,
    };
    Some(())
}

/// Reads up to two tags; returns the EtherType behind them and where its payload begins. A third
/// tag, or one that is cut, stays the EtherType.
#[inline]
fn read_tags(frame: &[u8], first: u16, parsed: &mut Parsed) -> (u16, usize) {
    let (mut ethertype, mut next) = (first, ADDRESSES + TYPE);
    for tag in &mut parsed.key.vlan {
        if !matches!(ethertype, 0x8100 | 0x88a8 | 0x9100) {
            break;
        }
        let Some([c0, c1, t0, t1]) = array(frame, next) else { break };
        *tag = u16::from_be_bytes([c0, c1]) | vlan::PRESENT;
        ethertype = u16::from_be_bytes([t0, t1]);
        next += TAG;
        parsed.headers.vlan_tags += 1;
    }
    (ethertype, next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PortId, packet::parse};

    fn frame(after_addresses: &[u8]) -> Vec<u8> {
        [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2][..], after_addresses].concat()
    }

    fn read_back(after_addresses: &[u8]) -> (u16, [u16; 2], u8) {
        let parsed = parse(PortId(3), &frame(after_addresses)).unwrap();
        assert_eq!(parsed.headers.ethertype, parsed.key.ethertype);
        (parsed.key.ethertype, parsed.key.vlan, parsed.headers.vlan_tags)
    }

    #[test]
    fn understands_two_tags_and_leaves_the_third() {
        assert_eq!(read_back(&[0x88, 0xcc]), (0x88cc, [0, 0], 0));
        assert_eq!(read_back(&[0x81, 0, 0xa0, 5, 0x88, 0xcc]), (0x88cc, [0xb005, 0], 1));
        let two = [0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 0x88, 0xcc];
        assert_eq!(read_back(&two), (0x88cc, [0x1001, 0x1002], 2));
        let three = [0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 0x81, 0, 0, 3, 8, 0];
        assert_eq!(read_back(&three), (0x8100, [0x1001, 0x1002], 2));
    }

    #[test]
    fn a_cut_tag_is_no_tag() {
        for cut in 0..4 {
            assert_eq!(read_back(&[0x81, 0, 0, 5, 8, 0][..2 + cut]), (0x8100, [0, 0], 0), "{cut}");
        }
    }

    #[test]
    fn a_length_is_no_ethertype() {
        assert_eq!(read_back(&[0, 46, 0x42, 0x42, 3]).0, FlowKey::NO_ETHERTYPE);
    }

    #[test]
    fn refuses_what_is_shorter_than_a_header() {
        for length in 0..14 {
            assert_eq!(parse(PortId(0), &frame(&[8, 0])[..length]), None, "{length}");
        }
    }
}
