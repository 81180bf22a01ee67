//! The worker: one thread's share of the work, run to completion a burst at a time.

mod asking;
mod burst;
mod cached_flow;
mod classifier;
mod counters;
mod emitted;
mod equipment;
mod flows;
mod groups;
mod mailbox;
mod masks;
mod measure;
mod ports;
mod run;
mod steer;
mod sweep;
mod usual;
mod ways;

use burst::Burst;
pub use cached_flow::{CachedFlow, FlowCounters};
pub use classifier::Lookups;
use classifier::{Classifier, Load};
pub use counters::{LoopCounters, PortCounters, Report};
use equipment::Equipment;
pub use mailbox::{Change, Mailbox, Queues, Remote, Request, mailbox};
use ports::Ports;
pub use run::MOST_LOOKUPS;
use usual::Usual;

use crate::{Packet, Receive, Transmit, flow::Seed, stage::Stage};

/// The most packets that are received at once.
pub const BURST: usize = 32;

/// The slow lookups of a burst that cost its port nothing.
const FREE_LOOKUPS: u64 = 2;

/// Which worker it is, how many flows it remembers and for how long.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Its lane in what workers count together.
    pub worker: usize,
    /// What hashes begin with.
    pub seed: Seed,
    /// The entries of the index by all bits.
    pub exact_entries: usize,
    /// The most flows that are cached.
    pub flow_limit: usize,
    /// How long a flow without packets is cached, in the unit of [`Worker::iterate`]'s clock.
    pub idle: u64,
    /// How long any flow is cached, in the same unit; 0 for as long as packets come.
    pub hard: u64,
}

/// Some of a worker's cached flows.
#[derive(Debug, Clone, Default)]
pub struct FlowPage {
    /// Where the page begins; 0 for the first.
    pub from: usize,
    /// How many places it has, of which some may be empty.
    pub most: usize,
    /// The flows.
    pub flows: Vec<CachedFlow>,
    /// Where the next page begins, if there is one.
    pub next: Option<usize>,
    /// The worker's clock, for the flows' ages.
    pub now: u64,
}

/// One thread's queues, stages, flow cache and counters. Nobody else touches them; what is to
/// change, and what is to be read, comes as a [`Request`] by its [`Mailbox`], between two bursts.
pub struct Worker<P, R, T> {
    ports: Ports<P, R, T>,
    stages: Stages<P>,
    classifier: Classifier,
    equipment: Equipment,
    burst: Burst<P>,
    mailbox: Mailbox<P, R, T>,
    counters: LoopCounters,
    usual: Usual,
    /// A change that is done when no packet meets what was there before it.
    changing: Option<Box<Request<P, R, T>>>,
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
    /// Whether a port gave as many packets as a burst has, so that there may be more.
    full: bool,
    /// Whether several ports gave packets.
    several: bool,
    /// The last port polled whose packets took slow lookups.
    slow: Option<usize>,
}

impl Iteration {
    fn load(&self) -> Load {
        match (self.full, self.received) {
            (true, _) => Load::Full,
            (false, true) => Load::Some,
            (false, false) => Load::Nothing,
        }
    }
}

impl<P: Packet, R: Receive<P>, T: Transmit<P>> Worker<P, R, T> {
    /// A worker without ports, whose tables are empty.
    #[must_use]
    pub fn new(settings: Settings, mailbox: Mailbox<P, R, T>) -> Self {
        Self {
            ports: Ports::default(),
            stages: Vec::new(),
            classifier: Classifier::new(settings),
            equipment: Equipment::new(settings),
            burst: Burst::new(),
            mailbox,
            counters: LoopCounters::default(),
            usual: Usual::default(),
            changing: None,
            revision: 0,
            iteration: Iteration::default(),
        }
    }

    /// Answers the requests that have come, then polls each port once. `now` is in the unit that
    /// the loop's counters are to be in, such as cycles. Returns whether the worker is to go on.
    pub fn iterate(&mut self, now: u64) -> bool {
        self.account(now);
        if self.classifier.tend(now, self.iteration.load())
            && let Some(done) = self.changing.take()
        {
            self.mailbox.answer(done);
        }
        if !self.answer(now) {
            return false;
        }
        self.equipment.now = now;
        let mut now_at = Iteration { started: Some(now), ..Iteration::default() };
        for place in 0..self.ports.polled() {
            if self.iteration.full && self.ports.waits(place) {
                self.counters.deferred_polls += 1;
                continue;
            }
            let before = self.classifier.slow_lookups();
            let packets = self.poll(place);
            now_at.several |= now_at.received && packets > 0;
            now_at.received |= packets > 0;
            now_at.full |= packets == BURST;
            if self.classifier.slow_lookups() - before > FREE_LOOKUPS {
                now_at.slow = Some(place);
            }
        }
        self.burst.run_emitted(
            &mut self.classifier,
            &mut self.stages,
            &mut self.equipment,
            &mut self.ports,
        );
        self.iteration = now_at;
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
            self.be_fair(spent);
        } else {
            self.counters.idle_cycles += spent;
        }
    }

    /// Has a port whose slow lookups made the last round long wait, for the others' sake.
    fn be_fair(&mut self, spent: u64) {
        let Iteration { slow, full, several, .. } = self.iteration;
        match slow {
            Some(place) if several => {
                self.usual.slow_rounds += 1;
                self.ports.hold(place, self.usual.rounds_for(spent));
            }
            None if full => self.usual.learn(spent),
            _ => {}
        }
    }

    /// Receives one burst of a port and sees it through. Returns how many packets it had.
    fn poll(&mut self, place: usize) -> usize {
        let Some(in_port) = self.ports.receive(place, self.burst.packets()) else { return 0 };
        let packets = self.burst.len();
        self.counters.rx_packets += packets as u64;
        self.burst.look_up(in_port, &mut self.classifier, &mut self.stages);
        self.burst.run(
            &mut self.classifier,
            &mut self.stages,
            &mut self.equipment,
            &mut self.ports,
        );
        self.ports.flush();
        packets
    }

    /// Answers the requests that have come, but none behind a change that is not done. Returns
    /// whether the worker is to go on.
    fn answer(&mut self, now: u64) -> bool {
        while self.changing.is_none()
            && let Some(mut request) = self.mailbox.next()
        {
            match request.as_mut() {
                Request::Configure { revision, changes } => {
                    changes.iter_mut().for_each(|change| self.apply(change));
                    std::mem::swap(&mut self.revision, revision);
                }
                Request::Report(report) => self.report(report),
                Request::Flows(page) => {
                    page.now = now;
                    self.classifier.tell(page);
                }
                Request::Stop => {
                    self.mailbox.answer(request);
                    return false;
                }
            }
            if self.classifier.is_revising() {
                self.changing = Some(request);
            } else {
                self.mailbox.answer(request);
            }
        }
        true
    }

    /// Takes up what is new and leaves in its place what was there.
    fn apply(&mut self, change: &mut Change<P, R, T>) {
        match change {
            Change::Rules(tables, touched) => self.classifier.replace(tables, touched),
            Change::Stage(id, stage) => {
                std::mem::swap(slot(&mut self.stages, id.0), stage);
            }
            Change::Meter(id, meter) => {
                std::mem::swap(slot(&mut self.equipment.meters, id.0), meter);
            }
            Change::Group(id, group) => {
                std::mem::swap(slot(&mut self.equipment.groups, id.0), group);
            }
            Change::Addresses(addresses) => {
                std::mem::swap(&mut self.equipment.addresses, addresses);
            }
            Change::Port(id, queues) => self.ports.replace(*id, queues),
        }
    }

    fn report(&self, report: &mut Report) {
        report.clear();
        report.revision = self.revision;
        self.ports.report(report);
        report.worker = self.counters.clone();
        self.classifier.report(report);
    }
}

/// The place of what has a number; there is one for every number.
fn slot<T>(things: &mut Vec<Option<T>>, number: u16) -> &mut Option<T> {
    let place = usize::from(number);
    if things.len() <= place {
        things.resize_with(place + 1, || None);
    }
    &mut things[place]
}
