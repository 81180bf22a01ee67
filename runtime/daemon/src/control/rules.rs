use std::{ops::Bound, sync::Arc};

use api_model::{
    Code, Invalid, Name, Rule as Resource, RuleOperation, RuleQuery, RuleSpec, RuleStatus,
    RulesChanged, TableNumber,
};
use api_server::{ControlError, Kind, Put};
use dataplane::{
    SharedTally, TableId,
    classify::{Rule, Tables, Touched},
};

use super::{
    Daemon,
    kept::KeptSpec,
    refusal::{self, Answer},
    state::{RuleEntry, RuleKey, State},
};
use crate::{
    compile::{self, Names},
    plane::Change,
};

/// The most masks that the rules of one table may have: a lookup that no cache answers looks at each.
const MOST_MASKS: usize = 1024;

/// What a rule is to be; `None` for no more.
struct Wanted<'a> {
    key: RuleKey,
    spec: Option<&'a RuleSpec>,
}

/// A rule that becomes another, comes or goes.
struct Difference {
    key: RuleKey,
    old: Option<Arc<Rule>>,
    new: Option<RuleEntry>,
}

impl Daemon {
    /// The rules of a table behind a name, as many as are asked for.
    pub(super) fn list_rules(&self, table: TableNumber, query: &RuleQuery) -> Vec<Resource> {
        let state = self.state();
        let start = match &query.cursor {
            Some(cursor) => Bound::Excluded((table, cursor.clone())),
            None => Bound::Included((table, "0".parse().expect("no name is before this one"))),
        };
        let behind = state.rules.range((start, Bound::Unbounded));
        let here = behind.take_while(|((of, _), _)| *of == table);
        let limit = query.limit.unwrap_or(usize::MAX);
        here.take(limit).map(|((_, name), rule)| describe(name, rule)).collect()
    }

    pub(super) fn get_rule(&self, table: TableNumber, name: &Name) -> Answer<Resource> {
        let state = self.state();
        let rule = state.rules.get(&(table, name.clone())).ok_or_else(|| missing(table, name))?;
        Ok(describe(name, rule))
    }

    /// Adds a rule, or changes one, which keeps its counters.
    pub(super) fn add_rule(
        &self,
        table: TableNumber,
        name: &Name,
        spec: &RuleSpec,
    ) -> Answer<Put<Resource>> {
        let _changing = self.changing();
        let wanted = Wanted { key: (table, name.clone()), spec: Some(spec) };
        let changed = self.make([wanted]).map_err(|(_, refused)| refused)?;
        let resource = self.get_rule(table, name)?;
        Ok(if changed.created > 0 { Put::Created(resource) } else { Put::Replaced(resource) })
    }

    pub(super) fn remove_rule(&self, table: TableNumber, name: &Name) -> Answer<()> {
        let _changing = self.changing();
        let wanted = Wanted { key: (table, name.clone()), spec: None };
        self.make([wanted]).map_err(|(_, refused)| refused)?;
        Ok(())
    }

    /// Makes all changes or none, as one revision.
    pub(super) fn make_batch(&self, operations: &[RuleOperation]) -> Answer<RulesChanged> {
        let _changing = self.changing();
        let wanted = operations.iter().map(|operation| {
            let (table, name) = operation.rule();
            let spec = match operation {
                RuleOperation::Put(rule) => Some(&rule.spec),
                RuleOperation::Delete(_) => None,
            };
            Wanted { key: (table, name.clone()), spec }
        });
        self.make(wanted).map_err(|(place, refused)| match place {
            Some(place) => in_batch(place, &operations[place], refused),
            None => refused,
        })
    }

    /// Makes all rules or none. A refusal says which rule it is about, if it is about one.
    pub(crate) fn make_rules(
        &self,
        rules: &[(RuleKey, &RuleSpec)],
    ) -> Result<RulesChanged, (Option<RuleKey>, ControlError)> {
        let _changing = self.changing();
        let wanted = rules.iter().map(|(key, spec)| Wanted { key: key.clone(), spec: Some(spec) });
        self.make(wanted)
            .map_err(|(place, refused)| (place.map(|place| rules[place].0.clone()), refused))
    }

    /// Makes all changes or none; a refusal says which change it is about.
    fn make<'a>(
        &self,
        wanted: impl IntoIterator<Item = Wanted<'a>>,
    ) -> Result<RulesChanged, (Option<usize>, ControlError)> {
        let mut changed = RulesChanged::default();
        let differences = self.differences(wanted, &mut changed)?;
        let mut tables = Tables::clone(&self.state().tables);
        for difference in &differences {
            difference.apply(&mut tables);
        }
        let mut table = differences.iter().map(|difference| difference.key.0);
        if let Some(full) = table.find(|table| tables.masks(TableId(table.get())) > MOST_MASKS) {
            return Err((None, too_many_masks(full)));
        }
        if !differences.is_empty() {
            let touched = Touched::by(differences.iter().flat_map(Difference::patterns));
            self.publish_tables(tables, touched, |state| {
                differences.into_iter().for_each(|difference| state.write_down(difference));
            })
            .map_err(|refused| (None, refused))?;
        }
        tracing::info!(?changed, "rules");
        changed.revision = self.state().revision;
        Ok(changed)
    }

    /// What differs between the rules that are wanted and those that are there.
    fn differences<'a>(
        &self,
        wanted: impl IntoIterator<Item = Wanted<'a>>,
        changed: &mut RulesChanged,
    ) -> Result<Vec<Difference>, (Option<usize>, ControlError)> {
        let mut state = self.state();
        let names = state.names();
        let mut differences = Vec::new();
        for (place, Wanted { key, spec }) in wanted.into_iter().enumerate() {
            let known = state.rules.get(&key);
            let old = known.map(|known| Arc::clone(&known.rule));
            let kept = spec.map(KeptSpec::new);
            let counter = match (known, &kept) {
                (None, None) => return Err((Some(place), missing(key.0, &key.1))),
                (Some(known), Some(kept)) if known.spec == *kept => {
                    changed.unchanged += 1;
                    continue;
                }
                (Some(_), None) => &mut changed.deleted,
                (Some(_), Some(_)) => &mut changed.replaced,
                (None, Some(_)) => &mut changed.created,
            };
            *counter += 1;
            let new = match spec.zip(kept) {
                None => None,
                Some((spec, kept)) => {
                    let rule = self.compile(&mut state, old.as_deref(), spec, &names);
                    let rule = rule.map_err(|invalid| {
                        (Some(place), refusal::invalid(Code::RuleInvalid, invalid))
                    })?;
                    Some(RuleEntry { spec: kept, rule: Arc::new(rule) })
                }
            };
            differences.push(Difference { key, old, new });
        }
        Ok(differences)
    }

    /// The engine's form of a rule, which goes on as the one before it did.
    fn compile(
        &self,
        state: &mut State,
        old: Option<&Rule>,
        spec: &RuleSpec,
        names: &Names,
    ) -> Result<Rule, Invalid> {
        let (id, counted) = match old {
            Some(old) => (old.id, Arc::clone(&old.counted)),
            None => (state.ids.rule(), Arc::new(SharedTally::new(self.plane.len()))),
        };
        compile::rule(id, counted, spec, names)
    }

    /// Has the workers take up other tables, and writes down what they are made of.
    pub(super) fn publish_tables(
        &self,
        tables: Tables,
        touched: Touched,
        write_down: impl FnOnce(&mut State),
    ) -> Answer<()> {
        let (tables, touched) = (Arc::new(tables), Arc::new(touched));
        self.publish(|_| vec![Change::Rules(Arc::clone(&tables), Arc::clone(&touched))])?;
        let mut state = self.state();
        state.tables = tables;
        write_down(&mut state);
        Ok(())
    }
}

impl Difference {
    fn apply(&self, tables: &mut Tables) {
        let table = TableId(self.key.0.get());
        if let Some(old) = &self.old {
            tables.remove(table, old);
        }
        if let Some(new) = &self.new {
            tables.insert(table, &new.rule);
        }
    }

    /// What the rule was about, and what it will be about.
    fn patterns(&self) -> impl Iterator<Item = &dataplane::classify::Pattern> {
        let new = self.new.as_ref().map(|entry| &entry.rule);
        self.old.iter().chain(new).flat_map(|rule| &rule.patterns)
    }
}

impl State {
    fn write_down(&mut self, Difference { key, old, new }: Difference) {
        match (new, old) {
            (Some(entry), _) => {
                self.rule_keys.insert(entry.rule.id, key.clone());
                self.rules.insert(key, entry);
            }
            (None, Some(old)) => {
                self.rule_keys.remove(&old.id);
                self.rules.remove(&key);
            }
            (None, None) => {}
        }
    }
}

/// A refusal of one operation, as it is said of the batch.
fn in_batch(place: usize, operation: &RuleOperation, refused: ControlError) -> ControlError {
    match refused {
        ControlError::Invalid { code, invalid } => {
            refusal::invalid(code, operation.invalid(place, invalid))
        }
        ControlError::NotFound { .. } => {
            let invalid = Invalid::at(&[], refused.to_string());
            refusal::invalid(Code::RuleNotFound, operation.invalid(place, invalid))
        }
        other => other,
    }
}

fn missing(table: TableNumber, name: &Name) -> ControlError {
    ControlError::not_found(Kind::Rule, format!("{name} in table {table}"))
}

fn too_many_masks(table: TableNumber) -> ControlError {
    let detail = format!(
        "the rules of table {table} would have more than {MOST_MASKS} different masks; let rules \
         match by the same fields and prefix lengths, or spread them over tables"
    );
    ControlError::LimitExceeded { detail }
}

fn describe(name: &Name, entry: &RuleEntry) -> Resource {
    let tally = entry.rule.counted.total();
    Resource {
        name: name.clone(),
        spec: entry.spec.read(),
        status: RuleStatus { packets: tally.packets, bytes: tally.bytes },
    }
}
