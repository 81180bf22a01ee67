//! Filter sets with the make-up of those that ClassBench was made from (Taylor and Turner, 2007):
//! access lists, firewalls and IP chains. Lengths, protocols and classes of ports are drawn by
//! weights; addresses cluster in networks, so that prefixes nest.

use std::{collections::HashSet, iter, net::Ipv4Addr};

use super::{
    Protocol,
    rule::{Ports, Prefix, Rule},
};
use crate::dice::Dice;

/// Which kind of set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavour {
    AccessList,
    Firewall,
    IpChain,
}

/// ClassBench's classes of port conditions.
#[derive(Debug, Clone, Copy)]
enum PortClass {
    Any,
    /// The well-known ones.
    Low,
    /// All others.
    High,
    Range,
    Exact,
}

/// How often each thing stands in a set. Lengths of prefixes, and classes of ports, come in pairs of
/// source and destination, as ClassBench draws them.
struct Profile {
    prefixes: &'static [(u32, (u8, u8))],
    protocols: &'static [(u32, Option<Protocol>)],
    ports: &'static [(u32, (PortClass, PortClass))],
}

const ACCESS_LIST: Profile = Profile {
    prefixes: &[
        (6, (0, 32)),
        (4, (0, 24)),
        (3, (8, 32)),
        (8, (16, 32)),
        (5, (16, 24)),
        (9, (21, 32)),
        (4, (21, 27)),
        (13, (24, 32)),
        (8, (24, 24)),
        (3, (24, 16)),
        (6, (28, 32)),
        (3, (28, 23)),
        (14, (32, 32)),
        (10, (32, 24)),
        (4, (32, 20)),
    ],
    protocols: &[
        (72, Some(Protocol::Tcp)),
        (18, Some(Protocol::Udp)),
        (4, Some(Protocol::Icmp)),
        (6, None),
    ],
    ports: &[
        (26, (PortClass::Any, PortClass::Any)),
        (58, (PortClass::Any, PortClass::Exact)),
        (9, (PortClass::Any, PortClass::Range)),
        (4, (PortClass::Any, PortClass::High)),
        (1, (PortClass::Any, PortClass::Low)),
        (2, (PortClass::Exact, PortClass::Any)),
    ],
};

const FIREWALL: Profile = Profile {
    prefixes: &[
        (14, (0, 32)),
        (9, (0, 24)),
        (6, (0, 16)),
        (7, (0, 0)),
        (12, (32, 0)),
        (8, (24, 0)),
        (4, (16, 0)),
        (3, (8, 24)),
        (14, (32, 32)),
        (6, (32, 24)),
        (6, (24, 32)),
        (5, (24, 24)),
        (3, (28, 29)),
        (3, (16, 16)),
    ],
    protocols: &[
        (50, Some(Protocol::Tcp)),
        (27, Some(Protocol::Udp)),
        (8, Some(Protocol::Icmp)),
        (15, None),
    ],
    ports: &[
        (28, (PortClass::Any, PortClass::Any)),
        (34, (PortClass::Any, PortClass::Exact)),
        (7, (PortClass::Any, PortClass::High)),
        (6, (PortClass::Any, PortClass::Range)),
        (9, (PortClass::High, PortClass::Exact)),
        (9, (PortClass::Exact, PortClass::Any)),
        (4, (PortClass::Exact, PortClass::Exact)),
        (3, (PortClass::Low, PortClass::Any)),
    ],
};

const IP_CHAIN: Profile = Profile {
    prefixes: &[
        (7, (0, 32)),
        (5, (0, 24)),
        (4, (32, 0)),
        (3, (8, 8)),
        (5, (16, 16)),
        (6, (16, 24)),
        (7, (16, 32)),
        (5, (20, 21)),
        (12, (24, 24)),
        (8, (24, 32)),
        (4, (27, 28)),
        (8, (32, 16)),
        (9, (32, 24)),
        (17, (32, 32)),
    ],
    protocols: &[
        (58, Some(Protocol::Tcp)),
        (24, Some(Protocol::Udp)),
        (6, Some(Protocol::Icmp)),
        (12, None),
    ],
    ports: &[
        (38, (PortClass::Any, PortClass::Any)),
        (32, (PortClass::Any, PortClass::Exact)),
        (6, (PortClass::Any, PortClass::Range)),
        (5, (PortClass::Any, PortClass::High)),
        (5, (PortClass::High, PortClass::Exact)),
        (9, (PortClass::Exact, PortClass::Any)),
        (4, (PortClass::Exact, PortClass::Exact)),
        (1, (PortClass::Low, PortClass::Any)),
    ],
};

/// Ranges that services are known to have. A set has few of them, and often.
const RANGES: [(u16, u16); 8] = [
    (20, 21),
    (67, 68),
    (135, 139),
    (1024, 5000),
    (5060, 5061),
    (6000, 6063),
    (6881, 6889),
    (33_434, 33_523),
];
/// Ports that services are known to have.
const SERVICES: [u16; 16] =
    [20, 21, 22, 23, 25, 53, 80, 110, 123, 143, 161, 389, 443, 1521, 3306, 8080];
/// How many networks the addresses lie in, all of /16.
const NETWORKS: usize = 64;

impl Flavour {
    fn profile(self) -> &'static Profile {
        match self {
            Self::AccessList => &ACCESS_LIST,
            Self::Firewall => &FIREWALL,
            Self::IpChain => &IP_CHAIN,
        }
    }
}

/// What a set has been drawn of so far.
struct Draw {
    dice: Dice,
    networks: Vec<Prefix>,
    /// Addresses of earlier filters, which later ones come back to.
    known: Vec<Ipv4Addr>,
}

/// So many distinct rules, the first with the highest priority.
pub(super) fn rules(flavour: Flavour, count: u16, seed: u64) -> Vec<Rule> {
    let mut draw = Draw::new(seed);
    let mut seen = HashSet::new();
    let mut distinct =
        iter::repeat_with(|| draw.rule(flavour.profile())).filter(|rule| seen.insert(*rule));
    let priorities = (1..=count).rev();
    priorities.filter_map(|priority| Some(Rule { priority, ..distinct.next()? })).collect()
}

impl Draw {
    fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let network = |_| Prefix::of(Ipv4Addr::from_bits(dice.word()), 16);
        Self { networks: (0..NETWORKS).map(network).collect(), dice, known: Vec::new() }
    }

    /// A rule without a priority.
    fn rule(&mut self, profile: &Profile) -> Rule {
        let (source, destination) = *self.dice.weighted(profile.prefixes);
        let (source, destination) = (self.prefix(source), self.prefix(destination));
        let protocol = *self.dice.weighted(profile.protocols);
        let mut rule = Rule { priority: 0, source, destination, protocol, ..Rule::ANY };
        if protocol.is_some_and(Protocol::has_ports) {
            let (source, destination) = *self.dice.weighted(profile.ports);
            (rule.source_ports, rule.destination_ports) =
                (self.ports(source), self.ports(destination));
        }
        rule
    }

    fn prefix(&mut self, length: u8) -> Prefix {
        let known = !self.known.is_empty() && self.dice.fraction() < 0.4;
        let address = if known {
            *self.dice.pick(&self.known)
        } else {
            let host = self.dice.word();
            self.dice.pick(&self.networks).address(host)
        };
        self.known.push(address);
        Prefix::of(address, length)
    }

    fn ports(&mut self, class: PortClass) -> Ports {
        let exact = |port| Ports::of(port, u16::MAX);
        match class {
            PortClass::Any => Ports::ANY,
            PortClass::Low => Ports::Range { first: 0, last: 1023 },
            PortClass::High => Ports::Range { first: 1024, last: u16::MAX },
            PortClass::Range => {
                let (first, last) = *self.dice.pick(&RANGES);
                Ports::Range { first, last }
            }
            PortClass::Exact if self.dice.fraction() < 0.7 => exact(*self.dice.pick(&SERVICES)),
            PortClass::Exact => exact(self.dice.half_word()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_one_set_of_as_many_rules_as_asked_for() {
        for flavour in [Flavour::AccessList, Flavour::Firewall, Flavour::IpChain] {
            let set = rules(flavour, 5_000, 3);
            let priorities: HashSet<u16> = set.iter().map(|rule| rule.priority).collect();
            assert_eq!((set.len(), priorities.len()), (5_000, 5_000));
            assert_eq!(set, rules(flavour, 5_000, 3));
            assert_ne!(set, rules(flavour, 5_000, 4));
        }
    }

    #[test]
    fn a_firewall_has_more_open_sources_than_an_access_list() {
        let open = |flavour| {
            let set = rules(flavour, 10_000, 1);
            let open = set.iter().filter(|rule| rule.source == Prefix::ANY).count();
            open * 100 / set.len()
        };
        let (list, firewall) = (open(Flavour::AccessList), open(Flavour::Firewall));
        assert!((7..=13).contains(&list), "{list} %");
        assert!((28..=44).contains(&firewall), "{firewall} %");
    }
}
