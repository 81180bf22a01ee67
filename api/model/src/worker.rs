use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Name;

/// A thread that polls ports, and what it did since the daemon began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
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
    /// Packets whose program its flow cache knew.
    pub cache_hits: u64,
    /// Packets that were looked up in the tables.
    pub cache_misses: u64,
    /// Programs that it holds.
    pub programs: u64,
    /// Its longest round, in microseconds.
    pub longest_iteration_us: u64,
}
