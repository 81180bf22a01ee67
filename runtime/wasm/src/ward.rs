use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Instant, SystemTime},
};

use crossbeam::queue::ArrayQueue;
use dataplane::PortId;
use wasmtime::WasmBacktrace;

use crate::{
    backoff::Backoff,
    bell::Bell,
    deployment::OnFault,
    health::StageState,
    instance::Instance,
    specimen::{FaultPacket, Specimen},
    startup::{Plan, cause},
    stats::{FaultKind, FaultReport},
    text::excerpt,
    trial::{Guesting, Lent},
    verdict::{Breach, Terms},
};

/// The instances that wait for each worker.
const SPARES: usize = 1;

/// A deployment in the nursery's care. Its stages hold it; with the last of them it ends.
pub(crate) struct Ward {
    pub(crate) plan: Plan,
    pub(crate) terms: Terms,
    pub(crate) on_fault: OnFault,
    /// Whether the deployment before this one can decide in its place.
    pub(crate) has_last_good: bool,
    pub(crate) bell: Arc<Bell>,
    pub(crate) seats: Box<[Seat]>,
    /// The last trial beside it.
    pub(crate) trial: Mutex<Option<Arc<Lent>>>,
}

/// Where a worker and the nursery exchange what is whole for what is broken, without a lock.
pub(crate) struct Seat {
    spares: ArrayQueue<Instance>,
    discarded: ArrayQueue<Discarded>,
    breaches: ArrayQueue<Breach>,
    /// For packets that are to be kept.
    specimens: ArrayQueue<Specimen>,
    /// Another deployment's part of a trial, on its way to the worker and back.
    offer: ArrayQueue<Box<Guesting>>,
    returned: ArrayQueue<Box<Guesting>>,
    care: Mutex<Care>,
}

/// What the nursery knows of a seat.
struct Care {
    backoff: Backoff,
    /// The instances that are fit, at work or not.
    fit: usize,
}

/// An instance that is never called again.
struct Discarded {
    instance: Instance,
    failure: Option<Failure>,
}

/// Why a call did not return, and on which packet.
pub(crate) struct Failure {
    pub(crate) kind: FaultKind,
    pub(crate) error: wasmtime::Error,
    pub(crate) specimen: Option<Specimen>,
}

impl Seat {
    pub(crate) fn new(spare: Instance) -> Self {
        let spares = ArrayQueue::new(SPARES);
        // It is new and has room.
        drop(spares.push(spare));
        let specimens = ArrayQueue::new(1 + SPARES);
        while specimens.push(Specimen::new()).is_ok() {}
        Self {
            spares,
            // One is at work, the others wait, and none is made before the discarded are gone: so
            // this is never full, and no worker frees an instance.
            discarded: ArrayQueue::new(1 + SPARES),
            breaches: ArrayQueue::new(1),
            specimens,
            offer: ArrayQueue::new(1),
            returned: ArrayQueue::new(2),
            care: Mutex::new(Care { backoff: Backoff::new(), fit: 1 + SPARES }),
        }
    }

    /// Copies a packet that a call did not return from. Fit for the packet path.
    pub(crate) fn keep(&self, in_port: PortId, packet: &[u8]) -> Option<Specimen> {
        // There is one for each instance that may fail before the nursery comes.
        let mut specimen = self.specimens.pop()?;
        specimen.take(in_port, packet);
        Some(specimen)
    }

    /// A part in a trial, if one is offered. Fit for the packet path.
    pub(crate) fn offer(&self) -> Option<Box<Guesting>> {
        if self.offer.is_empty() { None } else { self.offer.pop() }
    }

    /// Gives a part in a trial back that has ended. Fit for the packet path.
    pub(crate) fn give_back(&self, part: Box<Guesting>) {
        // There is room, unless several trials ended before the nursery came by.
        drop(self.returned.push(part));
    }

    /// The next instance, if one is ready. Fit for the packet path.
    pub(crate) fn spare(&self) -> Option<Instance> {
        self.spares.pop()
    }
}

impl Ward {
    /// Hands an instance that failed, or that may not run, to the nursery. Fit for the packet path.
    pub(crate) fn discard(&self, worker: usize, instance: Instance, failure: Option<Failure>) {
        drop(self.seats[worker].discarded.push(Discarded { instance, failure }));
        self.bell.ring();
    }

    /// Hands an answer that broke the contract to whoever asks for the last fault; if one waits
    /// already, this one is only counted. Fit for the packet path.
    pub(crate) fn complain(&self, worker: usize, breach: Breach) {
        if self.seats[worker].breaches.push(breach).is_ok() {
            self.bell.ring();
        }
    }

    /// Offers a trial to all workers, unless another runs.
    pub(crate) fn offer(&self, lent: &Arc<Lent>, parts: Vec<Guesting>) -> bool {
        let mut trial = self.trial.lock().unwrap_or_else(PoisonError::into_inner);
        if trial.as_ref().is_some_and(|running| !running.has_ended()) {
            return false;
        }
        *trial = Some(Arc::clone(lent));
        for (seat, part) in self.seats.iter().zip(parts) {
            drop(seat.offer.force_push(Box::new(part)));
        }
        true
    }

    /// Frees what was discarded, and makes the spares that are due. Returns when the next is.
    pub(crate) fn tend(&self) -> Option<Instant> {
        let health = self.plan.stats.health();
        let resumed = health.take_resumed();
        for (worker, seat) in self.seats.iter().enumerate() {
            let mut care = seat.care();
            if resumed {
                care.backoff = Backoff::new();
            }
            self.clear(worker, seat, &mut care);
            seat.end_trial();
        }
        let (mut due, mut missing) = (None, false);
        for (worker, seat) in self.seats.iter().enumerate() {
            let mut care = seat.care();
            if health.is_quarantined() {
                seat.retire(&mut care);
                continue;
            }
            let next = self.refill(worker, seat, &mut care);
            due = [due, next].into_iter().flatten().min();
            missing |= care.fit == 0;
        }
        let state = match (health.is_quarantined(), self.has_last_good) {
            (true, true) => StageState::LastGood,
            (true, false) => StageState::Quarantined,
            (false, _) if missing => StageState::Restarting,
            (false, _) => StageState::Running,
        };
        health.settle(state, due);
        due
    }

    fn clear(&self, worker: usize, seat: &Seat, care: &mut Care) {
        if let Some(breach) = seat.breaches.pop() {
            self.report(worker, FaultKind::BadVerdict, breach.to_string(), Vec::new(), None);
        }
        while let Some(Discarded { instance, failure }) = seat.discarded.pop() {
            care.fit -= 1;
            if let Some(Failure { kind, error, specimen }) = failure {
                self.fault(care);
                let packet = specimen.as_ref().map(Specimen::packet);
                self.report(worker, kind, cause(&error), backtrace(&error), packet);
                if let Some(specimen) = specimen {
                    // It was taken out of there.
                    drop(seat.specimens.push(specimen));
                }
            }
            drop(instance);
        }
    }

    fn fault(&self, care: &mut Care) {
        let (now, limits) = (Instant::now(), self.plan.limits);
        care.backoff.fault(now);
        self.plan.stats.health().fault(now, limits.faults, limits.fault_window);
    }

    fn refill(&self, worker: usize, seat: &Seat, care: &mut Care) -> Option<Instant> {
        if seat.spares.is_full() {
            return None;
        }
        if let Some(due) = care.backoff.due()
            && due > Instant::now()
        {
            return Some(due);
        }
        match self.plan.instantiate() {
            Ok(spare) => {
                drop(seat.spares.push(spare));
                care.fit += 1;
                self.plan.stats.health().restarted();
                None
            }
            Err(error) => {
                self.fault(care);
                self.report(worker, FaultKind::Restart, error.to_string(), Vec::new(), None);
                care.backoff.due()
            }
        }
    }

    fn report(
        &self,
        worker: usize,
        kind: FaultKind,
        message: String,
        backtrace: Vec<String>,
        packet: Option<FaultPacket>,
    ) {
        let (at, module) = (SystemTime::now(), self.plan.module.digest().to_owned());
        let report = FaultReport { kind, worker, at, message, backtrace, module, packet };
        self.plan.stats.report(report);
    }
}

impl Seat {
    fn care(&self) -> MutexGuard<'_, Care> {
        self.care.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees a part in a trial that has ended.
    fn end_trial(&self) {
        while let Some(part) = self.returned.pop() {
            drop(part);
        }
        // If the worker comes by just now, it finds none, and the next time this one.
        if let Some(part) = self.offer.pop()
            && !part.has_ended()
        {
            drop(self.offer.push(part));
        }
    }

    /// Frees the spares of a stage that may not run.
    fn retire(&self, care: &mut Care) {
        while let Some(spare) = self.spares.pop() {
            care.fit -= 1;
            drop(spare);
        }
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
            stats: Arc::new(StageStats::new(&[], 1, Arc::default())),
            ticker: Arc::clone(&host.ticker),
        };
        let (instance, spare) = (plan.instantiate().unwrap(), plan.instantiate().unwrap());
        plan.config = json!(1).to_string().into_bytes();
        let ward = Ward {
            plan,
            terms: Terms { reasons: Vec::new(), writes: false },
            on_fault: OnFault::Drop,
            has_last_good: false,
            bell: Arc::default(),
            seats: [Seat::new(spare)].into(),
            trial: Mutex::default(),
        };
        let fault = || ward.plan.stats.last_fault().map(|fault| (fault.kind, fault.message));

        assert_eq!(ward.tend(), None, "nothing is missing");
        assert_eq!(fault(), None);
        drop(ward.seats[0].spare());
        let error = wasmtime::Error::msg("it fell");
        let failure = Failure { kind: FaultKind::Trap, error, specimen: None };
        ward.discard(0, instance, Some(failure));
        let due = ward.tend().expect("the successor failed");
        assert!(due <= Instant::now() + Duration::from_millis(2), "the first wait is short");
        let trap = "the module trapped in weft_init: wasm trap: wasm `unreachable` instruction \
                    executed";
        assert_eq!(fault(), Some((FaultKind::Restart, trap.into())));
    }
}
