//! Traffic made from rules, so that every packet hits one.

use std::{collections::HashSet, iter};

use super::{Header, Protocol, rule::Rule};
use crate::dice::Dice;

/// Where half of the packets lie: the rules that are drawn most, as a share of all.
const HOT: f64 = 0.05;
/// Drawn in vain for a distinct flow, as often as flows are wanted.
const PATIENCE: usize = 20;

/// Distinct flows of which each is of a rule that was drawn by a Pareto distribution: half are of a
/// twentieth of the rules. There are fewer than asked for if the rules leave too little choice.
pub(super) fn headers(rules: &[Rule], count: usize, seed: u64) -> Vec<Header> {
    let mut dice = Dice::new(seed);
    let order = shuffled(rules.len(), &mut dice);
    let drawn =
        iter::repeat_with(|| header(&rules[order[rank(rules.len(), &mut dice)]], &mut dice));
    let mut seen = HashSet::with_capacity(count);
    drawn
        .take(count.saturating_mul(PATIENCE))
        .filter(|header| seen.insert(*header))
        .take(count)
        .collect()
}

fn shuffled(count: usize, dice: &mut Dice) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, dice.below(last + 1));
    }
    order
}

/// A place in the order of popularity, by a Pareto distribution of shape 1 that is cut at the end.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number is cut to a whole one"
)]
fn rank(count: usize, dice: &mut Dice) -> usize {
    let scale = (count as f64 * HOT).max(1.0);
    loop {
        let rank = (scale / (1.0 - dice.fraction()) - scale) as usize;
        if rank < count {
            return rank;
        }
    }
}

/// A flow of a rule: what the rule leaves open is random.
fn header(rule: &Rule, dice: &mut Dice) -> Header {
    let open = [Protocol::Tcp, Protocol::Udp, Protocol::Icmp];
    let protocol = rule.protocol.unwrap_or_else(|| *dice.pick(&open));
    let (source, destination) = (dice.word(), dice.word());
    let (source_port, destination_port) = (dice.half_word(), dice.half_word());
    let port = |port| if protocol.has_ports() { port } else { 0 };
    Header {
        source: rule.source.address(source),
        destination: rule.destination.address(destination),
        protocol,
        source_port: port(rule.source_ports.port(source_port)),
        destination_port: port(rule.destination_ports.port(destination_port)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::class_bench::{self, Flavour};

    #[test]
    fn every_packet_hits_a_rule_and_one_seed_makes_one_trace() {
        for flavour in [Flavour::AccessList, Flavour::Firewall, Flavour::IpChain] {
            let rules = class_bench::rules(flavour, 1_000, 2);
            let trace = headers(&rules, 2_000, 9);
            assert_eq!(trace.len(), 2_000);
            assert_eq!(trace, headers(&rules, 2_000, 9));
            for header in &trace {
                assert!(rules.iter().any(|rule| rule.matches(header)), "{header:?}");
            }
        }
    }

    #[test]
    fn half_of_the_draws_are_of_a_twentieth_of_the_rules() {
        let mut dice = Dice::new(1);
        let hot = (0..100_000).filter(|_| rank(1_000, &mut dice) < 50).count();
        assert!((51_000..54_000).contains(&hot), "{hot}: half, and what would be beyond the end");
    }

    #[test]
    fn there_are_no_more_flows_than_the_rules_leave_open() {
        let one = Rule {
            protocol: Some(Protocol::Icmp),
            source: super::super::rule::Prefix::of([10, 0, 0, 0].into(), 31),
            destination: super::super::rule::Prefix::of([10, 0, 0, 0].into(), 32),
            ..Rule::ANY
        };
        assert_eq!(headers(&[one], 100, 1).len(), 2);
    }
}
