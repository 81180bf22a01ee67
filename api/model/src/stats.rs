use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Name, PortCounters, StageStatus, TableNumber, Worker};

/// All counters, read between two bursts of each worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Stats {
    /// The configuration that they are of.
    pub revision: u64,
    /// Every port's.
    pub ports: BTreeMap<Name, PortCounters>,
    /// Every stage's.
    pub stages: BTreeMap<Name, StageStatus>,
    /// Every worker's.
    pub workers: Vec<Worker>,
    /// Every rule's, in the order of tables and names.
    pub rules: Vec<RuleStats>,
}

/// What one rule matched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RuleStats {
    /// The table that it is in.
    pub table: TableNumber,
    /// What the client called it.
    pub name: Name,
    /// Packets that it matched.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}
