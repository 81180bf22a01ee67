//! Control: the one place that changes what the workers run.
//!
//! A change takes the lock of changes, makes whatever is slow to make, has all workers take it up
//! or none, and then writes it down. Reading takes only the short lock of the state.

mod addresses;
mod api;
mod classifiers;
mod explain;
mod flows;
mod groups;
mod kept;
mod meters;
mod modules;
mod ports;
mod refusal;
mod rules;
mod stages;
mod state;
mod statistics;
mod status;
mod tables;
pub(crate) mod watch;

use std::sync::{Mutex, MutexGuard, PoisonError};

use refusal::Answer;
pub(crate) use state::RuleKey;
use state::State;

use crate::{
    cores::Cores,
    plane::{Change, Plane},
};

/// Everything that runs, and how it is changed.
pub(crate) struct Daemon {
    pub(crate) eal: dpdk::Eal,
    pub(crate) pool: dpdk::Pool,
    pub(crate) host: wasm::Host,
    pub(crate) cores: Cores,
    plane: Plane,
    /// Held by whoever makes a change, from its first look to its last.
    changes: Mutex<()>,
    /// Held by whoever has a module compiled: one after the other, so that the compiler's limits
    /// are those of the daemon, and the same bytes are compiled once.
    compiling: Mutex<()>,
    state: Mutex<State>,
}

impl Daemon {
    /// A daemon without ports, rules or stages.
    pub(crate) fn new(
        eal: dpdk::Eal,
        pool: dpdk::Pool,
        host: wasm::Host,
        cores: Cores,
        plane: Plane,
    ) -> Self {
        let (changes, compiling, state) = Default::default();
        Self { eal, pool, host, cores, plane, changes, compiling, state }
    }

    fn changing(&self) -> MutexGuard<'_, ()> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has every worker make its changes, under the next revision. What was there before is freed
    /// here.
    fn publish(&self, changes: impl FnMut(usize) -> Vec<Change>) -> Answer<()> {
        let revision = self.state().revision + 1;
        self.publish_as(revision, changes)?;
        self.state().revision = revision;
        Ok(())
    }

    /// The same under a revision that is given, and may be the one that runs.
    fn publish_as(&self, revision: u64, changes: impl FnMut(usize) -> Vec<Change>) -> Answer<()> {
        let changes = (0..self.plane.len()).map(changes).collect();
        drop(self.plane.configure(revision, changes).map_err(refusal::unchanged)?);
        Ok(())
    }

    /// Stops the workers, then detaches the devices, which writes out what they hold.
    pub(crate) fn stop(self) {
        self.plane.stop();
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (name, port) in state.ports {
            ports::log_failure(&name, ports::detach(&port.device));
        }
    }
}
