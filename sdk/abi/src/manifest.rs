use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{DEFAULT_WINDOW, VERSION};

/// What a module says of itself, as JSON in the custom section
/// [`MANIFEST_SECTION`](crate::MANIFEST_SECTION).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Its name: lower-case letters, digits and hyphens.
    pub name: String,
    /// Its version, such as `1.0.0`.
    pub version: String,
    /// The version of the ABI that it was built for.
    #[serde(default = "version")]
    pub abi: u32,
    /// What it is for.
    #[serde(default)]
    pub kind: Kind,
    /// The header bytes that it wants to see.
    #[serde(default = "window")]
    pub window: u32,
    /// Whether it changes packets.
    #[serde(default)]
    pub writes: bool,
    /// Why it drops, in the order of the indices that its verdicts give.
    #[serde(default)]
    pub drop_reasons: Vec<String>,
    /// What it counts, in the order of its counters.
    #[serde(default)]
    pub counters: Vec<String>,
}

/// What a module is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It sees every packet of the flows that are sent to it.
    #[default]
    Stage,
}

fn version() -> u32 {
    VERSION
}

fn window() -> u32 {
    DEFAULT_WINDOW
}
