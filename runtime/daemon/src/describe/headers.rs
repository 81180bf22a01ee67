//! The headers behind Ethernet's, whose fields share places in a key.

use std::net::IpAddr;

use api_model::{ArpOperation, EtherType, IpMatch, IpProtocol};
use dataplane::flow::{layers, mpls, vlan};

use super::fields::Shown;

pub(super) const IPV6: u16 = EtherType::IPV6.get();
pub(super) const TCP: u8 = IpProtocol::TCP.0;
const ARP: u16 = EtherType::ARP.get();
const DSCP: u64 = 0x3f;
const ECN: u64 = 0x03;
const TCP_FLAGS: u64 = 0x1ff;
const FLOW_LABEL: u64 = 0xf_ffff;

fn decimal(number: u64) -> String {
    number.to_string()
}

fn hexadecimal(number: u64) -> String {
    format!("{number:#06x}")
}

/// An EtherType by its name, if it has one.
pub(super) fn ether_type(number: u64) -> String {
    let known = number.to_string().parse::<EtherType>();
    known.map_or_else(|_| hexadecimal(number), |known| known.to_string())
}

/// Adds the outer VLAN tag or the inner one.
pub(super) fn tag(shown: &mut Shown<'_>, place: usize, [vid, pcp]: [&str; 2]) {
    let (value, mask) = (shown.key.vlan[place], shown.mask.vlan[place]);
    if mask & vlan::PRESENT != 0 && value & vlan::PRESENT == 0 {
        return shown.add(vid, "none");
    }
    if mask & vlan::PRESENT != 0 && mask & vlan::VID == 0 {
        shown.add(vid, "any");
    }
    shown.bits(vid, value, mask, vlan::VID.into(), decimal);
    let priority = |bits: u16| (bits & vlan::PCP) >> vlan::PCP_SHIFT;
    shown.bits(pcp, priority(value), priority(mask), 7, decimal);
}

/// Adds the outermost MPLS label.
pub(super) fn label(shown: &mut Shown<'_>) {
    let (value, mask) = (shown.key.mpls, shown.mask.mpls);
    if mask & mpls::PRESENT != 0 && value & mpls::PRESENT == 0 {
        return shown.add("mpls_label", "none");
    }
    if mask & mpls::PRESENT != 0 && mask & mpls::LABEL == 0 {
        shown.add("mpls_label", "any");
    }
    let part = |bits: u32, part: u32| (bits & part) >> part.trailing_zeros();
    for (field, bits, full) in [
        ("mpls_label", mpls::LABEL, 0xf_ffff),
        ("mpls_tc", mpls::TRAFFIC_CLASS, 7),
        ("mpls_bos", mpls::BOTTOM, 1),
    ] {
        shown.bits(field, part(value, bits), part(mask, bits), full, decimal);
    }
}

/// Adds the fields of IP, or of ARP, which lie in the same places.
pub(super) fn network(shown: &mut Shown<'_>) {
    let (key, mask) = (shown.key, shown.mask);
    presence(shown, "has_network", layers::NETWORK);
    presence(shown, "has_ip", layers::IP);
    if key.ethertype == ARP {
        return arp(shown);
    }
    for (field, both, ipv4, ipv6) in [
        ("ip_src", "ipv6_src", (key.ipv4_src, mask.ipv4_src), (key.ipv6_src, mask.ipv6_src)),
        ("ip_dst", "ipv6_dst", (key.ipv4_dst, mask.ipv4_dst), (key.ipv6_dst, mask.ipv6_dst)),
    ] {
        address(shown, field, ipv4.0.into(), ipv4.1.into());
        let field = if ipv4.1 == [0; 4] { field } else { both };
        address(shown, field, ipv6.0.into(), ipv6.1.into());
    }
    let full = u8::MAX.into();
    shown.bits("ip_proto", key.protocol, mask.protocol, full, protocol);
    shown.bits("ip_dscp", key.traffic_class >> 2, mask.traffic_class >> 2, DSCP, decimal);
    shown.bits("ip_ecn", key.traffic_class, mask.traffic_class, ECN, decimal);
    shown.bits("ip_ttl", key.ttl, mask.ttl, full, decimal);
    fragment(shown);
    shown.bits("ipv6_label", key.ipv6_label, mask.ipv6_label, FLOW_LABEL, decimal);
}

fn arp(shown: &mut Shown<'_>) {
    let (key, mask) = (shown.key, shown.mask);
    let first = |address: [u8; 16]| -> [u8; 6] { std::array::from_fn(|at| address[at]) };
    shown.bits("arp_op", key.protocol, mask.protocol, u8::MAX.into(), |number| {
        let known = u8::try_from(number).ok().and_then(ArpOperation::new);
        known.map_or_else(|| number.to_string(), |known| known.to_string())
    });
    address(shown, "arp_spa", key.ipv4_src.into(), mask.ipv4_src.into());
    address(shown, "arp_tpa", key.ipv4_dst.into(), mask.ipv4_dst.into());
    shown.mac("arp_sha", first(key.ipv6_src), first(mask.ipv6_src));
    shown.mac("arp_tha", first(key.ipv6_dst), first(mask.ipv6_dst));
}

/// Adds the fields of the transport header; ICMP has its type and code where others have ports.
pub(super) fn transport(shown: &mut Shown<'_>) {
    let (key, mask) = (shown.key, shown.mask);
    presence(shown, "has_transport", layers::TRANSPORT);
    let is_icmp = [IpProtocol::ICMP.0, IpProtocol::ICMPV6.0].contains(&key.protocol);
    let names = if is_icmp { ["icmp_type", "icmp_code"] } else { ["l4_src", "l4_dst"] };
    let full = u16::MAX.into();
    shown.bits(names[0], key.l4_src, mask.l4_src, full, decimal);
    shown.bits(names[1], key.l4_dst, mask.l4_dst, full, decimal);
    let flags = |flags| format!("{flags:#04x}");
    shown.bits("tcp_flags", key.tcp_flags, mask.tcp_flags, TCP_FLAGS, flags);
}

fn presence(shown: &mut Shown<'_>, field: &str, layer: u8) {
    if shown.mask.layers & layer != 0 {
        let there = shown.key.layers & layer != 0;
        shown.add(field, if there { "yes" } else { "no" });
    }
}

/// Adds whether it is a fragment, in a rule's words, or that it is not a later one, for which rules
/// have none.
fn fragment(shown: &mut Shown<'_>) {
    let says = |layer: u8| {
        let known = shown.mask.layers & layer != 0;
        known.then_some(shown.key.layers & layer != 0)
    };
    let words = match (says(layers::FRAGMENT), says(layers::LATER_FRAGMENT)) {
        (None, None) => return,
        (_, Some(true)) => "later",
        (Some(false), _) => "no",
        (Some(true), Some(false)) => "first",
        (Some(true), None) => "any",
        (None, Some(false)) => "not-later",
    };
    shown.add("ip_frag", words);
}

fn protocol(number: u64) -> String {
    let known = u8::try_from(number).map(IpProtocol);
    known.map_or_else(|_| number.to_string(), |known| known.to_string())
}

fn address(shown: &mut Shown<'_>, field: &str, address: IpAddr, mask: IpAddr) {
    if mask.is_unspecified() {
        return;
    }
    let matched = match (address, mask) {
        (IpAddr::V4(address), IpAddr::V4(mask)) => IpMatch::V4 { address, mask },
        (IpAddr::V6(address), IpAddr::V6(mask)) => IpMatch::V6 { address, mask },
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => return,
    };
    shown.add(field, matched);
}
