//! IPv4 with options and fragments (RFC 791).

use super::{Parsed, array, offset, transport};
use crate::{flow::layers, packet::Fragment};

/// The bytes of a header without options.
const SHORTEST: usize = 20;
const MORE_FRAGMENTS: u16 = 0x2000;
const FRAGMENT_OFFSET: u16 = 0x1fff;

#[inline]
pub(super) fn read(frame: &[u8], start: usize, parsed: &mut Parsed) -> Option<()> {
    let ip: [u8; SHORTEST] = array(frame, start)?;
    let length = usize::from(ip[0] & 0x0f) * 4;
    let total = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
    if ip[0] >> 4 != 4 || length < SHORTEST || total < length {
        return None;
    }
    // What follows the packet is padding. A frame that is shorter than its packet is cut.
    let packet = frame.get(..start + total)?;

    let key = &mut parsed.key;
    key.traffic_class = ip[1];
    key.ttl = ip[8];
    key.protocol = ip[9];
    key.ipv4_src.copy_from_slice(&ip[12..16]);
    key.ipv4_dst.copy_from_slice(&ip[16..20]);
    key.layers |= layers::NETWORK | layers::IP;
    parsed.headers.l3 = offset(start);
    parsed.headers.protocol = ip[9];

    let fragment = u16::from_be_bytes([ip[6], ip[7]]);
    let fragment = match (fragment & FRAGMENT_OFFSET, fragment & MORE_FRAGMENTS) {
        (0, 0) => Fragment::Not,
        (0, _) => Fragment::First,
        _ => Fragment::Later,
    };
    transport::mark(fragment, parsed);
    transport::read(packet, start + length, parsed)
}
