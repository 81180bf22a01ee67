//! What the engine tells, in the words of clients: the way back from [`compile`](crate::compile).

mod action;
mod fields;
mod headers;
mod words;

use std::collections::HashMap;

use api_model::{Action as Written, Name};
use dataplane::{GroupId, MeterId, PortId, StageId, program::Action};
pub(crate) use fields::{looked_at, matched, packet};
pub(crate) use words::words;

/// What the engine's numbers are called.
#[derive(Debug, Default)]
pub(crate) struct Directory {
    /// The ports.
    pub(crate) ports: HashMap<PortId, Name>,
    /// The stages.
    pub(crate) stages: HashMap<StageId, Name>,
    /// The meters.
    pub(crate) meters: HashMap<MeterId, Name>,
    /// The groups.
    pub(crate) groups: HashMap<GroupId, Name>,
}

impl Directory {
    /// A port in words.
    pub(crate) fn port(&self, id: PortId) -> String {
        self.ports.get(&id).map_or_else(|| format!("#{}", id.0), ToString::to_string)
    }

    /// A meter in words.
    pub(crate) fn meter(&self, id: MeterId) -> String {
        self.meters.get(&id).map_or_else(|| format!("#{}", id.0), ToString::to_string)
    }

    /// A group in words.
    pub(crate) fn group(&self, id: GroupId) -> String {
        self.groups.get(&id).map_or_else(|| format!("#{}", id.0), ToString::to_string)
    }

    /// A stage in words.
    pub(crate) fn stage(&self, id: StageId) -> String {
        self.stages.get(&id).map_or_else(|| format!("#{}", id.0), ToString::to_string)
    }
}

/// Actions as clients write them; `None` if one is about what is gone.
pub(crate) fn actions(actions: &[Action], directory: &Directory) -> Option<Vec<Written>> {
    actions.iter().map(|action| action::describe(*action, directory)).collect()
}
