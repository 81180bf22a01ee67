use std::sync::Arc;

use crate::{Tally, classify::RuleId, flow::FlowKey, program::Action};

/// A flow as it is told to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedFlow {
    /// The bits that its packets agree in.
    pub key: FlowKey,
    /// Which bits these are.
    pub mask: FlowKey,
    /// The rules that its packets match.
    pub rules: Vec<RuleId>,
    /// What is done with them.
    pub actions: Arc<[Action]>,
    /// How many there were.
    pub tally: Tally,
    /// When the first came, in the unit of the worker's clock.
    pub created: u64,
    /// When the last came.
    pub used: u64,
    /// Whether the last was found by all its bits, and not under the flow's mask.
    pub exact: bool,
}

/// What happened to cached flows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlowCounters {
    /// Flows that are cached.
    pub flows: u64,
    /// Masks that they have.
    pub masks: u64,
    /// Flows that came.
    pub installed: u64,
    /// Flows that gave way to others.
    pub evicted: u64,
    /// Flows whose time was over.
    pub expired: u64,
    /// Flows that a change of rules gave other actions, or none.
    pub revised: u64,
    /// How often a flow got a finer mask than it needs, since there were too many masks.
    pub mask_limit_hits: u64,
}
