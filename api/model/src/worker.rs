use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Name;

/// A thread that polls ports, and what it did since the daemon began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Worker {
    /// Its number.
    pub id: u16,
    /// The core that it is pinned to.
    pub core: u32,
    /// Where that core is, if that is known.
    pub numa_node: Option<u32>,
    /// The ports that it polls.
    pub ports: Vec<Name>,
    /// The configuration that it runs.
    pub revision: u64,
    /// Rounds over its ports.
    pub iterations: u64,
    /// Those that found packets.
    pub busy_iterations: u64,
    /// Packets that it received.
    pub rx_packets: u64,
    /// Cycles of the time stamp counter in rounds that found packets.
    pub busy_cycles: u64,
    /// Those in the others.
    pub idle_cycles: u64,
    /// Packets that were found by all of their headers.
    pub exact_hits: u64,
    /// Packets that were found by the fields that the tables were searched by.
    pub wildcard_hits: u64,
    /// Packets that were looked up in the tables.
    pub misses: u64,
    /// Flows in its cache.
    pub flows: u64,
    /// The most flows that it keeps.
    pub flow_limit: u64,
    /// The different sets of bits that its flows are found by.
    pub masks: u64,
    /// Flows that were put into its cache.
    pub flows_installed: u64,
    /// Flows that were taken out to make room.
    pub flows_evicted: u64,
    /// Flows that were taken out after their time.
    pub flows_expired: u64,
    /// Flows that a change of the rules took out or gave other actions.
    pub flows_revised: u64,
    /// Times that a flow was found by more bits than needed, or not kept, as there were too many
    /// masks.
    pub mask_limit_hits: u64,
    /// Programs that it holds.
    pub programs: u64,
    /// Its longest round, in microseconds.
    pub longest_iteration_us: u64,
}
