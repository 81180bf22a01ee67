//! Weft's management API: HTTP over a Unix socket and loopback, in front of a [`Control`].
//!
//! This crate knows the resources, their routes and what to do about slow, large and hostile
//! requests. It does not know the engine: whoever implements [`Control`] does.
#![forbid(unsafe_code)]

mod api;
mod body;
mod control;
mod json;
mod limits;
mod path;
mod query;
mod refusal;
mod resource;
mod router;
mod serve;

pub use control::{Control, ControlError, Kind, Put};
pub use limits::Limits;
pub use router::{openapi, router};
pub use serve::{ListenError, Listeners, Peer, serve};
