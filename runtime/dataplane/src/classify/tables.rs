use std::collections::{BTreeMap, HashSet};

use super::{Rule, RuleId};
use crate::{DropReason, TableId, flow::FlowKey, program::Action};

/// The rules of all tables. A value: a change makes a new one.
#[derive(Debug, Default)]
pub struct Tables {
    /// By descending priority; rules of one priority in the order in which they were given.
    tables: BTreeMap<TableId, Vec<Rule>>,
    relevant: FlowKey,
    ids: HashSet<RuleId>,
}

/// What the tables say of a key.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Resolution {
    /// What is to be done.
    pub(crate) actions: Vec<Action>,
    /// The rules that said so.
    pub(crate) rules: Vec<RuleId>,
}

impl Resolution {
    /// Whether a packet that ran the actions still has the key that was looked up.
    fn knows_the_key(&self) -> bool {
        !self.actions.iter().any(|action| action.changes_key())
    }
}

impl Tables {
    /// Puts rules in the order in which they are searched. No two of them have one id.
    #[must_use]
    pub fn new(rules: impl IntoIterator<Item = (TableId, Rule)>) -> Self {
        let mut found = Self::default();
        for (table, rule) in rules {
            found.relevant = found.relevant.union(rule.pattern.mask());
            found.ids.insert(rule.id);
            found.tables.entry(table).or_default().push(rule);
        }
        for rules in found.tables.values_mut() {
            rules.sort_by_key(|rule| std::cmp::Reverse(rule.priority));
        }
        found
    }

    /// The bits that any rule looks at: keys that agree in them have one resolution.
    #[inline]
    pub(crate) fn relevant(&self) -> &FlowKey {
        &self.relevant
    }

    /// Whether a table has rules.
    pub(crate) fn has(&self, table: TableId) -> bool {
        self.tables.contains_key(&table)
    }

    /// Whether a rule is in some table.
    pub(crate) fn holds(&self, id: RuleId) -> bool {
        self.ids.contains(&id)
    }

    /// The rule that wins in a table.
    fn lookup(&self, table: TableId, key: &FlowKey) -> Option<&Rule> {
        self.tables.get(&table)?.iter().find(|rule| rule.pattern.matches(key))
    }

    /// What is to be done with the packets of a key, from a table on.
    ///
    /// A `Goto` is followed at once while the key is sure to be the packet's; behind an action that
    /// may change the packet it stays in the list, and the packet is looked up again then.
    pub(crate) fn resolve(&self, first: TableId, key: &FlowKey) -> Resolution {
        let mut found = Resolution::default();
        let mut table = Some(first);
        while let Some(current) = table {
            table = self.resolve_in(current, key, &mut found);
        }
        found
    }

    /// Adds what one table says. Returns the table that is to be asked next.
    fn resolve_in(&self, table: TableId, key: &FlowKey, found: &mut Resolution) -> Option<TableId> {
        let Some(rule) = self.lookup(table, key) else {
            found.actions.push(Action::Drop(DropReason::TableMiss));
            return None;
        };
        found.rules.push(rule.id);
        if rule.actions.is_empty() {
            found.actions.push(Action::Drop(DropReason::RuleDrop));
        }
        for &action in &rule.actions {
            match action {
                Action::Goto(next) if !self.has(next) => {
                    found.actions.push(Action::Drop(DropReason::NoSuchTable));
                    return None;
                }
                // Only forward, so that this ends (OpenFlow 1.3.5, 5.4).
                Action::Goto(next) if next > table && found.knows_the_key() => return Some(next),
                _ => found.actions.push(action),
            }
            if matches!(action, Action::Goto(_) | Action::Drop(_)) {
                return None;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PortId, StageId, classify::Pattern};

    const OUT: Action = Action::Output(PortId(9));

    fn rule(id: u64, priority: u16, in_port: Option<u16>, actions: &[Action]) -> Rule {
        let value = FlowKey { in_port: in_port.unwrap_or(0), ..FlowKey::default() };
        let mask = FlowKey { in_port: in_port.map_or(0, |_| u16::MAX), ..FlowKey::default() };
        let pattern = Pattern::new(&value, &mask);
        Rule { id: RuleId(id), priority, pattern, actions: actions.to_vec() }
    }

    fn resolve(tables: &Tables, in_port: u16) -> (Vec<Action>, Vec<u64>) {
        let key = FlowKey { in_port, ..FlowKey::default() };
        let found = tables.resolve(TableId(0), &key);
        (found.actions, found.rules.iter().map(|id| id.0).collect())
    }

    #[test]
    fn the_highest_priority_wins_and_then_the_first() {
        let tables = Tables::new([
            (TableId(0), rule(1, 1, None, &[])),
            (TableId(0), rule(2, 7, Some(4), &[OUT])),
            (TableId(0), rule(3, 7, None, &[Action::DecrementTtl, OUT])),
        ]);
        assert_eq!(resolve(&tables, 4), (vec![OUT], vec![2]));
        assert_eq!(resolve(&tables, 5), (vec![Action::DecrementTtl, OUT], vec![3]));
    }

    #[test]
    fn a_miss_and_an_empty_list_drop_for_their_own_reasons() {
        let tables = Tables::new([(TableId(0), rule(1, 1, Some(1), &[]))]);
        assert_eq!(resolve(&tables, 1), (vec![Action::Drop(DropReason::RuleDrop)], vec![1]));
        assert_eq!(resolve(&tables, 2), (vec![Action::Drop(DropReason::TableMiss)], vec![]));
    }

    #[test]
    fn a_goto_is_followed_unless_the_packet_may_have_changed() {
        let goto = Action::Goto(TableId(3));
        let stage = Action::Stage(StageId(0));
        let tables = Tables::new([
            (TableId(0), rule(1, 1, Some(1), &[OUT, goto])),
            (TableId(0), rule(2, 1, Some(2), &[stage, goto])),
            (TableId(3), rule(3, 1, None, &[OUT])),
        ]);
        assert_eq!(resolve(&tables, 1), (vec![OUT, OUT], vec![1, 3]));
        assert_eq!(resolve(&tables, 2), (vec![stage, goto], vec![2]));
    }

    #[test]
    fn what_stands_behind_a_goto_or_a_drop_is_never_done() {
        let goto = Action::Goto(TableId(1));
        let drop = Action::Drop(DropReason::RuleDrop);
        let tables = Tables::new([
            (TableId(0), rule(1, 1, Some(1), &[goto, OUT])),
            (TableId(0), rule(2, 1, Some(2), &[drop, goto])),
            (TableId(1), rule(3, 1, None, &[Action::PopVlan])),
        ]);
        assert_eq!(resolve(&tables, 1), (vec![Action::PopVlan], vec![1, 3]));
        assert_eq!(resolve(&tables, 2), (vec![drop], vec![2]));
    }

    #[test]
    fn a_goto_to_a_table_without_rules_is_a_drop_whatever_stands_before() {
        let goto = Action::Goto(TableId(7));
        let tables = Tables::new([
            (TableId(0), rule(1, 1, Some(1), &[goto])),
            (TableId(0), rule(2, 1, Some(2), &[Action::PopVlan, goto])),
        ]);
        let nowhere = Action::Drop(DropReason::NoSuchTable);
        assert_eq!(resolve(&tables, 1), (vec![nowhere], vec![1]));
        assert_eq!(resolve(&tables, 2), (vec![Action::PopVlan, nowhere], vec![2]));
    }

    #[test]
    fn a_goto_backwards_ends_the_resolution() {
        let back = Action::Goto(TableId(0));
        let tables = Tables::new([
            (TableId(0), rule(1, 1, None, &[Action::Goto(TableId(1))])),
            (TableId(1), rule(2, 1, None, &[back])),
        ]);
        assert_eq!(resolve(&tables, 1), (vec![back], vec![1, 2]));
    }
}
