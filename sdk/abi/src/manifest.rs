use alloc::{string::String, vec::Vec};
use core::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{DEFAULT_WINDOW, Key, VERSION};

/// What a module says of itself, as JSON in the custom section
/// [`MANIFEST_SECTION`](crate::MANIFEST_SECTION).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Its name: lower-case letters, digits and hyphens.
    pub name: String,
    /// Its version, such as `1.0.0`.
    pub version: String,
    /// The version of the ABI that it was built for: the newest that it works with.
    #[serde(default = "version")]
    pub abi: u32,
    /// The oldest version of the ABI that it works with; `abi` if it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abi_oldest: Option<u32>,
    /// What it is for.
    #[serde(default)]
    pub kind: Kind,
    /// The ways to a packet's bytes that it can take.
    #[serde(default = "access")]
    pub access: Vec<Access>,
    /// The bytes of a packet's beginning that it wants to see.
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
    /// What it measures, in the order of its histograms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histograms: Vec<String>,
    /// What it needs of the host beside packets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<Capability>,
    /// The maps that the host keeps for it, in the order of the indices that it calls them by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub maps: Vec<MapSpec>,
    /// For a classifier: whether its answers depend on more than the key, so that it is asked about
    /// every packet and no answer is kept.
    #[serde(default, skip_serializing_if = "is_default")]
    pub payload: bool,
    /// How often it wants to be called without packets, in milliseconds; 0 for never.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tick_ms: u32,
    /// The JSON Schema of its configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_schema: Option<Value>,
}

/// A way to a packet's bytes. The deployment chooses one of those that a module can take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// The packet's beginning is copied in, and back if it was changed.
    #[default]
    Window,
    /// The packets lie in the module's memory, and it changes them where they are.
    Pool,
    /// It sees what the host's parser found, in a [`Key`](crate::Key), and no byte of the packet.
    Meta,
}

/// What a module may do beside deciding on packets and rewriting them. The host denies each that
/// the deployment does not grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    /// Write lines to the host's log.
    Log,
    /// Know the time.
    Time,
    /// Draw random numbers.
    Random,
    /// Use the maps of its manifest.
    Maps,
    /// Read packets beyond the window.
    PacketRead,
    /// Write to packets beyond the window.
    PacketWrite,
    /// Grow and trim packets at both ends.
    Adjust,
    /// Send packets of its own, and copies.
    Emit,
}

/// A map that the host keeps for a module, which outlives its instances.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapSpec {
    /// Its name.
    pub name: String,
    /// How keys are looked up.
    pub kind: MapKind,
    /// The bytes of a key. In a longest-prefix map, without the prefix length that comes first; in
    /// an array, 4: the index.
    pub key_bytes: u32,
    /// The bytes of a value.
    pub value_bytes: u32,
    /// The most entries.
    pub entries: u32,
    /// Who sees them.
    #[serde(default)]
    pub scope: MapScope,
    /// How long an entry stays that is not used, in milliseconds; 0 for ever.
    #[serde(default)]
    pub idle_ms: u32,
    /// The version of the layout of keys and values. Entries of another are handed to
    /// [`exports::MIGRATE`](crate::exports::MIGRATE).
    #[serde(default = "first")]
    pub layout: u32,
}

/// How the keys of a map are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MapKind {
    /// Exactly; a new key is refused when the map is full.
    Hash,
    /// Exactly; a new key takes the place of the one that was not used for longest.
    Lru,
    /// By the longest prefix.
    Lpm,
    /// By an index; all entries are there, zero at first.
    Array,
}

/// Who sees the entries of a map.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MapScope {
    /// Each worker has entries of its own.
    #[default]
    Worker,
    /// All workers see the same.
    Shared,
}

/// What a module is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It sees every packet of the flows that are sent to it.
    #[default]
    Stage,
    /// It says what the packets of a flow are, once for many of them.
    Classifier,
}

impl Manifest {
    /// The bytes of a window of its batch area: a classifier's begins with the key.
    #[must_use]
    pub fn slot(&self) -> u32 {
        match self.kind {
            Kind::Stage => self.window,
            Kind::Classifier => KEY_BYTES + self.window,
        }
    }

    /// The versions of the ABI that it works with.
    #[must_use]
    pub fn abi_range(&self) -> RangeInclusive<u32> {
        self.abi_oldest.unwrap_or(self.abi)..=self.abi
    }
}

#[expect(clippy::cast_possible_truncation, reason = "it is some 80 bytes")]
const KEY_BYTES: u32 = size_of::<Key>() as u32;

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn version() -> u32 {
    VERSION
}

fn access() -> Vec<Access> {
    [Access::Window].into()
}

fn first() -> u32 {
    1
}

fn window() -> u32 {
    DEFAULT_WINDOW
}
