//! Newtypes for the numbers that things are known by inside the engine.

/// A port. Its number is what modules see, and is not used again while the daemon runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u16);

/// A table of rules. Lookups begin in table 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TableId(pub u8);

impl TableId {
    /// The last table that there can be (OpenFlow 1.3.5, A.1: `OFPTT_MAX`).
    pub const LAST: Self = Self(253);
}

/// A stage: the slot that holds its instance on each worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StageId(pub u16);

/// A meter: the slot that holds it on each worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MeterId(pub u16);

/// A group: the slot that holds it on each worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub u16);
