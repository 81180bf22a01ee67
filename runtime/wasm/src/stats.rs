use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

use crossbeam::utils::CachePadded;
use dataplane::stage::Verdict;

use crate::{
    bell::Bell,
    health::{Condition, Health, Transition},
    logs::{LogLine, LogQueue},
    specimen::FaultPacket,
};

/// The most faults that are kept.
const FAULTS: usize = 8;

/// What control may know of a deployment: its counters, its log, how it does and
/// its last faults, of all workers together. It outlives the stages, so that their last numbers can be read.
#[derive(Debug)]
pub struct StageStats {
    names: Vec<String>,
    tallies: Box<[CachePadded<Tally>]>,
    logs: LogQueue,
    health: Health,
    bell: Arc<Bell>,
    faults: Mutex<VecDeque<FaultReport>>,
}

/// The counters of a deployment at one moment.
///
/// `packets` is the sum of the verdicts, among which are those that the host gave in place of a
/// module that failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StageTotals {
    /// The packets that came to the stage.
    pub packets: u64,
    /// The calls into the module that they took.
    pub batches: u64,
    /// What became of the packets.
    pub verdicts: VerdictTotals,
    /// How often the module broke its contract.
    pub faults: FaultTotals,
    /// The packets that came while there was no instance.
    pub unavailable_packets: u64,
    /// The packets on which the deployment before this one decided in its place.
    pub last_good_packets: u64,
    /// The lines of the log that were too many.
    pub log_lines_lost: u64,
    /// The module's own counters, by the names in its manifest.
    pub counters: BTreeMap<String, u64>,
}

/// How many packets had which verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VerdictTotals {
    /// They went on.
    pub next: u64,
    /// They were dropped.
    pub drop: u64,
    /// They left by a port.
    pub output: u64,
    /// They were looked up again.
    pub goto: u64,
}

/// How often a module broke its contract, and how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FaultTotals {
    /// Calls that trapped.
    pub trap: u64,
    /// Calls that overran their deadline.
    pub deadline: u64,
    /// Packets whose verdict meant nothing.
    pub bad_verdict: u64,
}

/// How a module broke its contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// A call trapped.
    Trap,
    /// A call overran its deadline.
    Deadline,
    /// A verdict meant nothing.
    BadVerdict,
    /// A new instance, to replace one that failed, did not start.
    Restart,
}

/// A fault of a module, for whoever is to mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultReport {
    /// What kind of fault.
    pub kind: FaultKind,
    /// The worker that it happened on, by its place in the deployment.
    pub worker: usize,
    /// When it was seen.
    pub at: SystemTime,
    /// What happened.
    pub message: String,
    /// Where in the module, innermost first: a line for each frame.
    pub backtrace: Vec<String>,
    /// The digest of the module.
    pub module: String,
    /// The packet that it failed on, if it was one.
    pub packet: Option<FaultPacket>,
}

/// A number that one thread adds to and others read.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

/// What one worker's stage counts.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    batches: Counter,
    next: Counter,
    drop: Counter,
    output: Counter,
    goto: Counter,
    pub(crate) traps: Counter,
    pub(crate) deadlines: Counter,
    bad_verdicts: Counter,
    pub(crate) unavailable: Counter,
    pub(crate) last_good: Counter,
    guest: Box<[Counter]>,
}

/// What one call added.
#[derive(Debug, Default)]
pub(crate) struct CallCounts {
    pub(crate) verdicts: VerdictTotals,
    pub(crate) bad_verdicts: u64,
}

impl StageStats {
    pub(crate) fn new(names: &[String], workers: usize, bell: Arc<Bell>) -> Self {
        let tally = || CachePadded::new(Tally::new(names.len()));
        Self {
            names: names.to_vec(),
            tallies: (0..workers).map(|_| tally()).collect(),
            logs: LogQueue::new(),
            health: Health::new(),
            bell,
            faults: Mutex::default(),
        }
    }

    /// The counters of all workers together, now.
    #[must_use]
    pub fn totals(&self) -> StageTotals {
        let mut totals = StageTotals { log_lines_lost: self.logs.lost(), ..Default::default() };
        for name in &self.names {
            totals.counters.insert(name.clone(), 0);
        }
        for tally in &self.tallies {
            totals.add(&tally.totals(&self.names));
        }
        totals
    }

    /// The last fault, if there was any.
    #[must_use]
    pub fn last_fault(&self) -> Option<FaultReport> {
        self.kept_faults().back().cloned()
    }

    /// The last faults, from the oldest on.
    #[must_use]
    pub fn faults(&self) -> Vec<FaultReport> {
        self.kept_faults().iter().cloned().collect()
    }

    /// What the stage is at.
    #[must_use]
    pub fn condition(&self) -> Condition {
        self.health.condition()
    }

    /// Takes the changes of what the stage is at since the last time.
    pub fn drain_transitions(&self) -> impl Iterator<Item = Transition> {
        self.health.drain_news().into_iter()
    }

    /// Has a quarantine end, soon: instances are made again.
    pub fn resume(&self) {
        self.health.resume();
        self.bell.ring();
    }

    /// Takes the lines that the module wrote to its log since the last time.
    pub fn drain_log(&self) -> impl Iterator<Item = LogLine> {
        self.logs.drain()
    }

    pub(crate) fn logs(&self) -> &LogQueue {
        &self.logs
    }

    pub(crate) fn tally(&self, worker: usize) -> &Tally {
        &self.tallies[worker]
    }

    pub(crate) fn report(&self, fault: FaultReport) {
        let mut faults = self.kept_faults();
        if faults.len() == FAULTS {
            faults.pop_front();
        }
        faults.push_back(fault);
    }

    pub(crate) fn health(&self) -> &Health {
        &self.health
    }

    fn kept_faults(&self) -> MutexGuard<'_, VecDeque<FaultReport>> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StageTotals {
    /// Adds another deployment's counters, name by name: how a stage's counts go on when it is
    /// swapped for another module.
    pub fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.batches += other.batches;
        self.verdicts.add(other.verdicts);
        self.faults.trap += other.faults.trap;
        self.faults.deadline += other.faults.deadline;
        self.faults.bad_verdict += other.faults.bad_verdict;
        self.unavailable_packets += other.unavailable_packets;
        self.last_good_packets += other.last_good_packets;
        self.log_lines_lost += other.log_lines_lost;
        for (name, count) in &other.counters {
            // A module counts what it likes, up to the largest number.
            let sum = self.counters.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
    }
}

impl VerdictTotals {
    /// How many packets there were.
    #[must_use]
    pub fn packets(self) -> u64 {
        self.next + self.drop + self.output + self.goto
    }

    /// Counts `packets` of one verdict.
    pub(crate) fn count(&mut self, verdict: Verdict, packets: u64) {
        match verdict {
            Verdict::Next => self.next += packets,
            Verdict::Drop(_) => self.drop += packets,
            Verdict::Output(_) => self.output += packets,
            Verdict::Goto(_) => self.goto += packets,
        }
    }

    fn add(&mut self, other: Self) {
        self.next += other.next;
        self.drop += other.drop;
        self.output += other.output;
        self.goto += other.goto;
    }
}

impl Counter {
    /// Adds, if the caller is the one thread that writes: no locked instruction is needed.
    pub(crate) fn add(&self, count: u64) {
        self.set(self.get().wrapping_add(count));
    }

    fn set(&self, count: u64) {
        self.0.store(count, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Tally {
    fn new(guest_counters: usize) -> Self {
        let guest = (0..guest_counters).map(|_| Counter::default()).collect();
        Self { guest, ..Self::default() }
    }

    /// Adds what one call into the module came to.
    pub(crate) fn called(&self, counts: &CallCounts) {
        self.batches.add(1);
        self.bad_verdicts.add(counts.bad_verdicts);
        self.verdicts(counts.verdicts);
    }

    /// Adds verdicts.
    pub(crate) fn verdicts(&self, verdicts: VerdictTotals) {
        self.next.add(verdicts.next);
        self.drop.add(verdicts.drop);
        self.output.add(verdicts.output);
        self.goto.add(verdicts.goto);
    }

    /// Shows the value of a counter of the module's.
    pub(crate) fn guest(&self, index: usize, count: u64) {
        self.guest[index].set(count);
    }

    fn totals(&self, names: &[String]) -> StageTotals {
        let verdicts = VerdictTotals {
            next: self.next.get(),
            drop: self.drop.get(),
            output: self.output.get(),
            goto: self.goto.get(),
        };
        let faults = FaultTotals {
            trap: self.traps.get(),
            deadline: self.deadlines.get(),
            bad_verdict: self.bad_verdicts.get(),
        };
        StageTotals {
            packets: verdicts.packets(),
            batches: self.batches.get(),
            verdicts,
            faults,
            unavailable_packets: self.unavailable.get(),
            last_good_packets: self.last_good.get(),
            log_lines_lost: 0,
            counters: names.iter().cloned().zip(self.guest.iter().map(Counter::get)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_the_sum_over_the_workers_and_go_on_over_a_swap() {
        let old = StageStats::new(&["hits".into(), "gone".into()], 2, Arc::default());
        old.tally(0).called(&CallCounts {
            verdicts: VerdictTotals { next: 1, drop: 2, output: 3, goto: 4 },
            bad_verdicts: 1,
        });
        old.tally(1).unavailable.add(5);
        old.tally(1).last_good.add(3);
        old.tally(1).verdicts(VerdictTotals { next: 5, ..VerdictTotals::default() });
        old.tally(0).guest(0, 7);
        old.tally(1).guest(0, u64::MAX - 1);

        let new = StageStats::new(&["hits".into(), "new".into()], 1, Arc::default());
        new.tally(0).traps.add(1);
        let mut totals = new.totals();
        totals.add(&old.totals());

        let counters = [("gone", 0), ("hits", u64::MAX), ("new", 0)];
        let expected = StageTotals {
            packets: 15,
            batches: 1,
            verdicts: VerdictTotals { next: 6, drop: 2, output: 3, goto: 4 },
            faults: FaultTotals { trap: 1, deadline: 0, bad_verdict: 1 },
            unavailable_packets: 5,
            last_good_packets: 3,
            log_lines_lost: 0,
            counters: counters.map(|(name, count)| (name.into(), count)).into(),
        };
        assert_eq!(totals, expected);
    }
}
