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
    text::excerpt,
    verdict::{Breach, Terms},
};

/// The instances that wait for each worker.
const SPARES: usize = 1;

/// A deployment in the nursery's care. Its stages hold it; with the last of them it ends.
pub(crate) struct Ward {
    pub(crate) plan: Plan,
    pub(crate) terms: Terms,
    pub(crate) on_fault: OnFault,
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
    text.lines().skip(1).map(|line| excerpt(line.trim())).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;
    use weft_abi::BatchArea;

    use super::*;
    use crate::{Host, HostOptions, Limits, Module, StageStats};

    /// Traps at its start if its configuration begins with the digit 1.
    const MODULE: &str = r#"(module
        (memory (export "memory") 1)
        (func (export "weft_abi_version") (result i32) i32.const 1)
        (func (export "weft_alloc") (param i32) (result i32) i32.const 64)
        (func (export "weft_init") (param $config i32) (param i32) (result i64)
          (if (i32.eq (i32.load8_u (local.get $config)) (i32.const 49)) (then unreachable))
          i64.const 0)
        (func (export "weft_batch") (param i32 i32) (result i32) i32.const 4096)
        (func (export "weft_process") (param i32))
        (@custom "weft.manifest" "{\"name\":\"m\",\"version\":\"1\"}"))"#;

    #[test]
    fn a_successor_that_does_not_start_is_tried_again_ever_later() {
        let host = Host::new(HostOptions::default()).unwrap();
        let mut plan = Plan {
            module: Module::compile(&host, &wat::parse_str(MODULE).unwrap()).unwrap(),
            config: json!(0).to_string().into_bytes(),
            limits: Limits::default(),
            shape: BatchArea { packets: 1, window: 64 },
            stats: Arc::new(StageStats::new(&[], 1)),
            ticker: Arc::clone(&host.ticker),
        };
        let (instance, spare) = (plan.instantiate().unwrap(), plan.instantiate().unwrap());
        plan.config = json!(1).to_string().into_bytes();
        let ward = Ward {
            plan,
            terms: Terms { reasons: Vec::new(), writes: false },
            on_fault: OnFault::Drop,
            bell: Arc::default(),
            seats: [Seat::new(spare)].into(),
        };
        let fault = || ward.plan.stats.last_fault().map(|fault| (fault.kind, fault.message));

        assert_eq!(ward.tend(), None, "nothing is missing");
        assert_eq!(fault(), None);
        drop(ward.seats[0].spare());
        ward.discard(0, instance, FaultKind::Trap, wasmtime::Error::msg("it fell"));
        let due = ward.tend().expect("the successor failed");
        assert!(due <= Instant::now() + Duration::from_millis(2), "the first wait is short");
        let trap = "the module trapped in weft_init: wasm trap: wasm `unreachable` instruction \
                    executed";
        assert_eq!(fault(), Some((FaultKind::Restart, trap.into())));
    }
}
