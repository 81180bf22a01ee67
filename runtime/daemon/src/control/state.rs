//! What was asked for, and what runs for it.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use api_model::{
    Action, GroupSpec, MacTableSpec, MeterSpec, Name, PortSpec, StageSpec, TableNumber, TableSpec,
};
use dataplane::{
    GroupId, Links, MeterId, PortId, StageId,
    classify::{Rule, RuleId, Tables},
    group::Group,
    meter::Meter,
    switching::MacTable,
};
use wasm::{Module, StageStats, StageTotals};
use weft_abi::Kind;

use super::kept::KeptSpec;
use crate::{compile::Names, describe::Directory, reasons::Reasons};

/// The configuration that the workers run.
#[derive(Default)]
pub(super) struct State {
    pub(super) revision: u64,
    pub(super) ports: BTreeMap<Name, PortEntry>,
    pub(super) modules: BTreeMap<Name, Arc<Module>>,
    pub(super) stages: BTreeMap<Name, StageEntry>,
    pub(super) meters: BTreeMap<Name, MeterEntry>,
    pub(super) groups: BTreeMap<Name, GroupEntry>,
    /// The addresses that were learned, once the workers learn any.
    pub(super) addresses: Option<(MacTableSpec, Arc<MacTable>)>,
    /// Which ports are up.
    pub(super) links: Arc<Links>,
    pub(super) rules: BTreeMap<RuleKey, RuleEntry>,
    /// What rules are called, by the numbers that the engine knows them by.
    pub(super) rule_keys: HashMap<RuleId, RuleKey>,
    /// What becomes of packets that no rule of a table matches, where that was said.
    pub(super) misses: BTreeMap<TableNumber, TableSpec>,
    /// The engine's form of rules and misses.
    pub(super) tables: Arc<Tables>,
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

/// A meter, and what the workers run for it.
pub(super) struct MeterEntry {
    pub(super) spec: MeterSpec,
    pub(super) id: MeterId,
    pub(super) meter: Arc<Meter>,
}

/// A group, and what the workers run for it.
pub(super) struct GroupEntry {
    pub(super) spec: GroupSpec,
    pub(super) id: GroupId,
    pub(super) group: Arc<Group>,
}

/// What clients call a rule.
pub(crate) type RuleKey = (TableNumber, Name);

/// A rule, and the engine's form of it.
pub(super) struct RuleEntry {
    pub(super) spec: KeptSpec,
    pub(super) rule: Arc<Rule>,
}

/// The next numbers. Numbers are not used again.
#[derive(Default)]
pub(super) struct Ids {
    ports: u16,
    stages: u16,
    meters: u16,
    groups: u16,
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

    /// `None` if all are used up.
    pub(super) fn meter(&mut self) -> Option<MeterId> {
        let id = self.meters;
        self.meters = id.checked_add(1)?;
        Some(MeterId(id))
    }

    /// `None` if all are used up.
    pub(super) fn group(&mut self) -> Option<GroupId> {
        let id = self.groups;
        self.groups = id.checked_add(1)?;
        Some(GroupId(id))
    }

    pub(super) fn rule(&mut self) -> RuleId {
        self.rules += 1;
        RuleId(self.rules)
    }
}

impl State {
    /// What the names in rules stand for.
    pub(super) fn names(&self) -> Names {
        Names {
            ports: self.ports.iter().map(|(name, port)| (name.clone(), port.id)).collect(),
            stages: self.stages_of(Kind::Stage).collect(),
            classifiers: self.stages_of(Kind::Classifier).collect(),
            meters: self.meters.iter().map(|(name, meter)| (name.clone(), meter.id)).collect(),
            groups: self.groups.iter().map(|(name, group)| (name.clone(), group.id)).collect(),
        }
    }

    fn stages_of(&self, kind: Kind) -> impl Iterator<Item = (Name, StageId)> {
        let stages = self.stages.iter().filter(move |(_, it)| it.module.manifest().kind == kind);
        stages.map(|(name, stage)| (name.clone(), stage.id))
    }

    /// What the numbers in the engine's answers are called.
    pub(super) fn directory(&self) -> Directory {
        Directory {
            ports: self.ports.iter().map(|(name, port)| (port.id, name.clone())).collect(),
            stages: self.stages.iter().map(|(name, stage)| (stage.id, name.clone())).collect(),
            meters: self.meters.iter().map(|(name, meter)| (meter.id, name.clone())).collect(),
            groups: self.groups.iter().map(|(name, group)| (group.id, name.clone())).collect(),
        }
    }

    /// The rules that use something, and the misses of which an action does, as clients know them.
    pub(super) fn users_that(
        &self,
        uses: impl Fn(&Rule) -> bool,
        does: impl Fn(&Action) -> bool,
    ) -> Vec<String> {
        let rules = self.rules.iter().filter(|(_, entry)| uses(&entry.rule));
        let misses = self.misses.iter().filter(|(_, spec)| spec.miss.iter().any(&does));
        let rules = rules.map(|((table, name), _)| format!("rule {name} of table {table}"));
        rules.chain(misses.map(|(table, _)| format!("the miss of table {table}"))).collect()
    }

    /// The groups that send to a port or watch it, as clients know them.
    pub(super) fn groups_with(&self, port: &Name) -> Vec<String> {
        let groups = self.groups.iter().filter(|(_, entry)| {
            entry.spec.buckets.iter().any(|bucket| {
                bucket.watch_port.as_ref() == Some(port)
                    || bucket.actions.iter().any(|action| action.port() == Some(port))
            })
        });
        groups.map(|(name, _)| format!("group {name}")).collect()
    }

    /// The stages that are made from a module.
    pub(super) fn users_of(&self, module: &Name) -> Vec<Name> {
        let users = self.stages.iter().filter(|(_, stage)| stage.spec.module == *module);
        users.map(|(name, _)| name.clone()).collect()
    }
}
