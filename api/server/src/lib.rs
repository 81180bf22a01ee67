//! Weft's management API: HTTP over a Unix socket and loopback, in front of a [`Control`].
//!
//! This crate knows the resources, their routes and what to do about slow, large and hostile
//! requests. It does not know the engine: whoever implements [`Control`] does.
#![forbid(unsafe_code)]

mod control;

pub use control::{Control, ControlError, Kind, Put};
