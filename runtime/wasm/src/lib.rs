//! Runs stages that are WebAssembly modules, so that a module can be wrong without hurting anyone.
//!
//! A [`Host`] is the engine of the process. A [`Module`] is bytes that were checked and compiled.
//! A [`Deployment`] is a module with its configuration and limits; deploying it makes a
//! [`WasmStage`] for each worker, which has an instance of its own and shares nothing with the
//! others, and [`StageStats`] for control.
//!
//! A module sees a copy of the first bytes of each packet, its window; whatever it answers is read
//! once and checked. A call that traps or overruns its deadline costs the packet that it was at:
//! the instance is never called again, a spare one goes on with the rest of the batch, and a
//! thread makes the next spare, the later the oftener it fails. The contract is in [`weft_abi`].
//!
//! It knows neither DPDK nor how rules and stages are named.
#![deny(unsafe_code)]

mod allowance;
mod backoff;
mod bell;
mod classify;
mod compile;
mod deployment;
mod health;
mod host;
mod inspect;
mod instance;
mod instantiate_error;
mod load_error;
mod logs;
mod manifest;
mod memory;
mod module;
mod nursery;
mod pace;
mod samples;
mod self_test;
mod specimen;
mod stage;
mod startup;
mod stats;
mod text;
mod ticker;
mod trial;
mod verdict;
mod ward;
mod window;

pub use compile::{
    CacheError, ChildProcess, CompileLimits, Compiler, Excess, Origin, serve_compiler,
};
pub use deployment::{Deployed, Deployment, Limits, OnFault};
pub use health::{Condition, StageState, Transition};
pub use host::{Host, HostError, HostOptions};
pub use instantiate_error::InstantiateError;
pub use load_error::LoadError;
pub use logs::{Level, LogLine};
pub use manifest::ManifestError;
pub use module::Module;
pub use specimen::FaultPacket;
pub use stage::WasmStage;
pub use stats::{FaultKind, FaultReport, FaultTotals, StageStats, StageTotals, VerdictTotals};
pub use trial::{InService, Reading, Share, Trial};
