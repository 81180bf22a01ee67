use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Instant, SystemTime},
};

use crossbeam::queue::ArrayQueue;
use wasmtime::WasmBacktrace;

use crate::{
    backoff::Backoff,
    bell::Bell,
    deployment::OnFault,
    instance::Instance,
    startup::{Plan, cause},
    stats::{FaultKind, FaultReport},
    text::printable,
    verdict::{Breach, Terms},
};

/// The instances that wait for each worker.
const SPARES: usize = 1;

/// A deployment in the nursery's care. Its stages hold it; with the last of them it ends.
pub(crate) struct Ward {
    pub(crate) plan: Plan,
    pub(crate) terms: Terms,
    pub(crate) on_fault: OnFault,
    /// The deadline of a call.
    pub(crate) ticks: u64,
    pub(crate) bell: Arc<Bell>,
    pub(crate) seats: Box<[Seat]>,
}

/// Where a worker and the nursery exchange what is whole for what is broken, without a lock.
pub(crate) struct Seat {
    spares: ArrayQueue<Instance>,
    discarded: ArrayQueue<Discarded>,
    breaches: ArrayQueue<Breach>,
    backoff: Mutex<Backoff>,
}

/// An instance that failed. It is never called again.
struct Discarded {
    instance: Instance,
    kind: FaultKind,
    error: wasmtime::Error,
}

impl Seat {
    pub(crate) fn new(spare: Instance) -> Self {
        let spares = ArrayQueue::new(SPARES);
        // It is new and has room.
        drop(spares.push(spare));
        Self {
            spares,
            // One is at work, the others wait, and none is made before the discarded are gone: so
            // this is never full, and no worker frees an instance.
            discarded: ArrayQueue::new(1 + SPARES),
            breaches: ArrayQueue::new(1),
            backoff: Mutex::new(Backoff::new()),
        }
    }

    /// The next instance, if one is ready. Fit for the packet path.
    pub(crate) fn spare(&self) -> Option<Instance> {
        self.spares.pop()
    }
}

impl Ward {
    /// Hands an instance that failed to the nursery. Fit for the packet path.
    pub(crate) fn discard(
        &self,
        worker: usize,
        instance: Instance,
        kind: FaultKind,
        error: wasmtime::Error,
    ) {
        drop(self.seats[worker].discarded.push(Discarded { instance, kind, error }));
        self.bell.ring();
    }

    /// Hands an answer that broke the contract to whoever asks for the last fault; if one waits
    /// already, this one is only counted. Fit for the packet path.
    pub(crate) fn complain(&self, worker: usize, breach: Breach) {
        if self.seats[worker].breaches.push(breach).is_ok() {
            self.bell.ring();
        }
    }

    /// Frees what was discarded, and makes the spares that are due. Returns when the next is.
    pub(crate) fn tend(&self) -> Option<Instant> {
        let due = |(worker, seat): (usize, &Seat)| {
            let mut backoff = seat.backoff.lock().unwrap_or_else(PoisonError::into_inner);
            self.clear(worker, seat, &mut backoff);
            self.refill(worker, seat, &mut backoff)
        };
        self.seats.iter().enumerate().filter_map(due).min()
    }

    fn clear(&self, worker: usize, seat: &Seat, backoff: &mut Backoff) {
        if let Some(breach) = seat.breaches.pop() {
            self.report(worker, FaultKind::BadVerdict, breach.to_string(), Vec::new());
        }
        while let Some(Discarded { instance, kind, error }) = seat.discarded.pop() {
            backoff.fault(Instant::now());
            self.report(worker, kind, cause(&error), backtrace(&error));
            drop(instance);
        }
    }

    fn refill(&self, worker: usize, seat: &Seat, backoff: &mut Backoff) -> Option<Instant> {
        if seat.spares.is_full() {
            return None;
        }
        if let Some(due) = backoff.due()
            && due > Instant::now()
        {
            return Some(due);
        }
        match self.plan.instantiate() {
            Ok(spare) => {
                drop(seat.spares.push(spare));
                None
            }
            Err(error) => {
                backoff.fault(Instant::now());
                self.report(worker, FaultKind::Restart, error.to_string(), Vec::new());
                backoff.due()
            }
        }
    }

    fn report(&self, worker: usize, kind: FaultKind, message: String, backtrace: Vec<String>) {
        let at = SystemTime::now();
        self.plan.stats.report(FaultReport { kind, worker, at, message, backtrace });
    }
}

/// The frames of a trap, innermost first.
fn backtrace(error: &wasmtime::Error) -> Vec<String> {
    let Some(trace) = error.downcast_ref::<WasmBacktrace>() else { return Vec::new() };
    let text = trace.to_string();
    // The first line announces the frames.
    text.lines().skip(1).map(|line| printable(line.trim().as_bytes())).collect()
}
