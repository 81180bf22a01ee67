use std::sync::Arc;

use dataplane::{
    DropReason, Packet,
    stage::{Answer, Batch, Questions, Stage},
};
use wasmtime::Trap;

use crate::{
    instance::{Instance, Outcome},
    stats::{FaultKind, Tally, VerdictTotals},
    ward::Ward,
};

/// One worker's stage of a deployment.
///
/// In [`run`](Stage::run) it does not allocate, lock, log or make a system call, but for what a
/// module's trap itself costs, and for a look at the clock when a call lasts for several ticks.
pub struct WasmStage {
    pub(crate) ward: Arc<Ward>,
    pub(crate) worker: usize,
    pub(crate) instance: Option<Instance>,
    counters: GuestCounters,
}

impl WasmStage {
    pub(crate) fn new(ward: Arc<Ward>, worker: usize, instance: Instance) -> Self {
        let counters = GuestCounters::new(ward.plan.module.manifest().counters.len());
        Self { ward, worker, instance: Some(instance), counters }
    }

    pub(crate) fn tally(&self) -> &Tally {
        self.ward.plan.stats.tally(self.worker)
    }

    /// Has the instance decide on packets from `first` on, and returns the place of the first that
    /// is still undecided.
    fn call<P: Packet>(&mut self, batch: &mut Batch<'_, P>, first: usize) -> usize {
        let Some(instance) = &mut self.instance else { return self.pass_by(batch, first) };
        let count = instance.room().min(batch.len() - first);
        let outcome = instance.decide(batch, first, count, &self.ward.terms);
        self.note(&outcome);
        match outcome.fault {
            None => first + count,
            Some(error) => {
                let at_fault = (outcome.decided < count).then_some(first + outcome.decided);
                let reason = self.replace(error);
                if let Some(place) = at_fault {
                    self.give(batch, place..place + 1, reason);
                }
                at_fault.map_or(first + count, |place| place + 1)
            }
        }
    }

    /// Counts what came of a call.
    pub(crate) fn note(&mut self, outcome: &Outcome) {
        let tally = self.ward.plan.stats.tally(self.worker);
        tally.called(&outcome.counts);
        if let Some(instance) = &self.instance {
            self.counters.follow(instance, tally);
        }
        if let Some(breach) = outcome.breach {
            self.ward.complain(self.worker, breach);
        }
    }

    /// Takes another instance, if one is ready, in place of one whose call did not return. Says what
    /// the packet that it was at may be dropped for.
    pub(crate) fn replace(&mut self, error: wasmtime::Error) -> DropReason {
        let (kind, reason, counter) = match error.downcast_ref() {
            Some(Trap::Interrupt) => {
                (FaultKind::Deadline, DropReason::StageDeadline, &self.tally().deadlines)
            }
            _ => (FaultKind::Trap, DropReason::StageTrap, &self.tally().traps),
        };
        counter.add(1);
        if let Some(instance) = self.instance.take() {
            self.ward.discard(self.worker, instance, kind, error);
        }
        self.counters.restart();
        self.instance = self.ward.seats[self.worker].spare();
        reason
    }

    /// Settles the packets from `first` on for which there is no instance.
    fn pass_by<P: Packet>(&self, batch: &mut Batch<'_, P>, first: usize) -> usize {
        let rest = first..batch.len();
        self.tally().unavailable.add(rest.len() as u64);
        self.give(batch, rest, DropReason::StageUnavailable);
        batch.len()
    }

    /// Gives packets the verdict that the stage has for faults.
    fn give<P>(
        &self,
        batch: &mut Batch<'_, P>,
        places: std::ops::Range<usize>,
        reason: DropReason,
    ) {
        let verdict = self.ward.on_fault.verdict(reason);
        let mut totals = VerdictTotals::default();
        totals.count(verdict, places.len() as u64);
        self.tally().verdicts(totals);
        for place in places {
            batch.get_mut(place).1.verdict = verdict;
        }
    }
}

impl<P: Packet> Stage<P> for WasmStage {
    fn run(&mut self, batch: &mut Batch<'_, P>) {
        if self.instance.is_none() {
            self.instance = self.ward.seats[self.worker].spare();
        }
        let mut first = 0;
        while first < batch.len() {
            first = self.call(batch, first);
        }
    }

    fn classify(&mut self, questions: Questions<'_, P>, answers: &mut [Answer]) {
        self.say(questions, answers);
    }
}

/// A module's own counters, over all of its instances: they never go backwards.
struct GuestCounters {
    /// What the instances before came to.
    base: Vec<u64>,
    /// What this one has come to.
    seen: Vec<u64>,
}

impl GuestCounters {
    fn new(count: usize) -> Self {
        Self { base: vec![0; count], seen: vec![0; count] }
    }

    /// Takes over what the instance counts now.
    fn follow(&mut self, instance: &Instance, tally: &Tally) {
        let Self { base, seen } = self;
        let each = |index: usize, count: u64| {
            seen[index] = seen[index].max(count);
            tally.guest(index, base[index].saturating_add(seen[index]));
        };
        instance.read_counters(each, base.len());
    }

    /// Takes note that the next instance counts from zero.
    fn restart(&mut self) {
        for (base, seen) in self.base.iter_mut().zip(&mut self.seen) {
            *base = base.saturating_add(*seen);
            *seen = 0;
        }
    }
}
