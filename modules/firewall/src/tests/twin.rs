//! The compiled rules decide as the configuration reads.

use alloc::{format, string::String, vec::Vec};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::{collection::vec, option, prelude::*, sample::select};
use weft_sdk::{Verdict, testing::FakeHost};

use super::packet::{Plain, Shape};
use crate::{Firewall, Reason};

/// A rule, as it is written.
#[derive(Debug, Clone)]
struct Written {
    allow: bool,
    source: Option<(IpAddr, usize)>,
    destination: Option<(IpAddr, usize)>,
    protocol: Option<u8>,
    source_ports: Option<(u16, u16)>,
    destination_ports: Option<(u16, u16)>,
    later_fragments: bool,
}

impl Written {
    fn json(&self) -> String {
        let mut members = Vec::from([format!(r#""action": "{}""#, action(self.allow))]);
        let prefix = |(address, length)| format!("\"{address}/{length}\"");
        let ports = |(first, last)| match first == last {
            true => format!("{first}"),
            false => format!("\"{first}-{last}\""),
        };
        members.extend(self.source.map(|it| format!(r#""source": {}"#, prefix(it))));
        members.extend(self.destination.map(|it| format!(r#""destination": {}"#, prefix(it))));
        members.extend(self.protocol.map(|it| format!(r#""protocol": {it}"#)));
        members.extend(self.source_ports.map(|it| format!(r#""source_ports": {}"#, ports(it))));
        members.extend(
            self.destination_ports.map(|it| format!(r#""destination_ports": {}"#, ports(it))),
        );
        members.extend(self.later_fragments.then(|| String::from(r#""later_fragments": true"#)));
        format!("{{{}}}", members.join(", "))
    }

    /// For each thing that the rule names, whether the packet has it; `None` if one cannot see.
    fn conditions(&self, packet: &Plain) -> Vec<Option<bool>> {
        let protocol = (packet.shape != Shape::Hidden).then_some(packet.protocol);
        let has_ports = protocol.map(|protocol| [6, 17, 132].contains(&protocol));
        let seen = [Shape::Whole, Shape::FirstFragment].contains(&packet.shape);
        let port = |port: u16, (first, last): (u16, u16)| match (has_ports, seen) {
            (Some(false), _) => Some(false),
            (Some(true), true) => Some((first..=last).contains(&port)),
            _ => None,
        };
        let mut conditions = Vec::new();
        conditions.extend(self.source.map(|prefix| Some(is_in(packet.source, prefix))));
        conditions.extend(self.destination.map(|prefix| Some(is_in(packet.destination, prefix))));
        conditions.extend(self.protocol.map(|wanted| protocol.map(|protocol| protocol == wanted)));
        conditions.extend(self.source_ports.map(|range| port(packet.ports.0, range)));
        conditions.extend(self.destination_ports.map(|range| port(packet.ports.1, range)));
        let later = packet.shape == Shape::LaterFragment;
        conditions.extend(self.later_fragments.then_some(Some(later)));
        conditions
    }
}

fn action(allow: bool) -> &'static str {
    if allow { "allow" } else { "deny" }
}

/// Compares bit by bit.
fn is_in(address: IpAddr, (prefix, length): (IpAddr, usize)) -> bool {
    let bits = |address: IpAddr| -> String {
        match address {
            IpAddr::V4(address) => format!("4{:032b}", address.to_bits()),
            IpAddr::V6(address) => format!("6{:0128b}", address.to_bits()),
        }
    };
    bits(address).starts_with(&bits(prefix)[..=length])
}

/// What the configuration says, read aloud.
fn literally(rules: &[Written], default: bool, packet: &Plain) -> Verdict<Reason> {
    for rule in rules {
        let conditions = rule.conditions(packet);
        let fits = conditions.iter().all(|condition| *condition == Some(true));
        let may_fit = !conditions.contains(&Some(false));
        match (rule.allow, fits, may_fit) {
            (true, true, _) => return Verdict::Next,
            (false, true, _) => return Verdict::Drop(Reason::DeniedByRule),
            (false, false, true) => return Verdict::Drop(Reason::DeniedUnseen),
            _ => {}
        }
    }
    if default { Verdict::Next } else { Verdict::Drop(Reason::DeniedByDefault) }
}

/// One of a few neighbours, so that prefixes meet.
fn address(ipv4: bool) -> impl Strategy<Value = IpAddr> {
    (0_u8..4, any::<bool>()).prop_map(move |(last, far)| {
        if ipv4 {
            Ipv4Addr::new(if far { 10 } else { 192 }, 0, 0, last).into()
        } else {
            let first = if far { 0xfd00 } else { 0x2001 };
            Ipv6Addr::new(first, 0, 0, 0, 0, 0, 0, last.into()).into()
        }
    })
}

fn prefix(ipv4: bool) -> impl Strategy<Value = (IpAddr, usize)> {
    (address(ipv4), 0_usize..4).prop_map(move |(address, length)| match address {
        IpAddr::V4(address) => {
            let length = [0, 8, 31, 32][length];
            let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
            (Ipv4Addr::from(address.to_bits() & mask).into(), length as usize)
        }
        IpAddr::V6(address) => {
            let length = [0, 16, 127, 128][length];
            let mask = u128::MAX.checked_shl(128 - length).unwrap_or(0);
            (Ipv6Addr::from(address.to_bits() & mask).into(), length as usize)
        }
    })
}

fn range() -> impl Strategy<Value = (u16, u16)> {
    (0_u16..8, 0_u16..8).prop_map(|(a, b)| (a.min(b), a.max(b)))
}

fn protocol() -> impl Strategy<Value = u8> {
    select(&[6, 6, 17, 1, 58, 132, 47][..])
}

fn rule() -> impl Strategy<Value = Written> {
    let addresses =
        any::<bool>().prop_flat_map(|ipv4| (option::of(prefix(ipv4)), option::of(prefix(ipv4))));
    let ports = (option::of(range()), option::of(range()));
    (any::<bool>(), addresses, option::of(protocol()), ports, any::<bool>()).prop_map(
        |(allow, (source, destination), protocol, (source_ports, destination_ports), later)| {
            let has_ports = protocol.is_none_or(|protocol| [6, 17, 132].contains(&protocol));
            let source_ports = source_ports.filter(|_| has_ports);
            let destination_ports = destination_ports.filter(|_| has_ports);
            let names_ports = source_ports.is_some() || destination_ports.is_some();
            let later_fragments = later && !names_ports;
            Written {
                allow,
                source,
                destination,
                protocol,
                source_ports,
                destination_ports,
                later_fragments,
            }
        },
    )
}

fn packet() -> impl Strategy<Value = Plain> {
    let shapes = [
        Shape::Whole,
        Shape::FirstFragment,
        Shape::TinyFragment,
        Shape::LaterFragment,
        Shape::FarAway,
        Shape::Hidden,
    ];
    let family = any::<bool>().prop_flat_map(move |ipv4| {
        let shapes = &shapes[..if ipv4 { 4 } else { 6 }];
        (address(ipv4), address(ipv4), select(shapes.to_vec()))
    });
    (family, protocol(), (0_u16..8, 0_u16..8)).prop_map(
        |((source, destination, shape), protocol, ports)| Plain {
            source,
            destination,
            protocol,
            ports,
            shape,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn the_compiled_rules_decide_as_the_configuration_reads(
        rules in vec(rule(), 0..8),
        default in any::<bool>(),
        packets in vec(packet(), 1..16),
    ) {
        let written: Vec<String> = rules.iter().map(Written::json).collect();
        let default_action = action(default);
        let config =
            format!(r#"{{"rules": [{}], "default": "{default_action}"}}"#, written.join(", "));
        let mut host = FakeHost::<Firewall>::new(&config).unwrap();
        for packet in packets {
            let outcome = host.run(&packet.frame());
            let expected = literally(&rules, default, &packet);
            prop_assert_eq!(outcome.verdict, expected, "{:?} under {}", packet, config);
            prop_assert_eq!(outcome.frame, packet.frame());
        }
    }
}
