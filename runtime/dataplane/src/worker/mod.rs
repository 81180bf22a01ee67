//! The worker: one thread's share of the work, run to completion a burst at a time.

mod burst;
mod classifier;
mod counters;
mod mailbox;
mod ports;
mod run;

use std::sync::Arc;

use burst::Burst;
use classifier::Classifier;
pub use counters::{LoopCounters, PortCounters, Report, Tally};
pub use mailbox::{Change, Mailbox, Queues, Remote, Request, mailbox};
use ports::Ports;

use crate::{Packet, Receive, StageId, Transmit, classify::Tables, flow::Seed, stage::Stage};

/// The most packets that are received at once.
pub const BURST: usize = 32;

/// How big a worker's tables are, and what they are seeded with.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The entries of the flow cache.
    pub cache_entries: usize,
    /// What hashes begin with.
    pub seed: Seed,
}

/// One thread's queues, stages, flow cache and counters. Nobody else touches them; what is to
/// change, and what is to be read, comes as a [`Request`] by its [`Mailbox`], between two bursts.
pub struct Worker<P, R, T> {
    ports: Ports<P, R, T>,
    stages: Stages<P>,
    classifier: Classifier,
    burst: Burst<P>,
    mailbox: Mailbox<P, R, T>,
    counters: LoopCounters,
    revision: u64,
    iteration: Iteration,
}

/// The stage instances of a worker, by their slots.
type Stages<P> = Vec<Option<Box<dyn Stage<P>>>>;

/// What the last round of polling began at and found.
#[derive(Debug, Default)]
struct Iteration {
    started: Option<u64>,
    received: bool,
}

impl<P: Packet, R: Receive<P>, T: Transmit<P>> Worker<P, R, T> {
    /// A worker without ports, whose tables are empty.
    #[must_use]
    pub fn new(settings: Settings, mailbox: Mailbox<P, R, T>) -> Self {
        Self {
            ports: Ports::default(),
            stages: Vec::new(),
            classifier: Classifier::new(settings),
            burst: Burst::new(),
            mailbox,
            counters: LoopCounters::default(),
            revision: 0,
            iteration: Iteration::default(),
        }
    }

    /// Answers the requests that have come, then polls each port once. `now` is in the unit that
    /// the loop's counters are to be in, such as cycles. Returns whether the worker is to go on.
    pub fn iterate(&mut self, now: u64) -> bool {
        self.account(now);
        if !self.answer() {
            return false;
        }
        let mut received = false;
        for place in 0..self.ports.polled() {
            received |= self.poll(place);
        }
        self.iteration = Iteration { started: Some(now), received };
        true
    }

    /// Adds the time since the last round to what it was spent on.
    fn account(&mut self, now: u64) {
        let Some(started) = self.iteration.started else { return };
        let spent = now.wrapping_sub(started);
        self.counters.iterations += 1;
        if self.iteration.received {
            self.counters.busy_iterations += 1;
            self.counters.busy_cycles += spent;
            self.counters.longest_iteration = self.counters.longest_iteration.max(spent);
        } else {
            self.counters.idle_cycles += spent;
        }
    }

    /// Receives one burst of a port and sees it through. Returns whether there was one.
    fn poll(&mut self, place: usize) -> bool {
        let Some(in_port) = self.ports.receive(place, self.burst.packets()) else { return false };
        self.counters.rx_packets += self.burst.len() as u64;
        self.burst.parse(in_port);
        self.burst.run(&mut self.classifier, &mut self.stages, &mut self.ports);
        self.burst.disperse(&mut self.ports);
        self.ports.flush();
        true
    }

    /// Answers the requests that have come. Returns whether the worker is to go on.
    fn answer(&mut self) -> bool {
        while let Some(mut request) = self.mailbox.next() {
            match request.as_mut() {
                Request::Configure { revision, changes } => {
                    changes.iter_mut().for_each(|change| self.apply(change));
                    std::mem::swap(&mut self.revision, revision);
                }
                Request::Report(report) => self.report(report),
                Request::Stop => {
                    self.mailbox.answer(request);
                    return false;
                }
            }
            self.mailbox.answer(request);
        }
        true
    }

    /// Takes up what is new and leaves in its place what was there.
    fn apply(&mut self, change: &mut Change<P, R, T>) {
        match change {
            Change::Tables(tables) => self.classifier.replace(tables),
            Change::Stage(id, stage) => {
                std::mem::swap(slot(&mut self.stages, *id), stage);
            }
            Change::Port(id, queues) => self.ports.replace(*id, queues),
        }
    }

    fn report(&self, report: &mut Report) {
        report.clear();
        report.revision = self.revision;
        self.ports.report(report);
        self.classifier.report(report);
        report.worker = LoopCounters { programs: report.worker.programs, ..self.counters.clone() };
        let (hits, misses) = self.classifier.lookups();
        (report.worker.cache_hits, report.worker.cache_misses) = (hits, misses);
    }
}

/// The place of a stage; there is one for every id.
fn slot<P>(stages: &mut Stages<P>, id: StageId) -> &mut Option<Box<dyn Stage<P>>> {
    let place = usize::from(id.0);
    if stages.len() <= place {
        stages.resize_with(place + 1, || None);
    }
    &mut stages[place]
}

/// Tables without rules: every packet misses.
fn no_tables() -> Arc<Tables> {
    Arc::default()
}
