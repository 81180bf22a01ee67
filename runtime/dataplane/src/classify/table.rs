use std::sync::Arc;

use super::{
    Classification, Pattern, Rule,
    prefix::PrefixField,
    subtable::Subtable,
    trie::{Found, Trie},
};
use crate::{DropReason, flow::FlowKey, program::Action};

/// The bits that a lookup has looked at: keys that agree in them would have had the same answer.
pub(super) type Seen = FlowKey;

/// One table: what its rules say, and what becomes of the packets that none of them matches.
#[derive(Debug, Clone)]
pub(super) struct Table {
    classification: Option<Classification>,
    miss: Arc<[Action]>,
    /// By descending priority of their highest rule.
    subtables: Vec<Arc<Subtable>>,
    /// The prefixes of all patterns, by field.
    tries: [Trie; PrefixField::ALL.len()],
    rules: usize,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            classification: None,
            miss: Arc::new([Action::Drop(DropReason::TableMiss)]),
            subtables: Vec::new(),
            tries: Default::default(),
            rules: 0,
        }
    }
}

impl Table {
    pub(super) fn masks(&self) -> impl ExactSizeIterator<Item = &FlowKey> {
        self.subtables.iter().map(|subtable| subtable.bits())
    }

    pub(super) fn classification(&self) -> Option<Classification> {
        self.classification
    }

    pub(super) fn set_classification(&mut self, classification: Option<Classification>) {
        self.classification = classification;
    }

    /// Whether it is as a table that nothing was said of.
    pub(super) fn is_bare(&self) -> bool {
        self.rules == 0
            && self.classification.is_none()
            && *self.miss == [Action::Drop(DropReason::TableMiss)]
    }

    pub(super) fn miss(&self) -> &[Action] {
        &self.miss
    }

    pub(super) fn set_miss(&mut self, actions: Vec<Action>) {
        self.miss = actions.into();
    }

    /// Adds a rule. Returns whether it has a mask that no other had.
    pub(super) fn insert(&mut self, rule: &Arc<Rule>) -> bool {
        let before = self.subtables.len();
        for (place, pattern) in (0..).zip(&rule.patterns) {
            self.subtable(pattern.mask()).insert(rule, place);
            self.count_prefixes(pattern, Trie::insert);
        }
        self.rules += 1;
        self.sort();
        self.subtables.len() > before
    }

    /// Takes a rule away, which is there. Returns whether there is a mask less.
    pub(super) fn remove(&mut self, rule: &Rule) -> bool {
        let before = self.subtables.len();
        for pattern in &rule.patterns {
            self.subtable(pattern.mask()).remove(pattern.value(), rule);
            self.count_prefixes(pattern, Trie::remove);
        }
        self.rules -= 1;
        self.subtables.retain(|subtable| subtable.top().is_some());
        self.sort();
        self.subtables.len() < before
    }

    fn subtable(&mut self, bits: &FlowKey) -> &mut Subtable {
        let place = self.subtables.iter().position(|known| known.bits() == bits);
        let place = place.unwrap_or_else(|| {
            self.subtables.push(Arc::new(Subtable::new(bits)));
            self.subtables.len() - 1
        });
        Arc::make_mut(&mut self.subtables[place])
    }

    fn count_prefixes(&mut self, pattern: &Pattern, count: fn(&mut Trie, u128, u8)) {
        for (field, trie) in PrefixField::ALL.into_iter().zip(&mut self.tries) {
            if let Some(length) = field.length(pattern.mask()) {
                count(trie, field.of(pattern.value()), length);
            }
        }
    }

    fn sort(&mut self) {
        self.subtables.sort_by_key(|subtable| std::cmp::Reverse(subtable.top()));
    }

    /// The rule that wins, and which bits had to be looked at to know.
    pub(super) fn lookup(&self, key: &FlowKey, seen: &mut Seen) -> Option<&Arc<Rule>> {
        let mut prefixes = Prefixes { tries: &self.tries, found: Default::default() };
        let mut best: Option<&Arc<Rule>> = None;
        for subtable in &self.subtables {
            if best.is_some_and(|best| Some(best.priority) > subtable.top()) {
                break;
            }
            let found = subtable.lookup(key, &mut prefixes, seen);
            best = match (best, found) {
                (Some(best), Some(found)) if !found.beats(best) => Some(best),
                (best, found) => found.or(best),
            };
        }
        best
    }
}

/// Which prefixes a key has, each field asked for once in a lookup.
pub(super) struct Prefixes<'a> {
    tries: &'a [Trie; PrefixField::ALL.len()],
    found: [Option<Found>; PrefixField::ALL.len()],
}

impl Prefixes<'_> {
    pub(super) fn find(&mut self, field: PrefixField, key: &FlowKey) -> Found {
        let place = field as usize;
        *self.found[place].get_or_insert_with(|| self.tries[place].find(field.of(key)))
    }
}
