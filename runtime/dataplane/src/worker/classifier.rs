use std::{collections::HashMap, mem, sync::Arc};

use super::{Report, Settings, Tally, no_tables};
use crate::{
    TableId,
    classify::{RuleId, Tables},
    flow::{FlowCache, FlowKey, Seed},
    program::{Action, ProgramId, Programs},
};

/// The place of an [`Outcome`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OutcomeId(u32);

/// What the tables say of the flows whose packets take one way through them.
#[derive(Debug)]
struct Outcome {
    program: ProgramId,
    rules: Vec<RuleId>,
    tally: Tally,
}

/// Finds what is to be done with a key: by the flow cache, else by the tables.
#[derive(Debug)]
pub(super) struct Classifier {
    tables: Arc<Tables>,
    /// The last key that was looked up: packets of a flow often come in a row.
    last: Option<(FlowKey, OutcomeId)>,
    cache: FlowCache,
    seed: Seed,
    programs: Programs,
    outcomes: Vec<Outcome>,
    by_rules: HashMap<Vec<RuleId>, OutcomeId>,
    /// What rules counted before the tables last changed.
    counted: HashMap<RuleId, Tally>,
    hits: u64,
    misses: u64,
}

impl Classifier {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            tables: no_tables(),
            last: None,
            cache: FlowCache::new(settings.cache_entries, settings.seed),
            seed: settings.seed,
            programs: Programs::default(),
            outcomes: Vec::new(),
            by_rules: HashMap::new(),
            counted: HashMap::new(),
            hits: 0,
            misses: 0,
        }
    }

    /// What is to be done with a packet of `bytes` bytes, from a table on; counts it.
    #[inline]
    pub(super) fn classify(&mut self, table: TableId, key: &FlowKey, bytes: usize) -> ProgramId {
        let mut seen = key & self.tables.relevant();
        seen.table = table.0.into();
        let found = match self.last {
            Some((last, found)) if last == seen => {
                self.hits += 1;
                found
            }
            _ => self.look_up(table, key, seen),
        };
        let outcome = &mut self.outcomes[found.0 as usize];
        outcome.tally.add(bytes);
        outcome.program
    }

    fn look_up(&mut self, table: TableId, key: &FlowKey, seen: FlowKey) -> OutcomeId {
        let found = match self.cache.get(&seen) {
            Some(found) => {
                self.hits += 1;
                OutcomeId(found)
            }
            None => self.search(table, key, seen),
        };
        self.last = Some((seen, found));
        found
    }

    /// The slow way. It allocates, once for each way through the tables and each key in the cache.
    #[cold]
    fn search(&mut self, table: TableId, key: &FlowKey, seen: FlowKey) -> OutcomeId {
        self.misses += 1;
        let resolution = self.tables.resolve(table, key);
        let found = match self.by_rules.get(&resolution.rules) {
            Some(&known) => known,
            None => {
                let id = u32::try_from(self.outcomes.len()).expect("fewer outcomes than memory");
                let program = self.programs.intern(resolution.actions);
                let rules = resolution.rules.clone();
                self.outcomes.push(Outcome { program, rules, tally: Tally::default() });
                self.by_rules.insert(resolution.rules, OutcomeId(id));
                OutcomeId(id)
            }
        };
        self.cache.insert(seen, found.0);
        found
    }

    #[inline]
    pub(super) fn actions(&self, program: ProgramId) -> &[Action] {
        self.programs.actions(program)
    }

    pub(super) fn has(&self, table: TableId) -> bool {
        self.tables.has(table)
    }

    pub(super) fn seed(&self) -> Seed {
        self.seed
    }

    /// Takes up other tables and forgets what the old ones said, but not what was counted.
    pub(super) fn replace(&mut self, tables: &mut Arc<Tables>) {
        let mut counted = mem::take(&mut self.counted);
        for outcome in self.outcomes.drain(..) {
            count(&mut counted, &outcome);
        }
        mem::swap(&mut self.tables, tables);
        counted.retain(|&rule, _| self.tables.holds(rule));
        self.counted = counted;
        self.by_rules.clear();
        self.programs.clear();
        self.last = None;
        self.cache.clear();
    }

    pub(super) fn report(&self, report: &mut Report) {
        let before = self.counted.iter().map(|(rule, tally)| (*rule, *tally));
        report.rules.extend(before);
        for outcome in &self.outcomes {
            report.rules.extend(outcome.rules.iter().map(|rule| (*rule, outcome.tally)));
        }
        report.worker.programs = self.programs.len() as u64;
    }

    /// Lookups that the cache answered, and that it did not.
    pub(super) fn lookups(&self) -> (u64, u64) {
        (self.hits, self.misses)
    }
}

fn count(counted: &mut HashMap<RuleId, Tally>, outcome: &Outcome) {
    for rule in &outcome.rules {
        counted.entry(*rule).or_default().merge(outcome.tally);
    }
}
