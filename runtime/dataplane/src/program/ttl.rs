use crate::{
    DropReason,
    packet::{Headers, checksum, ethertype},
};

/// Where the TTL is in an IPv4 header, the protocol behind it.
const TTL: usize = 8;
const CHECKSUM: usize = 10;
/// Where the hop limit is in an IPv6 header.
const HOP_LIMIT: usize = 7;

/// Takes one from the TTL of an IPv4 packet or the hop limit of an IPv6 packet.
pub(super) fn decrement(frame: &mut [u8], headers: &Headers) -> Result<(), DropReason> {
    let start = usize::from(headers.l3.ok_or(DropReason::NotApplicable)?);
    let ip = frame.get_mut(start..).ok_or(DropReason::NotApplicable)?;
    match headers.ethertype {
        ethertype::IPV4 => decrement_ipv4(ip),
        ethertype::IPV6 => decrement_at(ip, HOP_LIMIT),
        _ => Err(DropReason::NotApplicable),
    }
}

/// The TTL of an IPv4 packet or the hop limit of an IPv6 packet.
pub(super) fn read(frame: &[u8], headers: &Headers) -> Option<u8> {
    let place = match headers.ethertype {
        ethertype::IPV4 => TTL,
        ethertype::IPV6 => HOP_LIMIT,
        _ => return None,
    };
    frame.get(usize::from(headers.l3?) + place).copied()
}

fn decrement_ipv4(ip: &mut [u8]) -> Result<(), DropReason> {
    let header = ip.first_chunk_mut::<20>().ok_or(DropReason::NotApplicable)?;
    let old = u16::from_be_bytes([header[TTL], header[TTL + 1]]);
    decrement_at(header, TTL)?;
    let new = u16::from_be_bytes([header[TTL], header[TTL + 1]]);
    let sum = u16::from_be_bytes([header[CHECKSUM], header[CHECKSUM + 1]]);
    let sum = checksum::update(sum, old, new).to_be_bytes();
    header[CHECKSUM..CHECKSUM + 2].copy_from_slice(&sum);
    Ok(())
}

pub(super) fn decrement_at(header: &mut [u8], place: usize) -> Result<(), DropReason> {
    let ttl = header.get_mut(place).ok_or(DropReason::NotApplicable)?;
    if *ttl <= 1 {
        return Err(DropReason::TtlExpired);
    }
    *ttl -= 1;
    Ok(())
}
