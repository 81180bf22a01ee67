//! Rules as clients write them, into rules as the engine runs them.

mod action;
mod group;
mod meter;
mod pattern;
mod range;

use std::{collections::BTreeMap, sync::Arc};

use api_model::{Action as Written, Invalid, Name, RuleSpec};
use dataplane::{
    GroupId, MeterId, PortId, SharedTally, StageId,
    classify::{Rule, RuleId},
    program::Action,
};

pub(crate) use group::group;
pub(crate) use meter::meter;

/// What names stand for.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// The ports.
    pub(crate) ports: BTreeMap<Name, PortId>,
    /// The stages.
    pub(crate) stages: BTreeMap<Name, StageId>,
    /// The stages that classify.
    pub(crate) classifiers: BTreeMap<Name, StageId>,
    /// The meters.
    pub(crate) meters: BTreeMap<Name, MeterId>,
    /// The groups.
    pub(crate) groups: BTreeMap<Name, GroupId>,
}

impl Names {
    fn port(&self, name: &Name) -> Result<PortId, Invalid> {
        self.ports.get(name).copied().ok_or_else(|| {
            Invalid::at(&[], format!("there is no port {name}")).hint("add the port first")
        })
    }

    fn meter(&self, name: &Name) -> Result<MeterId, Invalid> {
        self.meters.get(name).copied().ok_or_else(|| {
            Invalid::at(&[], format!("there is no meter {name}")).hint("create the meter first")
        })
    }

    fn group(&self, name: &Name) -> Result<GroupId, Invalid> {
        self.groups.get(name).copied().ok_or_else(|| {
            Invalid::at(&[], format!("there is no group {name}")).hint("create the group first")
        })
    }

    fn stage(&self, name: &Name) -> Result<StageId, Invalid> {
        self.stages.get(name).copied().ok_or_else(|| match self.classifiers.get(name) {
            Some(_) => {
                Invalid::at(&[], format!("{name} is a classifier, and decides on no packet"))
                    .hint("name it as the classifier of a table")
            }
            None => {
                Invalid::at(&[], format!("there is no stage {name}")).hint("create the stage first")
            }
        })
    }
}

/// The engine's form of a rule that has been validated.
pub(crate) fn rule(
    id: RuleId,
    counted: Arc<SharedTally>,
    spec: &RuleSpec,
    names: &Names,
) -> Result<Rule, Invalid> {
    let patterns =
        pattern::compile(&spec.r#match, names).map_err(|invalid| invalid.under("match"))?;
    let actions = actions(&spec.actions, names).map_err(|invalid| invalid.under("actions"))?;
    Ok(Rule { id, priority: spec.priority, patterns, actions, counted })
}

/// The engine's form of actions that have been validated.
pub(crate) fn actions(written: &[Written], names: &Names) -> Result<Vec<Action>, Invalid> {
    let mut actions = Vec::with_capacity(written.len());
    for (place, action) in written.iter().enumerate() {
        let action = action::compile(action, names);
        actions.push(action.map_err(|invalid| invalid.under(&place.to_string()))?);
    }
    Ok(actions)
}
