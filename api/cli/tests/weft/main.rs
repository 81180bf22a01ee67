//! The program as users run it, against a daemon that answers from a list.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod daemon;
mod failures;
mod modules;
mod observing;
mod ports;
mod rules;
mod stages;
