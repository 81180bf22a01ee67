//! The packet engine, pure: it knows neither DPDK nor WebAssembly nor HTTP, and has no unsafe code.
//!
//! A [`Worker`](worker::Worker) polls [`Receive`] queues, parses each packet into a
//! [`FlowKey`](flow::FlowKey), finds its program by the flow cache or the tables, runs the programs
//! over groups of packets and hands what is left to [`Transmit`] queues. It is generic over packets
//! and queues, so that it runs over DPDK's as well as over vectors of bytes in a test.
#![forbid(unsafe_code)]

pub mod classify;
mod drop_reason;
pub mod flow;
pub mod group;
mod id;
mod links;
pub mod meter;
pub mod packet;
pub mod program;
mod queue;
pub mod stage;
pub mod switching;
mod tally;
pub mod worker;

pub use drop_reason::{DropReason, ReasonId};
pub use id::{GroupId, MeterId, PortId, StageId, TableId};
pub use links::Links;
pub use packet::Packet;
pub use queue::{Receive, Received, Transmit};
pub use tally::{SharedTally, Tally};
