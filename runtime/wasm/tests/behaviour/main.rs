//! What the crate promises of modules that are right, and of those that are wrong.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod cache;
mod classifying;
mod compiling;
mod faults;
mod guest;
mod harness;
mod limits;
mod loading;
mod logs;
mod no_allocation;
mod policies;
mod self_test;
mod starting;
mod statistics;
mod swaps;
mod trials;
mod twin;
mod verdicts;
