use std::sync::Arc;

use api_model::{Action, Code, ColorCounters, Meter as Resource, MeterSpec, MeterStatus, Name};
use api_server::{ControlError, Kind, Put};
use dataplane::{
    classify::Rule,
    meter::{Color, Meter},
    program,
};

use super::{
    Daemon,
    refusal::{self, Answer},
    state::MeterEntry,
};
use crate::{compile, plane::Change};

impl Daemon {
    pub(super) fn list_meters(&self) -> Vec<Resource> {
        self.state().meters.iter().map(|(name, entry)| describe(name, entry)).collect()
    }

    pub(super) fn get_meter(&self, name: &Name) -> Answer<Resource> {
        let state = self.state();
        state.meters.get(name).map(|entry| describe(name, entry)).ok_or_else(|| missing(name))
    }

    /// Makes a meter, or puts another in its place that goes on counting.
    pub(super) fn set_meter(&self, name: &Name, spec: MeterSpec) -> Answer<Put<Resource>> {
        let _changing = self.changing();
        let settings = compile::meter(&spec, self.eal.tsc_hz());
        let (id, meter, known) = {
            let mut state = self.state();
            match state.meters.get(name) {
                Some(entry) if entry.spec == spec => {
                    return Ok(Put::Replaced(describe(name, entry)));
                }
                Some(entry) => (entry.id, entry.meter.successor(settings), true),
                None => {
                    let id = state.ids.meter().ok_or_else(|| refusal::used_up(Kind::Meter))?;
                    (id, Meter::new(settings, self.plane.len()), false)
                }
            }
        };
        let meter = Arc::new(meter);
        self.publish(|_| vec![Change::Meter(id, Some(Arc::clone(&meter)))])?;
        let entry = MeterEntry { spec, id, meter };
        let resource = describe(name, &entry);
        self.state().meters.insert(name.clone(), entry);
        tracing::info!(meter = %name, "in service");
        Ok(if known { Put::Replaced(resource) } else { Put::Created(resource) })
    }

    pub(super) fn remove_meter(&self, name: &Name) -> Answer<()> {
        let _changing = self.changing();
        let id = {
            let state = self.state();
            let id = state.meters.get(name).ok_or_else(|| missing(name))?.id;
            let uses = |action: &Action| matches!(action, Action::Meter(it) if it == name);
            let rules = |rule: &Rule| rule.actions.contains(&program::Action::Meter(id));
            let users = state.users_that(rules, uses);
            if !users.is_empty() {
                return Err(refusal::in_use(Code::MeterInUse, Kind::Meter, name, &users));
            }
            id
        };
        self.publish(|_| vec![Change::Meter(id, None)])?;
        self.state().meters.remove(name);
        tracing::info!(meter = %name, "deleted");
        Ok(())
    }
}

fn missing(name: &Name) -> ControlError {
    ControlError::not_found(Kind::Meter, name)
}

fn describe(name: &Name, entry: &MeterEntry) -> Resource {
    let counted = |color| {
        let tally = entry.meter.counted(color);
        ColorCounters { packets: tally.packets, bytes: tally.bytes }
    };
    Resource {
        name: name.clone(),
        spec: entry.spec.clone(),
        status: MeterStatus {
            green: counted(Color::Green),
            yellow: counted(Color::Yellow),
            red: counted(Color::Red),
        },
    }
}
