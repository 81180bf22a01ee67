//! Fields copied into fields of the same size.

use super::{
    Field, SetField,
    set_field::{self, arp, ip},
};
use crate::{
    DropReason,
    packet::{Headers, ethertype, protocol},
};

/// What a field holds.
#[derive(Debug, Clone, Copy)]
enum Value {
    Mac([u8; 6]),
    Ipv4([u8; 4]),
    Ipv6([u8; 16]),
    Port(u16),
    Bits(u64),
}

/// Copies a field of a packet, or what is beside it, into another.
pub(super) fn copy(
    from: Field,
    to: Field,
    frame: &mut [u8],
    headers: &Headers,
    metadata: &mut u64,
) -> Result<(), DropReason> {
    let value = read(from, frame, headers, *metadata).ok_or(DropReason::NotApplicable)?;
    if to == Field::Metadata {
        *metadata = with_low_bits(*metadata, value).ok_or(DropReason::NotApplicable)?;
        return Ok(());
    }
    let field = written(to, value, headers).ok_or(DropReason::NotApplicable)?;
    set_field::set(field, frame, headers)
}

fn read(field: Field, frame: &[u8], headers: &Headers, metadata: u64) -> Option<Value> {
    let mac = |place| array(frame, place).map(Value::Mac);
    let ipv4 = |place| array(frame, place).map(Value::Ipv4);
    let port = |place| array(frame, place).map(|bytes| Value::Port(u16::from_be_bytes(bytes)));
    match field {
        Field::EthDst => mac(0),
        Field::EthSrc => mac(6),
        Field::IpSrc => address(frame, headers, ip::SOURCE),
        Field::IpDst => address(frame, headers, ip::DESTINATION),
        Field::ArpSha => mac(arp::start(headers)? + arp::SENDER_MAC),
        Field::ArpTha => mac(arp::start(headers)? + arp::TARGET_MAC),
        Field::ArpSpa => ipv4(arp::start(headers)? + arp::SENDER_IP),
        Field::ArpTpa => ipv4(arp::start(headers)? + arp::TARGET_IP),
        Field::L4Src => port(ports(headers)?),
        Field::L4Dst => port(ports(headers)? + 2),
        Field::Metadata => Some(Value::Bits(metadata)),
    }
}

fn array<const N: usize>(frame: &[u8], place: usize) -> Option<[u8; N]> {
    frame.get(place..)?.first_chunk().copied()
}

fn address(frame: &[u8], headers: &Headers, place: ip::Place) -> Option<Value> {
    let start = usize::from(headers.l3?);
    match headers.ethertype {
        ethertype::IPV4 => array(frame, start + place.in_ipv4).map(Value::Ipv4),
        ethertype::IPV6 => array(frame, start + place.in_ipv6).map(Value::Ipv6),
        _ => None,
    }
}

/// Where the ports are, if there are any.
fn ports(headers: &Headers) -> Option<usize> {
    let has_ports = matches!(headers.protocol, protocol::TCP | protocol::UDP | protocol::SCTP);
    headers.l4.filter(|_| has_ports).map(usize::from)
}

/// What is to be written so that a field holds a value; `None` if it does not fit.
fn written(to: Field, value: Value, headers: &Headers) -> Option<SetField> {
    Some(match to {
        Field::EthDst => SetField::EthDst(mac(value)?),
        Field::EthSrc => SetField::EthSrc(mac(value)?),
        Field::ArpSha => SetField::ArpSha(mac(value)?),
        Field::ArpTha => SetField::ArpTha(mac(value)?),
        Field::ArpSpa => SetField::ArpSpa(ipv4(value)?),
        Field::ArpTpa => SetField::ArpTpa(ipv4(value)?),
        Field::IpSrc => SetField::IpSrc(ip_address(value, headers)?),
        Field::IpDst => SetField::IpDst(ip_address(value, headers)?),
        Field::L4Src => SetField::L4Src(port(value)?),
        Field::L4Dst => SetField::L4Dst(port(value)?),
        Field::Metadata => return None,
    })
}

fn mac(value: Value) -> Option<[u8; 6]> {
    match value {
        Value::Mac(address) => Some(address),
        Value::Bits(bits) => low_bytes(bits),
        _ => None,
    }
}

fn ipv4(value: Value) -> Option<[u8; 4]> {
    match value {
        Value::Ipv4(address) => Some(address),
        Value::Bits(bits) => low_bytes(bits),
        _ => None,
    }
}

fn ip_address(value: Value, headers: &Headers) -> Option<std::net::IpAddr> {
    match (headers.ethertype, value) {
        (ethertype::IPV6, Value::Ipv6(address)) => Some(address.into()),
        (ethertype::IPV4, value) => ipv4(value).map(Into::into),
        _ => None,
    }
}

fn port(value: Value) -> Option<u16> {
    match value {
        Value::Port(port) => Some(port),
        Value::Bits(bits) => low_bytes(bits).map(u16::from_be_bytes),
        _ => None,
    }
}

fn low_bytes<const N: usize>(bits: u64) -> Option<[u8; N]> {
    bits.to_be_bytes().last_chunk().copied()
}

/// Metadata whose low bits are a value; `None` if the value is too wide.
fn with_low_bits(metadata: u64, value: Value) -> Option<u64> {
    let mut bytes = metadata.to_be_bytes();
    match value {
        Value::Mac(address) => bytes[2..].copy_from_slice(&address),
        Value::Ipv4(address) => bytes[4..].copy_from_slice(&address),
        Value::Port(port) => bytes[6..].copy_from_slice(&port.to_be_bytes()),
        Value::Bits(bits) => return Some(bits),
        Value::Ipv6(_) => return None,
    }
    Some(u64::from_be_bytes(bytes))
}
