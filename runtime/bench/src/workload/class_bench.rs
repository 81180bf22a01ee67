//! Filter sets with the make-up of those that ClassBench was made from (Taylor and Turner, 2007):
//! access lists, firewalls and IP chains. Lengths, protocols and classes of ports are drawn by
//! weights; addresses cluster in networks, so that prefixes nest.

use std::{collections::HashSet, net::Ipv4Addr};

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

/// A filter, of which the daemon needs a rule for each mask that its ranges of ports are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Filter {
    source: Prefix,
    destination: Prefix,
    protocol: Option<Protocol>,
    source_ports: (u16, u16),
    destination_ports: (u16, u16),
}

/// What a set has been drawn of so far.
struct Draw {
    dice: Dice,
    networks: Vec<Prefix>,
    /// Addresses of earlier filters, which later ones come back to.
    known: Vec<Ipv4Addr>,
}

/// Distinct filters, the first with the highest priority, as at most so many rules. Rules of one
/// filter share its priority, and no packet matches two of them.
pub(super) fn rules(flavour: Flavour, count: u16, seed: u64) -> Vec<Rule> {
    let mut draw = Draw::new(seed);
    let mut seen = HashSet::new();
    let mut rules = Vec::with_capacity(count.into());
    let mut priority = u16::MAX;
    loop {
        let filter = draw.filter(flavour.profile());
        if !seen.insert(filter) {
            continue;
        }
        let expanded = filter.rules(priority);
        if rules.len() + expanded.len() > count.into() && !rules.is_empty() {
            return rules;
        }
        rules.extend(expanded);
        priority -= 1;
    }
}

impl Draw {
    fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let network = |_| Prefix::of(Ipv4Addr::from_bits(dice.word()), 16);
        Self { networks: (0..NETWORKS).map(network).collect(), dice, known: Vec::new() }
    }

    fn filter(&mut self, profile: &Profile) -> Filter {
        let source = self.prefix(profile.sources);
        let destination = self.prefix(profile.destinations);
        let protocol = *self.dice.weighted(profile.protocols);
        let (mut source_ports, mut destination_ports) = (ANY_PORT, ANY_PORT);
        if protocol.is_some_and(Protocol::has_ports) {
            source_ports = self.ports(profile.source_ports);
            destination_ports = self.ports(profile.destination_ports);
        }
        Filter { source, destination, protocol, source_ports, destination_ports }
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

    fn ports(&mut self, classes: &[(u32, PortClass)]) -> (u16, u16) {
        match self.dice.weighted(classes) {
            PortClass::Any => ANY_PORT,
            PortClass::Low => (0, 1023),
            PortClass::High => (1024, u16::MAX),
            PortClass::Range => {
                let first = self.dice.half_word();
                (first, first.saturating_add(1 + self.dice.half_word() % 2000))
            }
            PortClass::Exact if self.dice.fraction() < 0.7 => {
                let port = *self.dice.pick(&SERVICES);
                (port, port)
            }
            PortClass::Exact => {
                let port = self.dice.half_word();
                (port, port)
            }
        }
    }
}

const ANY_PORT: (u16, u16) = (0, u16::MAX);

impl Filter {
    fn rules(&self, priority: u16) -> Vec<Rule> {
        let destinations = masks_of(self.destination_ports);
        let rule = |source_ports, destination_ports| Rule {
            priority,
            source: self.source,
            destination: self.destination,
            protocol: self.protocol,
            source_ports,
            destination_ports,
        };
        let sources = masks_of(self.source_ports).into_iter();
        sources
            .flat_map(|source| {
                destinations.iter().map(move |&destination| rule(source, destination))
            })
            .collect()
    }
}

/// The fewest masked ports that are a range together.
fn masks_of((first, last): (u16, u16)) -> Vec<Ports> {
    let (mut next, end) = (u32::from(first), u32::from(last) + 1);
    let mut masks = Vec::new();
    while next < end {
        // The largest aligned block that begins here and does not reach beyond the end.
        let aligned = next.trailing_zeros().min(16);
        let fitting = (end - next).ilog2();
        let bits = aligned.min(fitting);
        let mask = u16::try_from(0xffff_u32 << bits & 0xffff).expect("it is cut to 16 bits");
        masks.push(Ports::of(u16::try_from(next).expect("it is below the end"), mask));
        next += 1 << bits;
    }
    masks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_hold_each_port_of_a_range_once_and_no_other() {
        for range in [ANY_PORT, (0, 0), (1024, u16::MAX), (1, 65_534), (4_000, 5_999)] {
            let masks = masks_of(range);
            let rules: Vec<Rule> =
                masks.iter().map(|&ports| Rule { destination_ports: ports, ..Rule::ANY }).collect();
            for port in 0..=u16::MAX {
                let header =
                    super::super::Header { destination_port: port, ..super::super::replayed(0) };
                let holding = rules.iter().filter(|rule| rule.matches(&header)).count();
                assert_eq!(holding, usize::from((range.0..=range.1).contains(&port)), "{port}");
            }
        }
        assert_eq!(masks_of(ANY_PORT), [Ports::ANY]);
        assert_eq!(masks_of((1024, u16::MAX)).len(), 6);
    }

    #[test]
    fn a_seed_makes_one_set_of_nearly_as_many_rules_as_asked_for() {
        for flavour in [Flavour::AccessList, Flavour::Firewall, Flavour::IpChain] {
            let set = rules(flavour, 5_000, 3);
            assert!((4_600..=5_000).contains(&set.len()), "{flavour:?}: {}", set.len());
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
