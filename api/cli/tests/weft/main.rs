//! The program as users run it, against a daemon that answers from a list, and against the real API
//! before a control that is a map.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod control;
mod daemon;
mod failures;
mod flows;
mod loading;
mod modules;
mod observing;
mod ports;
mod real_api;
mod rules;
mod stages;
mod tables;
