use std::{collections::BTreeMap, sync::Arc};

use super::{Classification, Rule, RuleId, table::Table};
use crate::{DropReason, StageId, TableId, flow::FlowKey, program::Action, stage::Answer};

/// The rules of all tables. A value: versions share what they have in common, so that a copy costs
/// little, and a change costs what it changes.
#[derive(Debug, Clone, Default)]
pub struct Tables {
    tables: BTreeMap<TableId, Arc<Table>>,
    relevant: FlowKey,
}

/// Has the stage of a classification say what a packet with this key is. `None` if there is no
/// packet to look at.
pub type Ask<'a> = dyn FnMut(StageId, &FlowKey) -> Option<Answer> + 'a;

/// What the tables say of a key.
#[derive(Debug, Default)]
pub(crate) struct Resolution {
    /// What is to be done.
    pub(crate) actions: Vec<Action>,
    /// The rules that said so.
    pub(crate) rules: Vec<Arc<Rule>>,
    /// The bits that were looked at: it is the same for all keys that agree in them.
    pub(crate) seen: FlowKey,
    /// Whether it rests on an answer that is not to be kept.
    pub(crate) makeshift: bool,
    /// Whether the metadata that rules look at are a classifier's and not the packet's.
    classified: bool,
    /// What a classifier said, if the packet was not told yet.
    untold: Option<u64>,
    /// Whether a packet that ran the actions may have another key than was looked up.
    changed: bool,
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
            self.relevant = self.all_masks();
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
        if self.tables.get(&table).is_some_and(|known| known.is_bare()) {
            self.tables.remove(&table);
        }
    }

    /// Has a classifier, or none, say what packets are before the rules of a table are asked.
    pub fn set_classification(&mut self, table: TableId, classification: Option<Classification>) {
        let known = Arc::make_mut(self.tables.entry(table).or_default());
        known.set_classification(classification);
        self.drop_if_bare(table);
        self.relevant = self.all_masks();
    }

    fn sees_every_packet(&self, table: TableId) -> bool {
        self.classification(table).is_some_and(|it| it.payload)
    }

    /// What is asked of packets before the rules of a table are.
    #[must_use]
    pub fn classification(&self, table: TableId) -> Option<Classification> {
        self.tables.get(&table)?.classification()
    }

    /// A classifier may look at every bit.
    fn all_masks(&self) -> FlowKey {
        if self.tables.values().any(|table| table.classification().is_some()) {
            return FlowKey { table: 0, ..FlowKey::EXACT };
        }
        let masks = self.tables.values().flat_map(|table| table.masks());
        masks.fold(FlowKey::NONE, |all, mask| all.union(mask))
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

    /// What is to be done with the packets of a key, from a table on; `None` if a classifier would
    /// have to see one.
    ///
    /// A `Goto` is followed at once while the key is sure to be the packet's; behind an action that
    /// may change the packet it stays in the list, and the packet is looked up again then.
    pub(crate) fn resolve(
        &self,
        first: TableId,
        key: &FlowKey,
        ask: &mut Ask<'_>,
    ) -> Option<Resolution> {
        let (mut found, mut key) = (Resolution::default(), *key);
        let mut table = Some(first);
        while let Some(current) = table {
            if !self.classify(current, &mut key, &mut found, ask)? {
                break;
            }
            table = self.resolve_in(current, &key, &mut found);
        }
        Some(found)
    }

    /// Has the classifier of a table, if it has one, write into the key what the packet is. Returns
    /// whether the rules are to be asked. What must see every packet was asked before.
    fn classify(
        &self,
        table: TableId,
        key: &mut FlowKey,
        found: &mut Resolution,
        ask: &mut Ask<'_>,
    ) -> Option<bool> {
        let classification = self.classification(table).filter(|it| !it.payload);
        let Some(Classification { stage, .. }) = classification else { return Some(true) };
        let answer = ask(stage, key)?;
        found.seen |= &found.of_the_packet(&answer.seen);
        found.makeshift |= answer.makeshift;
        if let Some(reason) = answer.drop {
            found.actions.push(Action::Drop(reason));
            return Some(false);
        }
        key.metadata = answer.metadata;
        (found.classified, found.untold) = (true, Some(answer.metadata));
        Some(true)
    }

    /// What each table says of a key, from a table on, until the packet leaves, is dropped, or may
    /// have been changed, or a classifier would have to see it.
    #[must_use]
    pub fn explain(&self, first: TableId, key: &FlowKey, ask: &mut Ask<'_>) -> Vec<Step> {
        let (mut found, mut steps, mut key) = (Resolution::default(), Vec::new(), *key);
        let mut next = Some(first);
        while let Some(table) = next {
            let (rules, actions) = (found.rules.len(), found.actions.len());
            found.seen = FlowKey::NONE;
            next = match self.classify(table, &mut key, &mut found, ask) {
                Some(true) => self.resolve_in(table, &key, &mut found),
                Some(false) => None,
                None => break,
            };
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
        let mut seen = FlowKey::NONE;
        let rule = here.lookup(key, &mut seen);
        found.seen |= &found.of_the_packet(&seen);
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
                Action::Goto(next)
                    if next > table && !found.changed && !self.sees_every_packet(next) =>
                {
                    return Some(next);
                }
                _ => found.push(action),
            }
            if matches!(action, Action::Goto(_) | Action::Drop(_)) {
                return None;
            }
        }
        None
    }
}

impl Resolution {
    /// The bits that were looked at, without those that came from a classifier.
    fn of_the_packet(&self, seen: &FlowKey) -> FlowKey {
        let metadata = if self.classified { 0 } else { seen.metadata };
        FlowKey { metadata, ..*seen }
    }

    /// Adds a step. The packet is told what a classifier said before the first that may ask.
    fn push(&mut self, action: Action) {
        if action.reads_metadata()
            && let Some(value) = self.untold.take()
        {
            self.actions.push(Action::SetMetadata { value, mask: u64::MAX });
        }
        self.changed |= action.changes_key();
        self.actions.push(action);
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
        let nobody: &mut Ask<'_> = &mut |_, _| None;
        let found = tables.resolve(TableId(0), &key, nobody).unwrap();
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
