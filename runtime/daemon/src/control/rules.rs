use std::sync::Arc;

use api_model::{Code, Name, Rule as Resource, RuleSpec, RuleStatus, Table, TableNumber};
use api_server::{ControlError, Kind, Put};
use dataplane::{classify::RuleId, worker::Tally};

use super::{
    Daemon,
    refusal::{self, Answer},
    state::{RuleEntry, Rules, tables},
};
use crate::{compile, plane::Change};

impl Daemon {
    /// The tables that have rules.
    pub(super) fn list_tables(&self) -> Vec<Table> {
        let mut tables: Vec<Table> = Vec::new();
        for (table, _) in self.state().rules.keys() {
            match tables.last_mut() {
                Some(last) if last.table == *table => last.rules += 1,
                _ => tables.push(Table { table: *table, rules: 1 }),
            }
        }
        tables
    }

    pub(super) fn list_rules(&self, table: TableNumber) -> Answer<Vec<Resource>> {
        let counted = self.rule_counters().map_err(refusal::stalled)?;
        let state = self.state();
        let here = state.rules.iter().filter(|((of, _), _)| *of == table);
        Ok(here.map(|((_, name), rule)| describe(name, rule, &counted)).collect())
    }

    pub(super) fn get_rule(&self, table: TableNumber, name: &Name) -> Answer<Resource> {
        let counted = self.rule_counters().map_err(refusal::stalled)?;
        let state = self.state();
        let rule = state.rules.get(&(table, name.clone())).ok_or_else(|| missing(table, name))?;
        Ok(describe(name, rule, &counted))
    }

    /// Adds a rule, or changes one, which keeps its counters.
    pub(super) fn add_rule(
        &self,
        table: TableNumber,
        name: &Name,
        spec: RuleSpec,
    ) -> Answer<Put<Resource>> {
        let _changing = self.changing();
        let key = (table, name.clone());
        let (mut rules, known, id) = {
            let mut state = self.state();
            let known = state.rules.get(&key).cloned();
            let id = known.as_ref().map_or_else(|| state.ids.rule(), |known| known.id);
            compile::rule(id, &spec, &state.names())
                .map_err(|error| refusal::invalid(Code::RuleInvalid, error))?;
            (state.rules.clone(), known, id)
        };
        if known.as_ref().is_none_or(|known| known.spec != spec) {
            rules.insert(key, RuleEntry { spec, id });
            self.publish_rules(rules)?;
            tracing::info!(rule = %name, %table, "in service");
        }
        let resource = self.get_rule(table, name)?;
        Ok(if known.is_none() { Put::Created(resource) } else { Put::Replaced(resource) })
    }

    pub(super) fn remove_rule(&self, table: TableNumber, name: &Name) -> Answer<()> {
        let _changing = self.changing();
        let mut rules = self.state().rules.clone();
        rules.remove(&(table, name.clone())).ok_or_else(|| missing(table, name))?;
        self.publish_rules(rules)?;
        tracing::info!(rule = %name, %table, "deleted");
        Ok(())
    }

    fn publish_rules(&self, rules: Rules) -> Answer<()> {
        let names = self.state().names();
        let tables = Arc::new(tables(&rules, &names));
        self.publish(|_| vec![Change::Tables(Arc::clone(&tables))])?;
        self.state().rules = rules;
        Ok(())
    }
}

fn missing(table: TableNumber, name: &Name) -> ControlError {
    ControlError::not_found(Kind::Rule, format!("{name} in table {table}"))
}

fn describe(name: &Name, rule: &RuleEntry, counted: &[(RuleId, Tally)]) -> Resource {
    let tally = super::statistics::tally_of(rule.id, counted);
    Resource {
        name: name.clone(),
        spec: rule.spec.clone(),
        status: RuleStatus { packets: tally.packets, bytes: tally.bytes },
    }
}
