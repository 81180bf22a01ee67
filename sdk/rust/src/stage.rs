use serde::de::DeserializeOwned;
use weft_abi::DEFAULT_WINDOW;

use crate::{ConfigError, Counters, Names, Packet, PortId, TableId};

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
