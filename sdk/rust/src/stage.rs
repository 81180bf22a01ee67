use alloc::{format, string::String};
use core::fmt;

use serde::{Deserialize, de::DeserializeOwned};
use weft_abi::DEFAULT_WINDOW;

use crate::{Counters, Names, Packet, PortId, TableId};

/// A packet module. Each worker has a value of its own, so it needs no locks.
pub trait Stage: Sized {
    /// What it is configured with. Say `#[serde(deny_unknown_fields)]`.
    type Config: DeserializeOwned;
    /// Why it drops; [`NoNames`](crate::NoNames) if it never does.
    type Reason: Names;
    /// What it counts; [`NoNames`](crate::NoNames) if nothing.
    type Counter: Names;

    /// How many bytes of a packet it wants to see.
    const WINDOW: u32 = DEFAULT_WINDOW;
    /// Whether it changes packets.
    const WRITES: bool = false;

    /// Makes the stage. What takes time or memory belongs here.
    ///
    /// # Errors
    ///
    /// Fails if the configuration makes no sense; whoever deploys the module reads the message.
    fn new(config: Self::Config) -> Result<Self, ConfigError>;

    /// Decides on one packet, and may rewrite it.
    fn process(
        &mut self,
        packet: &mut Packet<'_>,
        counters: &mut Counters<Self::Counter>,
    ) -> Verdict<Self::Reason>;
}

/// What a stage says of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict<R> {
    /// The next action of the packet's program sees it.
    Next,
    /// It is dropped, and counted under the reason.
    Drop(R),
    /// It leaves by a port.
    Output(PortId),
    /// It is looked up again.
    Goto(TableId),
}

/// Why a configuration was refused, for whoever wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(String);

impl ConfigError {
    /// Says what is wrong, where, and what would be right.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// The message.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for ConfigError {}

/// The configuration of a stage that has none: any key is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoConfig {}

/// Makes a stage from its configuration as JSON.
pub(crate) fn configure<S: Stage>(json: &[u8]) -> Result<S, ConfigError> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let config = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| ConfigError(format!("{error}")))?;
    reader.end().map_err(|error| ConfigError(format!("{error}")))?;
    S::new(config)
}
