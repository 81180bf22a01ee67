//! Header fields written in place, with every checksum that covers them.

use std::{net::IpAddr, ops::Range};

use super::SetField;
use crate::{
    DropReason,
    packet::{Headers, checksum, protocol},
};

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;

/// Writes one field.
pub(super) fn set(field: SetField, frame: &mut [u8], headers: &Headers) -> Result<(), DropReason> {
    let done = match field {
        SetField::EthDst(address) => write(frame, 0, &address),
        SetField::EthSrc(address) => write(frame, 6, &address),
        SetField::VlanVid(vid) => set_tag(frame, headers, 0x0fff, vid),
        SetField::VlanPcp(pcp) => set_tag(frame, headers, 0xe000, u16::from(pcp) << 13),
        SetField::IpSrc(address) => set_address(frame, headers, address, 12, 8),
        SetField::IpDst(address) => set_address(frame, headers, address, 16, 24),
        SetField::Dscp(dscp) => set_traffic_class(frame, headers, 0xfc, dscp << 2),
        SetField::Ecn(ecn) => set_traffic_class(frame, headers, 0x03, ecn),
        SetField::Ttl(ttl) => set_ttl(frame, headers, ttl),
        SetField::L4Src(port) => set_port(frame, headers, 0, port),
        SetField::L4Dst(port) => set_port(frame, headers, 2, port),
    };
    done.ok_or(DropReason::NotApplicable)
}

fn write(frame: &mut [u8], place: usize, value: &[u8]) -> Option<()> {
    frame.get_mut(place..place + value.len())?.copy_from_slice(value);
    Some(())
}

fn word(frame: &[u8], place: usize) -> Option<u16> {
    frame.get(place..)?.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
}

fn set_tag(frame: &mut [u8], headers: &Headers, mask: u16, value: u16) -> Option<()> {
    const TCI: usize = 14;
    let tci = word(frame, TCI).filter(|_| headers.vlan_tags > 0)?;
    write(frame, TCI, &((tci & !mask) | (value & mask)).to_be_bytes())
}

/// Writes an address at its place in an IPv4 or an IPv6 header.
fn set_address(
    frame: &mut [u8],
    headers: &Headers,
    address: IpAddr,
    in_ipv4: usize,
    in_ipv6: usize,
) -> Option<()> {
    let start = usize::from(headers.l3?);
    match (headers.ethertype, address) {
        (IPV4, IpAddr::V4(address)) => {
            change_address(frame, headers, start + in_ipv4, &address.octets())
        }
        (IPV6, IpAddr::V6(address)) => {
            change_address(frame, headers, start + in_ipv6, &address.octets())
        }
        _ => None,
    }
}

fn change_address(frame: &mut [u8], headers: &Headers, place: usize, address: &[u8]) -> Option<()> {
    let mut old = [0; 16];
    let old = &mut old[..address.len()];
    old.copy_from_slice(frame.get(place..place + address.len())?);
    if headers.ethertype == IPV4 {
        change_checksum(frame, ipv4_checksum(headers)?, old, address)?;
    }
    // The transport checksum covers the addresses too, by the pseudo header.
    if let Some(at) = transport_checksum(frame, headers)
        && headers.protocol != protocol::ICMP
    {
        change_transport_checksum(frame, headers, at, old, address)?;
    }
    write(frame, place, address)
}

/// Writes some bits of the byte that holds DSCP and ECN: the second of IPv4, and of IPv6 the
/// second and third half bytes.
fn set_traffic_class(frame: &mut [u8], headers: &Headers, mask: u8, value: u8) -> Option<()> {
    let start = usize::from(headers.l3?);
    let first = word(frame, start)?;
    let (old, shift) = match headers.ethertype {
        IPV4 => (first, 0),
        IPV6 => (first, 4),
        _ => return None,
    };
    let new = (old & !(u16::from(mask) << shift)) | (u16::from(value & mask) << shift);
    change_ip(frame, headers, start, new)
}

fn set_ttl(frame: &mut [u8], headers: &Headers, ttl: u8) -> Option<()> {
    let start = usize::from(headers.l3?);
    match headers.ethertype {
        IPV4 => {
            let old = word(frame, start + 8)?;
            change_ip(frame, headers, start + 8, u16::from(ttl) << 8 | (old & 0xff))
        }
        IPV6 => write(frame, start + 7, &[ttl]),
        _ => None,
    }
}

/// Writes a word of an IP header.
fn change_ip(frame: &mut [u8], headers: &Headers, place: usize, new: u16) -> Option<()> {
    if headers.ethertype == IPV4 {
        let old = word(frame, place)?.to_be_bytes();
        change_checksum(frame, ipv4_checksum(headers)?, &old, &new.to_be_bytes())?;
    }
    write(frame, place, &new.to_be_bytes())
}

fn set_port(frame: &mut [u8], headers: &Headers, place: usize, port: u16) -> Option<()> {
    let start = usize::from(headers.l4?);
    // SCTP's checksum is a CRC over the whole packet, which is not kept up here.
    if !matches!(headers.protocol, protocol::TCP | protocol::UDP) {
        return None;
    }
    let old = word(frame, start + place)?.to_be_bytes();
    if let Some(at) = transport_checksum(frame, headers) {
        change_transport_checksum(frame, headers, at, &old, &port.to_be_bytes())?;
    }
    write(frame, start + place, &port.to_be_bytes())
}

fn ipv4_checksum(headers: &Headers) -> Option<usize> {
    headers.l3.map(|start| usize::from(start) + 10)
}

/// Where the transport checksum is; `None` if there is none, or a UDP sender made none (RFC 768).
fn transport_checksum(frame: &[u8], headers: &Headers) -> Option<usize> {
    let at = match headers.protocol {
        protocol::TCP => 16,
        protocol::UDP => 6,
        protocol::ICMP | protocol::ICMPV6 => 2,
        _ => return None,
    };
    let place = usize::from(headers.l4?) + at;
    let unused = headers.protocol == protocol::UDP && word(frame, place)? == 0;
    (!unused).then_some(place)
}

fn change_transport_checksum(
    frame: &mut [u8],
    headers: &Headers,
    at: usize,
    old: &[u8],
    new: &[u8],
) -> Option<()> {
    change_checksum(frame, at, old, new)?;
    // A UDP checksum of zero would say that there is none (RFC 768).
    if headers.protocol == protocol::UDP && word(frame, at)? == 0 {
        write(frame, at, &[0xff, 0xff])?;
    }
    Some(())
}

fn change_checksum(frame: &mut [u8], at: usize, old: &[u8], new: &[u8]) -> Option<()> {
    let place: Range<usize> = at..at + 2;
    let sum = checksum::update_bytes(word(frame, at)?, old, new);
    frame.get_mut(place)?.copy_from_slice(&sum.to_be_bytes());
    Some(())
}
