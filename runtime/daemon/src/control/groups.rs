use std::sync::Arc;

use api_model::{Action, BucketStatus, Code, Group as Resource, GroupSpec, GroupStatus, Name};
use api_server::{ControlError, Kind, Put};
use dataplane::{classify::Rule, group::Bucket, program};

use super::{
    Daemon,
    refusal::{self, Answer},
    state::GroupEntry,
};
use crate::{compile, plane::Change};

impl Daemon {
    pub(super) fn list_groups(&self) -> Vec<Resource> {
        self.state().groups.iter().map(|(name, entry)| describe(name, entry)).collect()
    }

    pub(super) fn get_group(&self, name: &Name) -> Answer<Resource> {
        let state = self.state();
        state.groups.get(name).map(|entry| describe(name, entry)).ok_or_else(|| missing(name))
    }

    /// Makes a group, or puts another in its place.
    pub(super) fn set_group(&self, name: &Name, spec: GroupSpec) -> Answer<Put<Resource>> {
        let _changing = self.changing();
        let (id, group, known) = {
            let mut state = self.state();
            let known = match state.groups.get(name) {
                Some(entry) if entry.spec == spec => {
                    return Ok(Put::Replaced(describe(name, entry)));
                }
                known => known.map(|entry| entry.id),
            };
            let group = compile::group(&spec, &state.names(), &state.links, self.plane.len())
                .map_err(|invalid| refusal::invalid(Code::GroupInvalid, invalid))?;
            let id = known.or_else(|| state.ids.group());
            (id.ok_or_else(|| refusal::used_up(Kind::Group))?, Arc::new(group), known.is_some())
        };
        self.publish(|_| vec![Change::Group(id, Some(Arc::clone(&group)))])?;
        let entry = GroupEntry { spec, id, group };
        let resource = describe(name, &entry);
        self.state().groups.insert(name.clone(), entry);
        tracing::info!(group = %name, "in service");
        Ok(if known { Put::Replaced(resource) } else { Put::Created(resource) })
    }

    pub(super) fn remove_group(&self, name: &Name) -> Answer<()> {
        let _changing = self.changing();
        let id = {
            let state = self.state();
            let id = state.groups.get(name).ok_or_else(|| missing(name))?.id;
            let uses = |action: &Action| matches!(action, Action::Group(it) if it == name);
            let rules = |rule: &Rule| rule.actions.contains(&program::Action::Group(id));
            let users = state.users_that(rules, uses);
            if !users.is_empty() {
                return Err(refusal::in_use(Code::GroupInUse, Kind::Group, name, &users));
            }
            id
        };
        self.publish(|_| vec![Change::Group(id, None)])?;
        self.state().groups.remove(name);
        tracing::info!(group = %name, "deleted");
        Ok(())
    }
}

fn missing(name: &Name) -> ControlError {
    ControlError::not_found(Kind::Group, name)
}

fn describe(name: &Name, entry: &GroupEntry) -> Resource {
    let bucket = |bucket: &Bucket| {
        let tally = bucket.counted.total();
        let alive = entry.group.is_alive(bucket);
        BucketStatus { alive, packets: tally.packets, bytes: tally.bytes }
    };
    let buckets = entry.group.buckets().iter().map(bucket).collect();
    Resource { name: name.clone(), spec: entry.spec.clone(), status: GroupStatus { buckets } }
}
