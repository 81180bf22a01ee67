use serde::Deserialize;

/// A port, by the `id` that the management API shows for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(transparent)]
pub struct PortId(pub u16);

/// A table of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(transparent)]
pub struct TableId(pub u8);
