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

/// How often each thing stands in a set.
struct Profile {
    sources: &'static [(u32, u8)],
    destinations: &'static [(u32, u8)],
    protocols: &'static [(u32, Option<Protocol>)],
    source_ports: &'static [(u32, PortClass)],
    destination_ports: &'static [(u32, PortClass)],
}

const ACCESS_LIST: Profile = Profile {
    sources: &[(12, 0), (4, 8), (10, 16), (8, 19), (10, 21), (16, 24), (10, 28), (30, 32)],
    destinations: &[(2, 0), (3, 16), (6, 20), (8, 23), (16, 24), (10, 27), (5, 30), (50, 32)],
    protocols: &[
        (72, Some(Protocol::Tcp)),
        (18, Some(Protocol::Udp)),
        (4, Some(Protocol::Icmp)),
        (6, None),
    ],
    source_ports: &[(98, PortClass::Any), (1, PortClass::Exact), (1, PortClass::High)],
    destination_ports: &[
        (26, PortClass::Any),
        (60, PortClass::Exact),
        (9, PortClass::Range),
        (4, PortClass::High),
        (1, PortClass::Low),
    ],
};

const FIREWALL: Profile = Profile {
    sources: &[(38, 0), (6, 8), (8, 16), (12, 24), (6, 28), (30, 32)],
    destinations: &[(26, 0), (4, 8), (8, 16), (14, 24), (8, 29), (40, 32)],
    protocols: &[
        (50, Some(Protocol::Tcp)),
        (27, Some(Protocol::Udp)),
        (8, Some(Protocol::Icmp)),
        (15, None),
    ],
    source_ports: &[
        (66, PortClass::Any),
        (16, PortClass::High),
        (14, PortClass::Exact),
        (4, PortClass::Low),
    ],
    destination_ports: &[
        (32, PortClass::Any),
        (48, PortClass::Exact),
        (10, PortClass::High),
        (8, PortClass::Range),
        (2, PortClass::Low),
    ],
};

const IP_CHAIN: Profile = Profile {
    sources: &[(14, 0), (6, 8), (14, 16), (8, 20), (20, 24), (6, 27), (32, 32)],
    destinations: &[(10, 0), (5, 8), (12, 16), (9, 21), (22, 24), (8, 28), (34, 32)],
    protocols: &[
        (58, Some(Protocol::Tcp)),
        (24, Some(Protocol::Udp)),
        (6, Some(Protocol::Icmp)),
        (12, None),
    ],
    source_ports: &[
        (74, PortClass::Any),
        (14, PortClass::Exact),
        (8, PortClass::High),
        (4, PortClass::Low),
    ],
    destination_ports: &[
        (42, PortClass::Any),
        (42, PortClass::Exact),
        (7, PortClass::Range),
        (7, PortClass::High),
        (2, PortClass::Low),
    ],
};

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
        let source = self.prefix(profile.sources);
        let destination = self.prefix(profile.destinations);
        let protocol = *self.dice.weighted(profile.protocols);
        let mut rule = Rule { priority: 0, source, destination, protocol, ..Rule::ANY };
        if protocol.is_some_and(Protocol::has_ports) {
            rule.source_ports = self.ports(profile.source_ports);
            rule.destination_ports = self.ports(profile.destination_ports);
        }
        rule
    }

    fn prefix(&mut self, lengths: &[(u32, u8)]) -> Prefix {
        let length = *self.dice.weighted(lengths);
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

    fn ports(&mut self, classes: &[(u32, PortClass)]) -> Ports {
        let exact = |port| Ports::of(port, u16::MAX);
        match self.dice.weighted(classes) {
            PortClass::Any => Ports::ANY,
            PortClass::Low => Ports::Range { first: 0, last: 1023 },
            PortClass::High => Ports::Range { first: 1024, last: u16::MAX },
            PortClass::Range => {
                let first = self.dice.half_word().min(u16::MAX - 1);
                let last = first.saturating_add(1 + self.dice.half_word() % 2000);
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
        assert!((8..=18).contains(&list), "{list} %");
        assert!((30..=48).contains(&firewall), "{firewall} %");
    }
}
