//! Ports, and the checksums of what IP carries.

use super::{
    bytes::{array, change_checksum, word, write},
    extension,
};
use crate::packet::{Fragment, Headers, crc32c, ethertype, protocol};

/// Which address of the IP header a transport checksum covers, by its pseudo header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Covers {
    Source,
    Destination,
}

/// Where the checksum of SCTP is.
const SCTP_CHECKSUM: usize = 8;

pub(super) fn set_port(frame: &mut [u8], headers: &Headers, place: usize, port: u16) -> Option<()> {
    let start = usize::from(headers.l4?);
    let old = word(frame, start + place)?.to_be_bytes();
    let new = port.to_be_bytes();
    match headers.protocol {
        protocol::TCP | protocol::UDP => change(frame, headers, start, &old, &new)?,
        protocol::SCTP => change_crc(frame, headers, place, old, new)?,
        _ => return None,
    }
    write(frame, start + place, &new)
}

/// Brings the checksum of what IP carries up to date, before an address is written.
pub(super) fn address_changes(
    frame: &mut [u8],
    headers: &Headers,
    covers: Covers,
    old: &[u8],
    new: &[u8],
) -> Option<()> {
    match headers.protocol {
        // Neither covers addresses: ICMP of IPv4 has no pseudo header, SCTP's is a CRC of itself.
        protocol::ICMP | protocol::SCTP => return Some(()),
        protocol::TCP | protocol::UDP | protocol::ICMPV6 if headers.l4.is_some() => {}
        protocol::UDP_LITE | protocol::DCCP if headers.fragment != Fragment::Later => {}
        _ => return Some(()),
    }
    let Some(between) = extension::walk(frame, headers) else { return Some(()) };
    if between.source_routed && covers == Covers::Destination {
        return Some(());
    }
    change(frame, headers, between.payload, old, new)
}

/// Brings a checksum of 16 bits up to date, if there is one.
fn change(frame: &mut [u8], headers: &Headers, start: usize, old: &[u8], new: &[u8]) -> Option<()> {
    let Some(at) = checksum(frame, headers, start) else { return Some(()) };
    change_checksum(frame, at, old, new)?;
    // A checksum of zero would say that there is none (RFC 768; RFC 3828, 3.1).
    if is_udp(headers) && word(frame, at)? == 0 {
        write(frame, at, &[0xff, 0xff])?;
    }
    Some(())
}

fn is_udp(headers: &Headers) -> bool {
    matches!(headers.protocol, protocol::UDP | protocol::UDP_LITE)
}

/// Where the checksum of what begins at `start` is; `None` if it is cut, or a UDP sender made none
/// (RFC 768).
fn checksum(frame: &[u8], headers: &Headers, start: usize) -> Option<usize> {
    let at = match headers.protocol {
        protocol::TCP => 16,
        protocol::UDP | protocol::UDP_LITE | protocol::DCCP => 6,
        protocol::ICMPV6 => 2,
        _ => return None,
    };
    let place = start + at;
    let cut = end(frame, headers)? < place + 2;
    let unused = || is_udp(headers) && word(frame, place) == Some(0);
    (!cut && !unused()).then_some(place)
}

/// Brings the checksum of SCTP up to date, which is over all of it; that of a fragment hangs on the
/// others.
fn change_crc(
    frame: &mut [u8],
    headers: &Headers,
    place: usize,
    old: [u8; 2],
    new: [u8; 2],
) -> Option<()> {
    let start = usize::from(headers.l4.filter(|_| headers.fragment == Fragment::Not)?);
    let behind = end(frame, headers)?.checked_sub(start + place + 2)?;
    let at = start + SCTP_CHECKSUM;
    let crc = u32::from_le_bytes(array(frame, at)?) ^ crc32c::difference(old, new, behind);
    write(frame, at, &crc.to_le_bytes())
}

/// Where the IP packet ends, padding left out.
fn end(frame: &[u8], headers: &Headers) -> Option<usize> {
    let start = usize::from(headers.l3?);
    let length = match headers.ethertype {
        ethertype::IPV4 => usize::from(word(frame, start + 2)?),
        _ => usize::from(word(frame, start + 4)?) + 40,
    };
    Some(start + length)
}
