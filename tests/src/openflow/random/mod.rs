//! Rules at random. Values come from the few that [`frame`](super::frame) knows too, so that rules
//! are hit.
//!
//! What the two systems are known to see in different ways is not drawn, here or by
//! [`Scope`](super::Scope):
//! - rules of one priority in one table, of which neither says which wins;
//! - a third VLAN tag, as Open vSwitch keeps two: only rules of the first table push one, and frames
//!   have fewer then;
//! - the protocol of IPv6's later fragments, which is that of the fragment header in Open vSwitch: a
//!   rule that asks for a protocol, and not for what lies behind, says that it means none of these;
//! - what is behind a label that is popped, if that is something else than the rule says: frames have
//!   IPv4 there, rules say so, and where any rule pops, they push labels only on that.

mod actions;
mod conditions;

use actions::{actions, needs_ip};
use conditions::{About, conditions};

use super::{
    chance::Chance,
    rule::{Action, Conditions, Rule},
};

const TABLES: [u8; 4] = [0, 1, 7, 200];

/// Where a rule stands, as far as its actions depend on that.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    table: u8,
    later: &'a [u8],
    /// Whether labels may be popped in this set.
    pops: bool,
}

/// The rules of one to four tables. One of the priority 0 stands for what its table does with what
/// it does not match.
#[must_use]
pub fn rules(chance: &mut Chance) -> Vec<Rule> {
    let tables = &TABLES[..=chance.below(TABLES.len())];
    let mut rules = Vec::new();
    let pops = chance.percent(50);
    for (number, &table) in tables.iter().enumerate() {
        let place = Place { table, later: &tables[number + 1..], pops };
        let count = 3 + chance.below(14);
        for priority in (2..).take(count) {
            rules.push(rule(chance, place, priority));
        }
        // What nothing else is about goes somewhere, most of the time.
        if chance.percent(80) {
            let actions = or_drop(actions(chance, About::Frames, place));
            let priority = chance.pick(&[0, 1]);
            rules.push(Rule { table, priority, conditions: Conditions::default(), actions });
        }
    }
    rules
}

fn rule(chance: &mut Chance, place: Place<'_>, priority: u16) -> Rule {
    let (about, conditions) = loop {
        let about = About::any(chance);
        let conditions = conditions(chance, about);
        // One about everything would leave nothing to those of lower priorities.
        if conditions != Conditions::default() {
            break (about, conditions);
        }
    };
    let known = match conditions.eth_type {
        Some(0x0800) => About::V4,
        Some(0x86dd) => About::V6,
        Some(0x0806) => About::Arp,
        Some(0x8847) => About::Mpls,
        _ => about,
    };
    let mut actions = actions(chance, known, place);
    if about == About::Frames && conditions.eth_type.is_some() {
        // Refused for what is not IP.
        actions.retain(|action| !needs_ip(*action));
    }
    Rule { table: place.table, priority, conditions, actions: or_drop(actions) }
}

fn or_drop(actions: Vec<Action>) -> Vec<Action> {
    if actions.is_empty() { vec![Action::Drop] } else { actions }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_seed_makes_one_set_without_equal_priorities_in_a_table() {
        for seed in 0..200 {
            let set = rules(&mut Chance::new(seed));
            assert_eq!(set, rules(&mut Chance::new(seed)));
            let places: BTreeSet<(u8, u16)> =
                set.iter().map(|rule| (rule.table, rule.priority)).collect();
            assert_eq!(places.len(), set.len());
        }
    }
}
