//! Rules as clients write them, into rules as the engine runs them.

mod action;
mod pattern;

use std::collections::BTreeMap;

use api_model::{Invalid, Name, RuleSpec};
use dataplane::{
    PortId, StageId,
    classify::{Rule, RuleId},
};

/// What names stand for.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// The ports.
    pub(crate) ports: BTreeMap<Name, PortId>,
    /// The stages.
    pub(crate) stages: BTreeMap<Name, StageId>,
}

impl Names {
    fn port(&self, name: &Name) -> Result<PortId, Invalid> {
        self.ports.get(name).copied().ok_or_else(|| {
            Invalid::at(&[], format!("there is no port {name}")).hint("add the port first")
        })
    }

    fn stage(&self, name: &Name) -> Result<StageId, Invalid> {
        self.stages.get(name).copied().ok_or_else(|| {
            Invalid::at(&[], format!("there is no stage {name}")).hint("create the stage first")
        })
    }
}

/// The engine's form of a rule that has been validated.
pub(crate) fn rule(id: RuleId, spec: &RuleSpec, names: &Names) -> Result<Rule, Invalid> {
    let pattern =
        pattern::compile(&spec.r#match, names).map_err(|invalid| invalid.under("match"))?;
    let compiled = spec.actions.iter().enumerate().map(|(place, action)| {
        let at = |invalid: Invalid| invalid.under(&place.to_string()).under("actions");
        action::compile(action, names).map_err(at)
    });
    let actions = compiled.collect::<Result<_, _>>()?;
    Ok(Rule { id, priority: spec.priority, pattern, actions })
}
