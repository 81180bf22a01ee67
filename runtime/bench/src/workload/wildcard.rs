//! Rules of thirty masks, made so that every flow hits one.

use std::collections::HashSet;

use super::{
    Header, Protocol,
    rule::{Ports, Prefix, Rule},
};
use crate::dice::Dice;

/// Which bits a rule looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mask {
    source: u8,
    destination: u8,
    source_port: u16,
    destination_port: u16,
}

/// How much of the source address the masks look at. The flows differ in it.
const SOURCES: [u8; 5] = [32, 30, 28, 26, 24];
/// What they look at besides: destination, source port, destination port.
const OTHERS: [(u8, u16, u16); 6] = [
    (0, 0, 0),
    (8, 0xffff, 0),
    (16, 0xfff0, u16::MAX),
    (24, 0, u16::MAX),
    (32, 0xff00, 0),
    (32, 0xffff, u16::MAX),
];
/// The one with the lowest priority, which between its few rules every flow hits.
const COARSE: Mask = Mask { source: 16, destination: 0, source_port: 0, destination_port: 0 };

/// One that looks at a field in which flows differ, whatever their addresses: wildcards of flows
/// that were looked up cannot leave it out.
const BY_PORT: Mask = Mask { source: 0, destination: 0, source_port: 0xffff, destination_port: 0 };

/// All but the coarse one, so that they are thirty together.
fn fine_masks() -> Vec<Mask> {
    let all = SOURCES.iter().flat_map(|&source| {
        let mask = move |(destination, source_port, destination_port)| Mask {
            source,
            destination,
            source_port,
            destination_port,
        };
        OTHERS.into_iter().map(mask)
    });
    // By a source of so few bits alone, a rule would be hit by too many flows.
    let fine = all.filter(|mask| mask.destination != 0 || mask.source > 26);
    fine.chain([BY_PORT]).collect()
}

impl Mask {
    fn rule(self, header: &Header, priority: u16) -> Rule {
        Rule {
            priority,
            source: Prefix::of(header.source, self.source),
            destination: Prefix::of(header.destination, self.destination),
            protocol: Some(Protocol::Udp),
            source_ports: Ports::of(header.source_port, self.source_port),
            destination_ports: Ports::of(header.destination_port, self.destination_port),
        }
    }
}

/// So many rules, each of a priority of its own. Half of the fine ones are hit by a flow, the
/// others are about addresses that no flow has.
pub(super) fn rules(headers: &[Header], count: u16, seed: u64) -> Vec<Rule> {
    let mut dice = Dice::new(seed);
    let mut seen = HashSet::new();
    let mut rules: Vec<Rule> = Vec::with_capacity(count.into());
    for header in headers {
        let rule = COARSE.rule(header, 0);
        if seen.insert(rule) {
            rules.push(rule);
        }
    }
    let masks = fine_masks();
    for &mask in masks.iter().cycle() {
        if rules.len() >= count.into() {
            break;
        }
        let rule = mask.rule(&example(headers, &mut dice), 0);
        if seen.insert(rule) {
            rules.push(rule);
        }
    }
    for (rule, priority) in rules.iter_mut().zip(1..) {
        rule.priority = priority;
    }
    rules
}

/// A flow of the traffic, or one from elsewhere.
fn example(headers: &[Header], dice: &mut Dice) -> Header {
    let header = *dice.pick(headers);
    if dice.fraction() < 0.5 {
        return header;
    }
    let elsewhere = Prefix::of([172, 16, 0, 0].into(), 12).address(dice.word());
    Header { source: elsewhere, source_port: dice.half_word(), ..header }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::workload::replayed;

    #[test]
    fn ten_thousand_rules_have_thirty_masks_and_every_flow_hits_one() {
        let headers: Vec<Header> = (0..10_000).map(replayed).collect();
        let rules = rules(&headers, 10_000, 1);
        assert_eq!(rules.len(), 10_000);
        assert_eq!(fine_masks().len() + 1, 30);
        let masks: BTreeSet<Vec<String>> = rules.iter().map(|rule| mask_of(*rule)).collect();
        assert_eq!(masks.len(), 30, "{masks:?}");
        for header in &headers {
            assert!(rules.iter().any(|rule| rule.matches(header)), "{header:?}");
        }
    }

    /// The fields that a rule looks at, without their values.
    fn mask_of(rule: Rule) -> Vec<String> {
        let written = rule.to_match("in");
        let fields = written.as_object().unwrap().iter();
        fields
            .map(|(field, value)| {
                let text = value.as_str().unwrap_or_default();
                format!("{field}{}", text.split_once('/').map_or("", |(_, mask)| mask))
            })
            .collect()
    }

    #[test]
    fn a_seed_makes_one_set_and_no_two_rules_share_a_priority() {
        let headers: Vec<Header> = (0..100).map(replayed).collect();
        assert_eq!(rules(&headers, 1_000, 5), rules(&headers, 1_000, 5));
        assert_ne!(rules(&headers, 1_000, 5), rules(&headers, 1_000, 6));
        let priorities: BTreeSet<u16> =
            rules(&headers, 1_000, 5).iter().map(|rule| rule.priority).collect();
        assert_eq!(priorities.len(), 1_000);
    }
}
