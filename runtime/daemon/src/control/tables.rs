use std::collections::BTreeMap;

use api_model::{Code, FlowTable, TableNumber, TableSpec, TableStatus};
use dataplane::{
    TableId,
    classify::{Tables, Touched},
};

use super::{
    Daemon,
    refusal::{self, Answer},
    state::State,
};
use crate::compile;

impl Daemon {
    /// The tables that have rules, or of which something was said.
    pub(super) fn all_tables(&self) -> Vec<FlowTable> {
        let state = self.state();
        let mut rules: BTreeMap<TableNumber, usize> =
            state.misses.keys().map(|table| (*table, 0)).collect();
        state.rules.keys().for_each(|(table, _)| *rules.entry(*table).or_default() += 1);
        rules.into_iter().map(|(table, rules)| state.describe(table, rules)).collect()
    }

    pub(super) fn get_table(&self, table: TableNumber) -> FlowTable {
        let state = self.state();
        let rules = state.rules.keys().filter(|(of, _)| *of == table).count();
        state.describe(table, rules)
    }

    /// Says what becomes of packets that no rule of a table matches.
    pub(super) fn set_table(&self, table: TableNumber, spec: TableSpec) -> Answer<FlowTable> {
        let _changing = self.changing();
        let is_default = spec == TableSpec::default();
        let (mut tables, actions) = {
            let state = self.state();
            let actions = match is_default {
                true => Vec::new(),
                false => compile::actions(&spec.miss, &state.names()).map_err(|invalid| {
                    refusal::invalid(Code::TableInvalid, invalid.under("miss"))
                })?,
            };
            (Tables::clone(&state.tables), actions)
        };
        let classification = self.state().classification_of(&spec)?;
        tables.set_miss(TableId(table.get()), actions);
        tables.set_classification(TableId(table.get()), classification);
        self.publish_tables(tables, Touched::All, |state| {
            if is_default {
                state.misses.remove(&table);
            } else {
                state.misses.insert(table, spec);
            }
        })?;
        Ok(self.get_table(table))
    }
}

impl State {
    fn describe(&self, table: TableNumber, rules: usize) -> FlowTable {
        let masks = self.tables.masks(TableId(table.get()));
        let spec = self.misses.get(&table).cloned().unwrap_or_default();
        FlowTable { table, spec, status: TableStatus { rules, masks } }
    }
}
