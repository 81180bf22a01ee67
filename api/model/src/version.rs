use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Version {
    /// The daemon's version.
    pub version: String,
    /// The version of the contract with modules.
    pub module_abi: u32,
    /// DPDK's version.
    pub dpdk: String,
}

/// Whether packets are handled as the configuration says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Readiness {
    /// Whether nothing is amiss.
    pub ready: bool,
    /// What is amiss, a sentence each.
    pub failing: Vec<String>,
}

impl Readiness {
    /// With these things amiss.
    #[must_use]
    pub fn new(failing: Vec<String>) -> Self {
        Self { ready: failing.is_empty(), failing }
    }
}
