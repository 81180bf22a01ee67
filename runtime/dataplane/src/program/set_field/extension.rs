//! What the headers between IP's and the transport header do to a transport checksum.

use super::bytes::array;
use crate::packet::{Headers, ethertype};

/// What stands between the IP header and what it carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Between {
    /// Where what it carries begins.
    pub(super) payload: usize,
    /// Whether the packet is on its way to another destination than its last: a checksum is over
    /// the last (RFC 8200, 8.1).
    pub(super) source_routed: bool,
}

/// Walks over the headers of an IP packet. The parser has found them whole, and few.
pub(super) fn walk(frame: &[u8], headers: &Headers) -> Option<Between> {
    let start = usize::from(headers.l3?);
    match headers.ethertype {
        ethertype::IPV4 => {
            let length = usize::from(frame.get(start)? & 0x0f) * 4;
            Some(Between { payload: start + length, source_routed: false })
        }
        ethertype::IPV6 => walk_ipv6(frame, start),
        _ => None,
    }
}

fn walk_ipv6(frame: &[u8], start: usize) -> Option<Between> {
    const FIXED: usize = 40;
    const NEXT_HEADER: usize = 6;
    let mut next = *frame.get(start + NEXT_HEADER)?;
    let mut found = Between { payload: start + FIXED, source_routed: false };
    loop {
        let length = match next {
            // Hop-by-hop options, routing, destination options, mobility.
            0 | 43 | 60 | 135 => |words: u8| (usize::from(words) + 1) * 8,
            44 => |_| 8,
            51 => |words: u8| (usize::from(words) + 2) * 4,
            _ => return Some(found),
        };
        let [following, words, _kind, segments_left] = array(frame, found.payload)?;
        found.source_routed |= next == 43 && segments_left > 0;
        found.payload += length(words);
        next = following;
    }
}
