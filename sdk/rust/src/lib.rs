//! What a Weft module is written with.
//!
//! A module is a type that implements [`Stage`], named in [`export!`]. It builds for
//! `wasm32-unknown-unknown`, to be uploaded, and for the machine it is written on, so that its
//! tests are plain `cargo test` with [`testing::FakeHost`] in the host's place.
//!
//! ```
//! #![no_std]
//! # extern crate std;
//!
//! use weft_sdk::{Counters, ConfigError, NoConfig, NoNames, Packet, Stage, Verdict, names};
//!
//! names! {
//!     /// Why a packet is dropped.
//!     pub enum Reason {
//!         /// It was sent to the port of Telnet.
//!         Telnet => "telnet",
//!     }
//! }
//!
//! struct NoTelnet;
//!
//! impl Stage for NoTelnet {
//!     type Config = NoConfig;
//!     type Reason = Reason;
//!     type Counter = NoNames;
//!
//!     fn new(_: NoConfig) -> Result<Self, ConfigError> {
//!         Ok(Self)
//!     }
//!
//!     fn process(
//!         &mut self,
//!         packet: &mut Packet<'_>,
//!         _: &mut Counters<NoNames>,
//!     ) -> Verdict<Reason> {
//!         match packet.tcp() {
//!             Some(tcp) if tcp.destination_port() == 23 => Verdict::Drop(Reason::Telnet),
//!             _ => Verdict::Next,
//!         }
//!     }
//! }
//!
//! weft_sdk::export!(NoTelnet);
//! # fn main() {}
//! ```
//!
//! # In a module
//!
//! - A module needs `core` and `alloc` only, and brings its own allocator. It lives in one thread.
//! - A panic is a trap: the host drops the packet, counts a fault and takes a new instance. With
//!   the feature `panic-log` the message goes to the host's log first. A module that neither has
//!   that feature nor uses [`log!`] imports nothing.
//! - Its version is `WEFT_MODULE_VERSION` of the build's environment or, without that, the
//!   package's.
#![no_std]
#![deny(unsafe_code)]

extern crate alloc;
#[cfg(not(target_arch = "wasm32"))]
extern crate std;

pub mod checksum;
mod classifier;
mod config;
mod counters;
mod export;
#[cfg(target_arch = "wasm32")]
#[doc(hidden)]
#[allow(unsafe_code, reason = "the boundary to the host")]
pub mod guest;
pub mod header;
mod id;
mod log;
#[doc(hidden)]
pub mod manifest;
mod names;
mod packet;
mod stage;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;

pub use classifier::{Classifier, View};
pub use config::{ConfigError, NoConfig};
pub use counters::Counters;
pub use id::{PortId, TableId};
pub use log::Level;
#[doc(hidden)]
pub use log::write as write_log;
pub use names::{Names, NoNames};
pub use packet::Packet;
pub use stage::{Stage, Verdict};
pub use weft_abi as abi;
