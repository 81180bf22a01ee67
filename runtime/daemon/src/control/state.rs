//! What was asked for, and what runs for it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use api_model::{Name, PortSpec, RuleSpec, StageSpec, TableNumber};
use dataplane::{
    PortId, StageId, TableId,
    classify::{RuleId, Tables},
};
use wasm::{Module, StageStats, StageTotals};

use crate::{
    compile::{self, Names},
    reasons::Reasons,
};

/// The configuration that the workers run.
#[derive(Default)]
pub(super) struct State {
    pub(super) revision: u64,
    pub(super) ports: BTreeMap<Name, PortEntry>,
    pub(super) modules: BTreeMap<Name, Arc<Module>>,
    pub(super) stages: BTreeMap<Name, StageEntry>,
    pub(super) rules: Rules,
    pub(super) reasons: Reasons,
    pub(super) ids: Ids,
}

/// A port and its device.
pub(super) struct PortEntry {
    pub(super) spec: PortSpec,
    pub(super) id: PortId,
    /// Which worker polls it.
    pub(super) worker: u16,
    /// Gone while it is being detached.
    pub(super) device: Arc<Mutex<Option<dpdk::Port>>>,
}

impl PortEntry {
    /// What the device itself has counted.
    pub(super) fn device_stats(&self) -> Option<dpdk::PortStats> {
        let device = self.device.lock().unwrap_or_else(PoisonError::into_inner);
        device.as_ref().and_then(|device| device.stats().ok())
    }
}

/// A stage and the deployment that runs for it.
pub(super) struct StageEntry {
    pub(super) spec: StageSpec,
    pub(super) id: StageId,
    pub(super) module: Arc<Module>,
    /// How many deployments there have been, this one included.
    pub(super) generation: u64,
    /// What the deployments before counted.
    pub(super) before: StageTotals,
    pub(super) stats: Arc<StageStats>,
}

impl StageEntry {
    /// What all deployments have counted.
    pub(super) fn totals(&self) -> StageTotals {
        let mut totals = self.before.clone();
        totals.add(&self.stats.totals());
        totals
    }
}

/// A rule, and the number that its counters have.
#[derive(Clone)]
pub(super) struct RuleEntry {
    pub(super) spec: RuleSpec,
    pub(super) id: RuleId,
}

/// The next numbers. Numbers are not used again.
#[derive(Default)]
pub(super) struct Ids {
    ports: u16,
    stages: u16,
    rules: u64,
}

impl Ids {
    /// `None` if all are used up.
    pub(super) fn port(&mut self) -> Option<PortId> {
        let id = self.ports;
        self.ports = id.checked_add(1)?;
        Some(PortId(id))
    }

    /// `None` if all are used up.
    pub(super) fn stage(&mut self) -> Option<StageId> {
        let id = self.stages;
        self.stages = id.checked_add(1)?;
        Some(StageId(id))
    }

    pub(super) fn rule(&mut self) -> RuleId {
        self.rules += 1;
        RuleId(self.rules)
    }
}

/// The rules, by table and name.
pub(super) type Rules = BTreeMap<(TableNumber, Name), RuleEntry>;

/// The engine's form of rules whose names are all known.
pub(super) fn tables(rules: &Rules, names: &Names) -> Tables {
    Tables::new(rules.iter().map(|((table, _), rule)| {
        let compiled =
            compile::rule(rule.id, &rule.spec, names).expect("what a rule names cannot be deleted");
        (TableId(table.get()), compiled)
    }))
}

impl State {
    /// What the names in rules stand for.
    pub(super) fn names(&self) -> Names {
        Names {
            ports: self.ports.iter().map(|(name, port)| (name.clone(), port.id)).collect(),
            stages: self.stages.iter().map(|(name, stage)| (name.clone(), stage.id)).collect(),
        }
    }

    /// The rules that a predicate holds for, as clients know them.
    pub(super) fn rules_that(&self, holds: impl Fn(&RuleSpec) -> bool) -> Vec<String> {
        let found = self.rules.iter().filter(|(_, rule)| holds(&rule.spec));
        found.map(|((table, name), _)| format!("{name} of table {table}")).collect()
    }

    /// The stages that are made from a module.
    pub(super) fn users_of(&self, module: &Name) -> Vec<Name> {
        let users = self.stages.iter().filter(|(_, stage)| stage.spec.module == *module);
        users.map(|(name, _)| name.clone()).collect()
    }
}
