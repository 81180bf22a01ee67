extern crate std;

use std::{borrow::ToOwned, vec, vec::Vec};

use etherparse::{IpHeaders, IpNumber, Ipv4Header, PacketBuilder, VlanId};
use weft_sdk::{
    Verdict,
    testing::{FakeHost, Outcome},
};

use super::{Reason, RouterHop};

const CONFIG: &str =
    r#"{"source_mac": "02:00:00:00:00:0a", "destination_mac": "02:00:00:00:00:0b"}"#;

/// Source and destination.
type Addresses = [[u8; 6]; 2];
const BEFORE: Addresses = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];
const AFTER: Addresses = [[2, 0, 0, 0, 0, 0x0a], [2, 0, 0, 0, 0, 0x0b]];
const PAYLOAD: &[u8] = b"longer than the window, so that not all of it is seen by the stage";

fn host() -> FakeHost<RouterHop> {
    FakeHost::new(CONFIG).unwrap()
}

fn next(frame: Vec<u8>) -> Outcome<Reason> {
    Outcome { verdict: Verdict::Next, frame, metadata: 0 }
}

fn dropped(reason: Reason, frame: Vec<u8>) -> Outcome<Reason> {
    Outcome { verdict: Verdict::Drop(reason), frame, metadata: 0 }
}

/// A frame as etherparse, which computes every checksum anew, writes it.
fn ipv4([source, destination]: Addresses, ttl: u8) -> Vec<u8> {
    let mut header = Ipv4Header::new(0, ttl, IpNumber::UDP, [10, 0, 0, 1], [10, 0, 1, 1]).unwrap();
    header.options = [1, 1, 1, 0].into();
    let builder = PacketBuilder::ethernet2(source, destination)
        .single_vlan(VlanId::try_new(7).unwrap())
        .ip(IpHeaders::Ipv4(header, Default::default()))
        .udp(4000, 53);
    let mut frame = Vec::new();
    builder.write(&mut frame, PAYLOAD).unwrap();
    frame
}

fn ipv6([source, destination]: Addresses, hop_limit: u8) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2(source, destination)
        .ipv6([1; 16], [2; 16], hop_limit)
        .tcp(4000, 80, 1, 1000);
    let mut frame = Vec::new();
    builder.write(&mut frame, PAYLOAD).unwrap();
    frame
}

fn arp() -> Vec<u8> {
    let mut frame = vec![0; 60];
    frame[..22]
        .copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    frame
}

#[test]
fn every_ttl_that_is_left_makes_one_hop_with_the_checksum_of_a_new_header() {
    let mut host = host();
    for ttl in 2..=255 {
        assert_eq!(host.run(&ipv4(BEFORE, ttl)), next(ipv4(AFTER, ttl - 1)), "TTL {ttl}");
        assert_eq!(host.run(&ipv6(BEFORE, ttl)), next(ipv6(AFTER, ttl - 1)), "hop limit {ttl}");
    }
    assert_eq!(host.counters(), [("ipv4", 254), ("ipv6", 254)]);
}

#[test]
fn a_packet_without_a_hop_left_is_dropped_as_it_was() {
    let mut host = host();
    for frame in [ipv4(BEFORE, 0), ipv4(BEFORE, 1), ipv6(BEFORE, 0), ipv6(BEFORE, 1)] {
        assert_eq!(host.run(&frame), dropped(Reason::TtlExpired, frame));
    }
    assert_eq!(host.counters(), []);
}

#[test]
fn a_header_with_any_bit_turned_is_dropped() {
    let mut host = host();
    let good = ipv4(BEFORE, 64);
    for bit in 0..24 * 8 {
        let mut frame = good.clone();
        frame[18 + bit / 8] ^= 1 << (bit % 8);
        // In the first four bytes are the version and two lengths, which the host checks first.
        let verdict = host.run(&frame).verdict;
        let reasons = [Reason::BadChecksum, Reason::Malformed].map(Verdict::Drop);
        assert!(reasons.contains(&verdict), "bit {bit}: {verdict:?}");
        assert!(
            bit < 32 || verdict == Verdict::Drop(Reason::BadChecksum),
            "bit {bit}: {verdict:?}"
        );
    }
}

#[test]
fn a_packet_cut_anywhere_in_its_ip_header_is_dropped() {
    let mut host = host();
    for length in 18..38 {
        let frame = ipv4(BEFORE, 64)[..length].to_vec();
        assert_eq!(host.run(&frame), dropped(Reason::Malformed, frame), "{length}");
    }
    for length in 14..54 {
        let frame = ipv6(BEFORE, 64)[..length].to_vec();
        assert_eq!(host.run(&frame), dropped(Reason::Malformed, frame), "{length}");
    }
}

#[test]
fn what_is_not_ip_passes_untouched_or_is_dropped_as_configured() {
    let mut passing = host();
    assert_eq!(passing.run(&arp()), next(arp()));
    assert_eq!(passing.counters(), [("non-ip", 1)]);

    let config = CONFIG.replace('}', r#", "non_ip": "drop"}"#);
    let mut dropping = FakeHost::<RouterHop>::new(&config).unwrap();
    assert_eq!(dropping.run(&arp()), dropped(Reason::NotIp, arp()));
    assert_eq!(dropping.counters(), []);
}

#[test]
fn says_what_it_refuses() {
    let refused = |from: &str, to: &str| {
        let config = CONFIG.replace(from, to);
        FakeHost::<RouterHop>::new(&config).unwrap_err().message().to_owned()
    };
    for (from, to, expected) in [
        ("source_mac", "src_mac", "unknown field `src_mac`, expected one of `source_mac`"),
        (r#""source_mac": "02:00:00:00:00:0a", "#, "", "missing field `source_mac`"),
        ("02:00:00:00:00:0a", "02:00", "source_mac: `02:00`: a MAC address is six pairs"),
        ("02:00:00:00:00:0a", "01:00:5e:00:00:01", "source_mac: it is a group address"),
        ("02:00:00:00:00:0b", "ff:ff:ff:ff:ff:ff", "destination_mac: it is a group address"),
        (
            "}",
            r#", "non_ip": "deny"}"#,
            "non_ip: unknown variant `deny`, expected `pass` or `drop`",
        ),
    ] {
        let message = refused(from, to);
        assert!(message.contains(expected), "{message}");
    }
}
