use alloc::vec::Vec;
use core::net::IpAddr;

use etherparse::PacketBuilder;
use weft_sdk::{Verdict, testing::FakeHost};

use super::packet::{Plain, Shape};
use crate::{Firewall, Reason};

const BY_RULE: Verdict<Reason> = Verdict::Drop(Reason::DeniedByRule);
const BY_DEFAULT: Verdict<Reason> = Verdict::Drop(Reason::DeniedByDefault);
const UNSEEN: Verdict<Reason> = Verdict::Drop(Reason::DeniedUnseen);
const MALFORMED: Verdict<Reason> = Verdict::Drop(Reason::Malformed);

fn host(config: &str) -> FakeHost<Firewall> {
    FakeHost::new(config).unwrap()
}

fn packet(source: &str, destination: &str, protocol: u8, destination_port: u16) -> Plain {
    let [source, destination] = [source, destination].map(|text| text.parse::<IpAddr>().unwrap());
    Plain { source, destination, protocol, ports: (40_000, destination_port), shape: Shape::Whole }
}

/// TCP from 10.0.0.1 to 10.0.0.2.
fn tcp(destination_port: u16, shape: Shape) -> Vec<u8> {
    Plain { shape, ..packet("10.0.0.1", "10.0.0.2", 6, destination_port) }.frame()
}

/// TCP from 2001:db8::1 to 2001:db8::2.
fn tcp_over_ipv6(destination_port: u16, shape: Shape) -> Vec<u8> {
    Plain { shape, ..packet("2001:db8::1", "2001:db8::2", 6, destination_port) }.frame()
}

#[test]
fn the_first_rule_that_matches_decides() {
    let mut host = host(
        r#"{
            "rules": [
                {"name": "web", "action": "allow", "destination": "10.1.0.0/16", "protocol": "tcp",
                 "destination_ports": "80-443"},
                {"action": "deny", "destination": "10.1.0.0/16"},
                {"action": "allow", "source": "2001:db8::/32", "source_ports": "1024-65535"},
                {"action": "deny", "protocol": "icmpv6"},
                {"action": "allow", "source": "192.0.2.7"}
            ],
            "default": "deny"
        }"#,
    );
    for (source, destination, protocol, port, expected) in [
        ("10.0.0.1", "10.1.2.3", 6, 80, Verdict::Next),
        ("10.0.0.1", "10.1.2.3", 6, 443, Verdict::Next),
        ("10.0.0.1", "10.1.2.3", 6, 444, BY_RULE),
        ("10.0.0.1", "10.1.2.3", 17, 80, BY_RULE),
        ("10.0.0.1", "10.2.0.0", 6, 80, BY_DEFAULT),
        ("2001:db8::1", "2001:db9::1", 17, 53, Verdict::Next),
        ("2001:db8::1", "2001:db9::1", 58, 0, BY_RULE),
        ("2001:db9::1", "2001:db8::1", 17, 53, BY_DEFAULT),
        ("192.0.2.7", "10.2.0.0", 1, 0, Verdict::Next),
        ("192.0.2.8", "10.2.0.0", 1, 0, BY_DEFAULT),
    ] {
        let frame = packet(source, destination, protocol, port).frame();
        assert_eq!(host.run(&frame).verdict, expected, "{source} {destination} {protocol} {port}");
    }
    assert_eq!(host.counters(), [("allowed", 4), ("denied", 6)]);
}

#[test]
fn real_frames_with_tags_are_decided_on_unchanged() {
    let mut frame = Vec::new();
    PacketBuilder::ethernet2([2; 6], [4; 6])
        .single_vlan(etherparse::VlanId::ZERO)
        .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .udp(4000, 53)
        .write(&mut frame, &[7; 100])
        .unwrap();
    let mut host = host(
        r#"{"rules": [{"action": "deny", "protocol": "udp", "destination_ports": 53}],
            "default": "allow"}"#,
    );
    let outcome = host.run(&frame);
    assert_eq!((outcome.verdict, outcome.frame), (BY_RULE, frame));
}

#[test]
fn what_is_not_ip_passes_unless_it_is_denied() {
    let mut arp = [0; 60];
    arp[12..22].copy_from_slice(&[8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    let mut passing = host(r#"{"default": "deny"}"#);
    assert_eq!(passing.run(&arp).verdict, Verdict::Next);
    assert_eq!(passing.counters(), [("non-ip", 1)]);

    let mut denying = host(r#"{"default": "allow", "non_ip": "deny"}"#);
    assert_eq!(denying.run(&arp).verdict, Verdict::Drop(Reason::DeniedNonIp));
    assert_eq!(denying.counters(), [("non-ip", 1)]);
}

#[test]
fn an_allow_rule_with_ports_does_not_match_ports_that_cannot_be_seen() {
    let mut host = host(
        r#"{"rules": [{"action": "allow", "protocol": "tcp", "destination_ports": 80}],
            "default": "deny"}"#,
    );
    for shape in [Shape::Whole, Shape::FirstFragment] {
        assert_eq!(host.run(&tcp(80, shape)).verdict, Verdict::Next, "{shape:?}");
    }
    for shape in [Shape::TinyFragment, Shape::LaterFragment] {
        assert_eq!(host.run(&tcp(80, shape)).verdict, BY_DEFAULT, "{shape:?}");
    }
    for shape in [Shape::FarAway, Shape::Hidden] {
        assert_eq!(host.run(&tcp_over_ipv6(80, shape)).verdict, BY_DEFAULT, "{shape:?}");
    }
    assert_eq!(host.counters(), [("allowed", 2), ("denied", 4), ("unseen", 4)]);
}

#[test]
fn a_deny_rule_with_ports_matches_ports_that_cannot_be_seen() {
    let mut host = host(
        r#"{"rules": [{"action": "deny", "protocol": "tcp", "destination_ports": 23}],
            "default": "allow"}"#,
    );
    assert_eq!(host.run(&tcp(23, Shape::FirstFragment)).verdict, BY_RULE);
    assert_eq!(host.run(&tcp(80, Shape::FirstFragment)).verdict, Verdict::Next);
    for shape in [Shape::TinyFragment, Shape::LaterFragment] {
        assert_eq!(host.run(&tcp(80, shape)).verdict, UNSEEN, "{shape:?}");
    }
    for shape in [Shape::FarAway, Shape::Hidden] {
        assert_eq!(host.run(&tcp_over_ipv6(80, shape)).verdict, UNSEEN, "{shape:?}");
    }
    let udp = Plain { shape: Shape::LaterFragment, ..packet("10.0.0.1", "10.0.0.2", 17, 53) };
    assert_eq!(
        host.run(&udp.frame()).verdict,
        Verdict::Next,
        "another protocol is seen not to match"
    );
}

#[test]
fn later_fragments_pass_where_a_rule_says_so() {
    let mut host = host(
        r#"{"rules": [
                {"action": "allow", "protocol": "tcp", "later_fragments": true},
                {"action": "deny", "destination_ports": 23}
            ],
            "default": "allow"}"#,
    );
    assert_eq!(host.run(&tcp(23, Shape::LaterFragment)).verdict, Verdict::Next);
    assert_eq!(host.run(&tcp(23, Shape::FirstFragment)).verdict, BY_RULE);
    assert_eq!(host.run(&tcp(23, Shape::TinyFragment)).verdict, UNSEEN);
}

#[test]
fn a_packet_cut_anywhere_in_its_ip_header_is_dropped_whatever_the_rules_say() {
    let mut host = host(r#"{"rules": [{"action": "allow"}], "default": "allow"}"#);
    for length in 14..54 {
        assert_eq!(host.run(&tcp(80, Shape::Whole)[..length]).verdict, MALFORMED, "{length}");
        let frame = tcp_over_ipv6(80, Shape::Whole);
        assert_eq!(host.run(&frame[..length]).verdict, MALFORMED, "{length}");
    }
    assert_eq!(host.counters(), [("malformed", 80)]);
}
