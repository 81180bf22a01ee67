//! The API from outside, in front of a control that is a few maps.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod batch;
mod bodies;
mod client;
mod connections;
mod fake;
mod flows;
mod gate;
mod log;
mod maps;
mod modules;
mod openapi;
mod origin;
mod refusals;
mod resources;
mod running;
mod shutdown;
mod sockets;
mod steering;
mod tables;
