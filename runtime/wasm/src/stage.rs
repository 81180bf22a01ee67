use std::{ops::Range, sync::Arc};

use dataplane::{
    DropReason, Packet,
    stage::{Answer, Batch, Questions, Stage},
    worker::BURST,
};
use wasmtime::Trap;

use crate::{
    instance::{Instance, Outcome},
    specimen::Specimen,
    stats::{FaultKind, Tally, VerdictTotals},
    trial::Guesting,
    ward::{Failure, Ward},
};

/// One worker's stage of a deployment.
///
/// In [`run`](Stage::run) it does not allocate, lock, log or make a system call, but for what a
/// module's trap itself costs, and for a look at the clock when a call lasts for several ticks.
pub struct WasmStage {
    pub(crate) ward: Arc<Ward>,
    pub(crate) worker: usize,
    pub(crate) instance: Option<Instance>,
    /// The deployment before this one, which decides where this one cannot.
    pub(crate) last_good: Option<Box<WasmStage>>,
    /// Another deployment's part in a trial.
    trial: Option<Box<Guesting>>,
    /// In a trial: the places of packets that this one leaves to the other.
    left: Option<Vec<u16>>,
    counters: GuestCounters,
}

impl WasmStage {
    pub(crate) fn new(
        ward: Arc<Ward>,
        worker: usize,
        instance: Instance,
        last_good: Option<Self>,
    ) -> Self {
        let counters = GuestCounters::new(ward.plan.module.manifest().counters.len());
        let last_good = last_good.map(Box::new);
        let instance = Some(instance);
        Self { ward, worker, instance, last_good, trial: None, left: None, counters }
    }

    pub(crate) fn tally(&self) -> &Tally {
        self.ward.plan.stats.tally(self.worker)
    }

    /// Has an instance at hand, if there may be one.
    pub(crate) fn muster(&mut self) {
        if self.ward.plan.stats.health().is_quarantined() {
            if let Some(instance) = self.instance.take() {
                self.counters.restart();
                self.ward.discard(self.worker, instance, None);
            }
        } else if self.instance.is_none() {
            self.instance = self.ward.seats[self.worker].spare();
            // Whoever took the last spare wants another.
            if self.instance.is_some() {
                self.ward.bell.ring();
            }
        }
    }

    /// Has it decide on no packet that it has no verdict for, but leave them to another.
    pub(crate) fn leaves_to_others(&mut self) {
        self.left = Some(Vec::with_capacity(BURST));
    }

    /// Takes the packets that were left.
    pub(crate) fn take_left(&mut self, mut each: impl FnMut(usize)) {
        if let Some(left) = &mut self.left {
            left.drain(..).for_each(|place| each(place.into()));
        }
    }

    /// Takes up a trial that is offered, and gives back one that has ended.
    fn follow_trials(&mut self) {
        let seat = &self.ward.seats[self.worker];
        if let Some(part) = self.trial.take_if(|part| part.has_ended()) {
            seat.give_back(part);
            self.ward.bell.ring();
        }
        if self.trial.is_none() {
            self.trial = seat.offer();
        }
    }

    /// Decides on all packets of a batch.
    pub(crate) fn decide_all<P: Packet>(&mut self, batch: &mut Batch<'_, P>) {
        self.decide(batch, 0..batch.len());
    }

    /// Decides on the packets of `places`, by as many calls as that takes.
    pub(crate) fn decide<P: Packet>(&mut self, batch: &mut Batch<'_, P>, places: Range<usize>) {
        self.muster();
        let mut first = places.start;
        while first < places.end {
            first = self.call(batch, first..places.end);
        }
    }

    /// Has the instance decide on packets from the first on, and returns the place of the first
    /// that is still undecided.
    fn call<P: Packet>(&mut self, batch: &mut Batch<'_, P>, places: Range<usize>) -> usize {
        let Some(instance) = &mut self.instance else { return self.pass_by(batch, places) };
        let first = places.start;
        let count = instance.room().min(places.len());
        let outcome = instance.decide(batch, first, count, &self.ward.terms);
        self.note(&outcome);
        let Some(error) = outcome.fault else { return first + count };
        let place = first + outcome.decided;
        if outcome.decided == count {
            self.replace(error, None);
            return place;
        }
        let (packet, context) = batch.get(place);
        let specimen = self.ward.seats[self.worker].keep(context.in_port, packet.bytes());
        let reason = self.replace(error, specimen);
        self.settle(batch, place..place + 1, reason);
        place + 1
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
    /// the packet that it was at, of which there is a specimen, may be dropped for.
    pub(crate) fn replace(
        &mut self,
        error: wasmtime::Error,
        specimen: Option<Specimen>,
    ) -> DropReason {
        let (kind, reason, counter) = match error.downcast_ref() {
            Some(Trap::Interrupt) => {
                (FaultKind::Deadline, DropReason::StageDeadline, &self.tally().deadlines)
            }
            _ => (FaultKind::Trap, DropReason::StageTrap, &self.tally().traps),
        };
        counter.add(1);
        if let Some(instance) = self.instance.take() {
            let failure = Failure { kind, error, specimen };
            self.ward.discard(self.worker, instance, Some(failure));
        }
        self.counters.restart();
        self.instance = self.ward.seats[self.worker].spare();
        reason
    }

    /// Settles the packets for which there is no instance.
    fn pass_by<P: Packet>(&mut self, batch: &mut Batch<'_, P>, places: Range<usize>) -> usize {
        let end = places.end;
        self.tally().unavailable.add(places.len() as u64);
        self.settle(batch, places, DropReason::StageUnavailable);
        end
    }

    /// Gives packets the verdict of the deployment before this one, or the one that the stage has
    /// for faults.
    fn settle<P: Packet>(
        &mut self,
        batch: &mut Batch<'_, P>,
        places: Range<usize>,
        reason: DropReason,
    ) {
        if let Some(left) = &mut self.left {
            // Batches are of a burst, whose places fit.
            left.extend(places.filter_map(|place| u16::try_from(place).ok()));
            return;
        }
        let mut totals = VerdictTotals::default();
        if let Some(last_good) = &mut self.last_good {
            last_good.decide(batch, places.clone());
            self.tally().last_good.add(places.len() as u64);
            places.for_each(|place| totals.count(batch.get(place).1.verdict, 1));
        } else {
            let verdict = self.ward.on_fault.verdict(reason);
            totals.count(verdict, places.len() as u64);
            places.for_each(|place| batch.get_mut(place).1.verdict = verdict);
        }
        self.tally().verdicts(totals);
    }
}

impl<P: Packet> Stage<P> for WasmStage {
    fn run(&mut self, batch: &mut Batch<'_, P>) {
        self.follow_trials();
        match self.trial.take() {
            Some(mut trial) => {
                trial.share(self, batch);
                self.trial = Some(trial);
            }
            None => self.decide_all(batch),
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
