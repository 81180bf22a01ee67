//! IPv6 with extension headers (RFC 8200).

use super::{Parsed, array, offset, transport, u16_at};
use crate::{flow::layers, packet::Fragment};

/// The bytes of the fixed header.
const FIXED: usize = 40;
/// The most extension headers that are followed; behind more there is no transport header.
const MOST_EXTENSIONS: usize = 8;

mod next_header {
    pub(super) const HOP_BY_HOP: u8 = 0;
    pub(super) const ROUTING: u8 = 43;
    pub(super) const FRAGMENT: u8 = 44;
    pub(super) const AUTHENTICATION: u8 = 51;
    pub(super) const DESTINATION: u8 = 60;
    pub(super) const MOBILITY: u8 = 135;
}

#[inline]
pub(super) fn read(frame: &[u8], start: usize, parsed: &mut Parsed) -> Option<()> {
    let ip: [u8; FIXED] = array(frame, start)?;
    if ip[0] >> 4 != 6 {
        return None;
    }
    let payload = usize::from(u16::from_be_bytes([ip[4], ip[5]]));
    let packet = frame.get(..start + FIXED + payload)?;

    let key = &mut parsed.key;
    key.traffic_class = ip[0] << 4 | ip[1] >> 4;
    key.ttl = ip[7];
    key.ipv6_label = u32::from_be_bytes([0, ip[1] & 0x0f, ip[2], ip[3]]);
    key.ipv6_src.copy_from_slice(&ip[8..24]);
    key.ipv6_dst.copy_from_slice(&ip[24..40]);
    key.layers |= layers::NETWORK | layers::IP;
    parsed.headers.l3 = offset(start);

    let end = follow(packet, ip[6], start + FIXED, parsed);
    transport::read(packet, end?, parsed)
}

/// Follows the extension headers to the transport header, and notes the last protocol that was
/// named. `None` if they are cut, or too many.
#[inline]
fn follow(packet: &[u8], first: u8, start: usize, parsed: &mut Parsed) -> Option<usize> {
    let (mut protocol, mut place) = (first, start);
    for followed in 0..=MOST_EXTENSIONS {
        parsed.key.protocol = protocol;
        parsed.headers.protocol = protocol;
        let length = match protocol {
            next_header::HOP_BY_HOP
            | next_header::ROUTING
            | next_header::DESTINATION
            | next_header::MOBILITY => (usize::from(*packet.get(place + 1)?) + 1) * 8,
            next_header::AUTHENTICATION => authentication(*packet.get(place + 1)?)?,
            next_header::FRAGMENT => 8,
            _ => return Some(place),
        };
        if followed == MOST_EXTENSIONS {
            return None;
        }
        let extension = packet.get(place..place + length)?;
        if protocol == next_header::FRAGMENT {
            transport::mark(fragment(extension)?, parsed);
        }
        protocol = extension[0];
        place += length;
        if parsed.headers.fragment == Fragment::Later {
            // What follows is data of whatever header the first fragment has next.
            parsed.key.protocol = protocol;
            parsed.headers.protocol = protocol;
            return Some(place);
        }
    }
    None
}

/// The length of an authentication header, which has at least three words (RFC 4302, 2).
fn authentication(words: u8) -> Option<usize> {
    (words > 0).then_some((usize::from(words) + 2) * 4)
}

/// Reads a fragment header; an atomic fragment is a whole packet (RFC 6946).
fn fragment(header: &[u8]) -> Option<Fragment> {
    let field = u16_at(header, 2)?;
    Some(match (field >> 3, field & 1) {
        (0, 0) => Fragment::Not,
        (0, _) => Fragment::First,
        _ => Fragment::Later,
    })
}
