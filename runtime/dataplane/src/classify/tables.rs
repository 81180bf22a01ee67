use std::{collections::BTreeMap, sync::Arc};

use super::{Rule, RuleId, table::Table};
use crate::{DropReason, TableId, flow::FlowKey, program::Action};

/// The rules of all tables. A value: versions share what they have in common, so that a copy costs
/// little, and a change costs what it changes.
#[derive(Debug, Clone, Default)]
pub struct Tables {
    tables: BTreeMap<TableId, Arc<Table>>,
    relevant: FlowKey,
}

/// What the tables say of a key.
#[derive(Debug, Default)]
pub(crate) struct Resolution {
    /// What is to be done.
    pub(crate) actions: Vec<Action>,
    /// The rules that said so.
    pub(crate) rules: Vec<Arc<Rule>>,
    /// The bits that were looked at: it is the same for all keys that agree in them.
    pub(crate) seen: FlowKey,
}

/// What one table says of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The table.
    pub table: TableId,
    /// The rule that won, and its priority; `None` if no rule matches.
    pub rule: Option<(RuleId, u16)>,
    /// What is done then.
    pub actions: Vec<Action>,
    /// The table that is asked next.
    pub next: Option<TableId>,
    /// The bits that were looked at to know.
    pub seen: FlowKey,
}

impl Tables {
    /// The tables that these rules make, no two of which have one id.
    #[must_use]
    pub fn new(rules: impl IntoIterator<Item = (TableId, Rule)>) -> Self {
        let mut tables = Self::default();
        for (table, rule) in rules {
            tables.insert(table, &Arc::new(rule));
        }
        tables
    }

    /// Adds a rule whose id no other has.
    pub fn insert(&mut self, table: TableId, rule: &Arc<Rule>) {
        if Arc::make_mut(self.tables.entry(table).or_default()).insert(rule) {
            rule.patterns.iter().for_each(|pattern| self.relevant |= pattern.mask());
        }
    }

    /// Takes away a rule that is there.
    pub fn remove(&mut self, table: TableId, rule: &Rule) {
        let Some(known) = self.tables.get_mut(&table) else { return };
        if Arc::make_mut(known).remove(rule) {
            let masks = self.tables.values().flat_map(|table| table.masks());
            self.relevant = masks.fold(FlowKey::NONE, |all, mask| all.union(mask));
        }
        self.drop_if_bare(table);
    }

    /// Says what becomes of the packets that no rule of a table matches; without actions, they are
    /// dropped as they are where nothing was said.
    pub fn set_miss(&mut self, table: TableId, actions: Vec<Action>) {
        let actions = if actions.is_empty() { Table::default().miss().to_vec() } else { actions };
        Arc::make_mut(self.tables.entry(table).or_default()).set_miss(actions);
        self.drop_if_bare(table);
    }

    fn drop_if_bare(&mut self, table: TableId) {
        let bare =
            |known: &Arc<Table>| known.rules() == 0 && known.miss() == Table::default().miss();
        if self.tables.get(&table).is_some_and(bare) {
            self.tables.remove(&table);
        }
    }

    /// The bits that any rule looks at: keys that agree in them have one resolution.
    #[inline]
    pub(crate) fn relevant(&self) -> &FlowKey {
        &self.relevant
    }

    /// Whether there is anything in a table.
    #[must_use]
    pub fn has(&self, table: TableId) -> bool {
        self.tables.contains_key(&table)
    }

    /// Whether there is anything in the same tables as of another version.
    pub(crate) fn has_those_of(&self, other: &Self) -> bool {
        self.tables.keys().eq(other.tables.keys())
    }

    /// How many masks the rules of a table have.
    #[must_use]
    pub fn masks(&self, table: TableId) -> usize {
        self.tables.get(&table).map_or(0, |table| table.masks().len())
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

    /// What each table says of a key, from a table on, until the packet leaves, is dropped, or may
    /// have been changed.
    #[must_use]
    pub fn explain(&self, first: TableId, key: &FlowKey) -> Vec<Step> {
        let (mut found, mut steps) = (Resolution::default(), Vec::new());
        let mut next = Some(first);
        while let Some(table) = next {
            let (rules, actions) = (found.rules.len(), found.actions.len());
            found.seen = FlowKey::NONE;
            next = self.resolve_in(table, key, &mut found);
            steps.push(Step {
                table,
                rule: found.rules.get(rules).map(|rule| (rule.id, rule.priority)),
                actions: found.actions[actions..].to_vec(),
                next,
                seen: found.seen,
            });
        }
        steps
    }

    /// Adds what one table says. Returns the table that is to be asked next.
    fn resolve_in(&self, table: TableId, key: &FlowKey, found: &mut Resolution) -> Option<TableId> {
        let Some(here) = self.tables.get(&table) else {
            found.actions.push(Action::Drop(DropReason::TableMiss));
            return None;
        };
        let rule = here.lookup(key, &mut found.seen);
        let actions = rule.map_or(here.miss(), |rule| &rule.actions);
        found.rules.extend(rule.cloned());
        if actions.is_empty() {
            found.actions.push(Action::Drop(DropReason::RuleDrop));
        }
        for &action in actions {
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

impl Resolution {
    /// Whether a packet that ran the actions still has the key that was looked up.
    fn knows_the_key(&self) -> bool {
        !self.actions.iter().any(|action| action.changes_key())
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PortId, SharedTally, StageId, classify::Pattern};

    const OUT: Action = Action::Output(PortId(9));

    fn rule(id: u64, priority: u16, in_port: Option<u16>, actions: &[Action]) -> Rule {
        let value = FlowKey { in_port: in_port.unwrap_or(0), ..FlowKey::default() };
        let mask = FlowKey { in_port: in_port.map_or(0, |_| u16::MAX), ..FlowKey::default() };
        let pattern = Pattern::new(&value, &mask);
        Rule {
            id: RuleId(id),
            priority,
            patterns: vec![pattern],
            actions: actions.to_vec(),
            counted: Arc::new(SharedTally::new(1)),
        }
    }

    fn resolve(tables: &Tables, in_port: u16) -> (Vec<Action>, Vec<u64>) {
        let key = FlowKey { in_port, ..FlowKey::default() };
        let found = tables.resolve(TableId(0), &key);
        (found.actions, found.rules.iter().map(|rule| rule.id.0).collect())
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
