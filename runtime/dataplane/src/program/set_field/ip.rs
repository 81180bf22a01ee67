//! Fields of IPv4 and IPv6.

use std::net::IpAddr;

use super::{
    bytes::{array, change_checksum, word, write},
    transport::{self, Covers},
};
use crate::packet::{Headers, ethertype};

/// Where an address is in an IPv4 and in an IPv6 header.
#[derive(Debug, Clone, Copy)]
pub(in crate::program) struct Place {
    pub(in crate::program) in_ipv4: usize,
    pub(in crate::program) in_ipv6: usize,
}

pub(in crate::program) const SOURCE: Place = Place { in_ipv4: 12, in_ipv6: 8 };
pub(in crate::program) const DESTINATION: Place = Place { in_ipv4: 16, in_ipv6: 24 };

pub(super) fn set_source(frame: &mut [u8], headers: &Headers, address: IpAddr) -> Option<()> {
    set_address(frame, headers, address, SOURCE, Covers::Source)
}

pub(super) fn set_destination(frame: &mut [u8], headers: &Headers, address: IpAddr) -> Option<()> {
    set_address(frame, headers, address, DESTINATION, Covers::Destination)
}

fn set_address(
    frame: &mut [u8],
    headers: &Headers,
    address: IpAddr,
    place: Place,
    covers: Covers,
) -> Option<()> {
    let start = usize::from(headers.l3?);
    match (headers.ethertype, address) {
        (ethertype::IPV4, IpAddr::V4(address)) => {
            let (place, new) = (start + place.in_ipv4, address.octets());
            let old: [u8; 4] = array(frame, place)?;
            change_checksum(frame, checksum(headers)?, &old, &new)?;
            transport::address_changes(frame, headers, covers, &old, &new)?;
            write(frame, place, &new)
        }
        (ethertype::IPV6, IpAddr::V6(address)) => {
            let (place, new) = (start + place.in_ipv6, address.octets());
            let old: [u8; 16] = array(frame, place)?;
            transport::address_changes(frame, headers, covers, &old, &new)?;
            write(frame, place, &new)
        }
        _ => None,
    }
}

/// Writes some bits of the byte that holds DSCP and ECN: the second of IPv4, and of IPv6 the
/// second and third half bytes.
pub(super) fn set_traffic_class(
    frame: &mut [u8],
    headers: &Headers,
    mask: u8,
    value: u8,
) -> Option<()> {
    let start = usize::from(headers.l3?);
    let first = word(frame, start)?;
    let (old, shift) = match headers.ethertype {
        ethertype::IPV4 => (first, 0),
        ethertype::IPV6 => (first, 4),
        _ => return None,
    };
    let new = (old & !(u16::from(mask) << shift)) | (u16::from(value & mask) << shift);
    change_word(frame, headers, start, new)
}

pub(super) fn set_ttl(frame: &mut [u8], headers: &Headers, ttl: u8) -> Option<()> {
    let start = usize::from(headers.l3?);
    match headers.ethertype {
        ethertype::IPV4 => {
            let old = word(frame, start + 8)?;
            change_word(frame, headers, start + 8, u16::from(ttl) << 8 | (old & 0xff))
        }
        ethertype::IPV6 => write(frame, start + 7, &[ttl]),
        _ => None,
    }
}

/// Writes the flow label of IPv6 (RFC 6437), which no checksum covers.
pub(super) fn set_label(frame: &mut [u8], headers: &Headers, label: u32) -> Option<()> {
    const LABEL: u32 = 0x000f_ffff;
    let start = usize::from(headers.l3.filter(|_| headers.ethertype == ethertype::IPV6)?);
    let old = u32::from_be_bytes(array(frame, start)?);
    write(frame, start, &((old & !LABEL) | (label & LABEL)).to_be_bytes())
}

/// Writes a word of an IP header.
fn change_word(frame: &mut [u8], headers: &Headers, place: usize, new: u16) -> Option<()> {
    if headers.ethertype == ethertype::IPV4 {
        let old = word(frame, place)?.to_be_bytes();
        change_checksum(frame, checksum(headers)?, &old, &new.to_be_bytes())?;
    }
    write(frame, place, &new.to_be_bytes())
}

/// Where the checksum of an IPv4 header is.
fn checksum(headers: &Headers) -> Option<usize> {
    headers.l3.map(|start| usize::from(start) + 10)
}
