use std::{collections::BTreeMap, sync::Arc, time::Duration};

use api_model::{Action, Code, Invalid, Name, OnFault, Stage as Resource, StageSpec};
use api_server::{ControlError, Kind, Put};
use dataplane::{StageId, classify::Rule, program, worker::BURST};
use serde_json::Value;
use wasm::{Deployed, Deployment, Limits, Module, StageStats, StageTotals};

use super::{
    Daemon,
    refusal::{self, Answer},
    state::{StageEntry, State},
    status,
};
use crate::plane::Change;

impl Daemon {
    pub(super) fn list_stages(&self) -> Vec<Resource> {
        self.state().stages.iter().map(|(name, entry)| describe(name, entry)).collect()
    }

    pub(super) fn get_stage(&self, name: &Name) -> Answer<Resource> {
        let state = self.state();
        let entry = state.stages.get(name).ok_or_else(|| missing(name))?;
        Ok(describe(name, entry))
    }

    /// Makes a stage, or swaps what runs for it: all workers' instances are made here, and then
    /// taken up between two bursts.
    pub(super) fn run_stage(&self, name: &Name, spec: StageSpec) -> Answer<Put<Resource>> {
        let _changing = self.changing();
        let (module, known) = {
            let state = self.state();
            if let Some(entry) = state.stages.get(name)
                && entry.spec == spec
            {
                return Ok(Put::Replaced(describe(name, entry)));
            }
            let module = module_of(&state, &spec)?;
            state.check_kind(name, module.manifest().kind)?;
            (module, state.stages.get(name).map(|entry| entry.id))
        };
        let deployed = self.deploy(name, &spec, &module)?;
        let id = known
            .or_else(|| self.state().ids.stage())
            .ok_or_else(|| refusal::used_up(Kind::Stage))?;
        let stats = Arc::clone(&deployed.stats);
        let mut stages = deployed.stages.into_iter();
        self.publish(|_| {
            let stage = stages.next().expect("there is a stage for each worker");
            vec![Change::Stage(id, Some(Box::new(stage)))]
        })?;
        let resource = self.note_stage(name, spec, id, module, stats);
        self.reclassify(name)?;
        Ok(if known.is_none() { Put::Created(resource) } else { Put::Replaced(resource) })
    }

    /// Makes the instances of all workers.
    fn deploy(&self, name: &Name, spec: &StageSpec, module: &Arc<Module>) -> Answer<Deployed> {
        let known_reasons = self.state().reasons.len();
        let reasons = self
            .state()
            .reasons
            .register(name.as_str(), &module.manifest().drop_reasons)
            .map_err(refusal::no_room)?;
        let memory_bytes = usize::try_from(spec.memory_limit_bytes)
            .expect("a limit of at most 4 GiB fits the addresses of this machine");
        let deployment = Deployment {
            module: Arc::clone(module),
            config: Value::Object(spec.config.clone()),
            limits: Limits {
                memory_bytes,
                deadline: Duration::from_micros(spec.deadline_us),
                ..Limits::default()
            },
            on_fault: match spec.on_fault {
                OnFault::Drop => wasm::OnFault::Drop,
                OnFault::Bypass => wasm::OnFault::Bypass,
            },
            reasons,
            batch: u32::try_from(BURST).expect("a burst is small"),
        };
        deployment.deploy(&self.host, self.plane.len()).map_err(|error| {
            self.state().reasons.truncate(known_reasons);
            refusal::instantiate(error)
        })
    }

    /// Writes down what runs now, and carries the counters of what ran before.
    fn note_stage(
        &self,
        name: &Name,
        spec: StageSpec,
        id: StageId,
        module: Arc<Module>,
        stats: Arc<StageStats>,
    ) -> Resource {
        let mut state = self.state();
        let old = state.stages.remove(name);
        let (generation, before) =
            old.map_or((1, StageTotals::default()), |old| (old.generation + 1, old.totals()));
        let entry = StageEntry { spec, id, module, generation, before, stats };
        let resource = describe(name, &entry);
        tracing::info!(stage = %name, module = %entry.spec.module, generation, "in service");
        state.stages.insert(name.clone(), entry);
        resource
    }

    /// What is counted for each stage, by those that run now.
    pub(super) fn stage_stats(&self) -> BTreeMap<Name, Arc<StageStats>> {
        let state = self.state();
        let stages = state.stages.iter();
        stages.map(|(name, entry)| (name.clone(), Arc::clone(&entry.stats))).collect()
    }

    pub(super) fn remove_stage(&self, name: &Name) -> Answer<()> {
        let _changing = self.changing();
        let id = {
            let state = self.state();
            let id = state.stages.get(name).ok_or_else(|| missing(name))?.id;
            let users = state.stage_users(name, id);
            if !users.is_empty() {
                return Err(refusal::in_use(Code::StageInUse, Kind::Stage, name, &users));
            }
            id
        };
        self.publish(|_| vec![Change::Stage(id, None)])?;
        self.state().stages.remove(name);
        tracing::info!(stage = %name, "deleted");
        Ok(())
    }
}

impl State {
    /// The rules, misses and tables that use a stage, as clients know them.
    pub(super) fn stage_users(&self, name: &Name, id: StageId) -> Vec<String> {
        let runs = |action: &Action| matches!(action, Action::Stage(it) if it == name);
        let uses = |rule: &Rule| rule.actions.contains(&program::Action::Stage(id));
        let mut users = self.users_that(uses, runs);
        users.extend(self.classified_by(name).map(|table| format!("table {table}")));
        users
    }
}

fn missing(name: &Name) -> ControlError {
    ControlError::not_found(Kind::Stage, name)
}

fn module_of(state: &State, spec: &StageSpec) -> Answer<Arc<Module>> {
    state.modules.get(&spec.module).cloned().ok_or_else(|| {
        let reason = format!("there is no module {}", spec.module);
        let invalid = Invalid::at(&["module"], reason).hint("upload the module first");
        refusal::invalid(Code::StageInvalid, invalid)
    })
}

fn describe(name: &Name, entry: &StageEntry) -> Resource {
    Resource { name: name.clone(), spec: entry.spec.clone(), status: status::stage(entry) }
}
