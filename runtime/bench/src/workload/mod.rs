//! What is measured with: rules, and the flows that are replayed past them. All of it is the same
//! for the same seed.

mod class_bench;
mod header;
mod rule;
mod trace;
mod wildcard;

use std::net::Ipv4Addr;

use clap::ValueEnum;
use serde::Serialize;

use class_bench::Flavour;
pub(crate) use header::{Header, Protocol};
pub(crate) use rule::{Prefix, Rule};

/// The kinds of rule sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RuleSet {
    /// One rule: what comes in goes out.
    One,
    /// As one, and back: both ports are bound, and nothing else is looked at.
    Cross,
    /// A rule for each flow's source address.
    PerFlow,
    /// Rules of thirty masks.
    Wildcard,
    /// An access list, as ClassBench has them.
    Acl,
    /// A firewall's rules, as ClassBench has them.
    Fw,
    /// An IP chain's rules, as ClassBench has them.
    Ipc,
}

impl RuleSet {
    /// How it is called on the command line and in results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Cross => "cross",
            Self::PerFlow => "per-flow",
            Self::Wildcard => "wildcard",
            Self::Acl => "acl",
            Self::Fw => "fw",
            Self::Ipc => "ipc",
        }
    }
}

/// The flows of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Flows {
    /// So many, which the peers replay too.
    Replayed(u32),
    /// So many that none comes back while a cache knows it, all over the address space.
    New(u32),
}

/// Rules, and flows of which each hits one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Workload {
    pub(crate) rules: Vec<Rule>,
    pub(crate) headers: Vec<Header>,
}

impl Workload {
    /// Makes both. The number of rules is that of the sets that have no number of their own.
    pub(crate) fn new(set: RuleSet, rule_count: u16, flows: Flows, seed: u64) -> Self {
        let (count, of): (u32, fn(u32) -> Header) = match flows {
            Flows::Replayed(count) => (count, replayed),
            Flows::New(count) => (count, scattered),
        };
        let flavour = match set {
            RuleSet::Acl => Flavour::AccessList,
            RuleSet::Fw => Flavour::Firewall,
            RuleSet::Ipc => Flavour::IpChain,
            RuleSet::One | RuleSet::Cross | RuleSet::PerFlow | RuleSet::Wildcard => {
                let headers: Vec<Header> = (0..count).map(of).collect();
                let rules = match set {
                    RuleSet::PerFlow => headers.iter().map(exact_source).collect(),
                    RuleSet::Wildcard => wildcard::rules(&headers, rule_count, seed),
                    _ => vec![Rule::ANY],
                };
                return Self { rules, headers };
            }
        };
        let rules = class_bench::rules(flavour, rule_count, seed);
        let headers = trace::headers(&rules, count as usize, seed ^ 1);
        Self { rules, headers }
    }
}

/// The flow of this number, as the peers replay it: sources count up from 10.0.0.1.
fn replayed(flow: u32) -> Header {
    Header {
        source: Ipv4Addr::from_bits(0x0a00_0001 + flow),
        destination: Ipv4Addr::new(11, 0, 0, 1),
        protocol: Protocol::Udp,
        source_port: 1024 + u16::try_from(flow % 60_000).expect("it is less than 60,000"),
        destination_port: 9,
    }
}

/// The flow of this number out of 16 million, each in another corner of 10.0.0.0/8.
fn scattered(flow: u32) -> Header {
    // An odd factor reaches every number of 24 bits once.
    let spread = flow.wrapping_mul(0x009e_3779) & 0x00ff_ffff;
    let port = spread.wrapping_mul(0x85eb_ca6b) >> 16;
    Header {
        source: Ipv4Addr::from_bits(0x0a00_0000 | spread),
        source_port: u16::try_from(port).expect("it is shifted to 16 bits"),
        ..replayed(0)
    }
}

fn exact_source(header: &Header) -> Rule {
    Rule {
        priority: 10,
        source: Prefix::of(header.source, 32),
        protocol: Some(Protocol::Udp),
        ..Rule::ANY
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const SETS: [RuleSet; 7] = [
        RuleSet::One,
        RuleSet::Cross,
        RuleSet::PerFlow,
        RuleSet::Wildcard,
        RuleSet::Acl,
        RuleSet::Fw,
        RuleSet::Ipc,
    ];

    #[test]
    fn every_flow_of_every_set_hits_a_rule() {
        for set in SETS {
            for flows in [Flows::Replayed(1), Flows::Replayed(700), Flows::New(700)] {
                let workload = Workload::new(set, 500, flows, 1);
                assert_eq!(workload, Workload::new(set, 500, flows, 1));
                for header in &workload.headers {
                    let hit = workload.rules.iter().any(|rule| rule.matches(header));
                    assert!(hit, "{set:?} {header:?}");
                }
            }
        }
    }

    #[test]
    fn flows_differ_from_each_other() {
        for of in [replayed, scattered] {
            let distinct: HashSet<Header> = (0..200_000).map(of).collect();
            assert_eq!(distinct.len(), 200_000);
        }
    }

    #[test]
    fn the_flow_of_a_number_is_the_one_that_the_peers_replay() {
        let flow = replayed(60_001);
        assert_eq!(flow.source, Ipv4Addr::new(10, 0, 234, 98));
        assert_eq!((flow.source_port, flow.destination_port), (1025, 9));
    }
}
