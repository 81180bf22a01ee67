use std::{
    collections::VecDeque,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

/// The most changes of state that wait to be read.
const NEWS: usize = 64;

/// What a stage is at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StageState {
    /// Every worker has an instance.
    #[default]
    Running,
    /// A worker has none, and gets one as soon as the back-off is over.
    Restarting,
    /// It failed too often: no worker gets an instance until it is resumed or swapped.
    Quarantined,
    /// The same, and the deployment before it decides in its place.
    LastGood,
}

/// What a stage is at, and since when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// What it is at.
    pub state: StageState,
    /// Since when.
    pub since: SystemTime,
    /// The instances that were made in place of others.
    pub restarts: u64,
    /// When the next one is due.
    pub next_restart: Option<SystemTime>,
}

/// A change of state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// What it was at before.
    pub from: StageState,
    /// What it is at then.
    pub to: StageState,
    /// When.
    pub at: SystemTime,
}

/// What workers, the nursery and control tell each other of how a deployment does.
#[derive(Debug)]
pub(crate) struct Health {
    quarantined: AtomicBool,
    resumed: AtomicBool,
    record: Mutex<Record>,
}

#[derive(Debug)]
struct Record {
    condition: Condition,
    faults: VecDeque<Instant>,
    news: VecDeque<Transition>,
}

impl Health {
    pub(crate) fn new() -> Self {
        let condition = Condition {
            state: StageState::Running,
            since: SystemTime::now(),
            restarts: 0,
            next_restart: None,
        };
        let record = Record { condition, faults: VecDeque::new(), news: VecDeque::new() };
        Self {
            quarantined: AtomicBool::new(false),
            resumed: AtomicBool::new(false),
            record: Mutex::new(record),
        }
    }

    /// Whether no instance may run. Fit for the packet path.
    pub(crate) fn is_quarantined(&self) -> bool {
        self.quarantined.load(Ordering::Relaxed)
    }

    /// Takes note of a fault, which may be the one too many: more than `most` within `window`.
    pub(crate) fn fault(&self, now: Instant, most: u32, window: Duration) {
        let faults = &mut self.record().faults;
        faults.push_back(now);
        while faults.front().is_some_and(|first| now.duration_since(*first) > window) {
            faults.pop_front();
        }
        if faults.len() > most as usize {
            faults.clear();
            self.quarantined.store(true, Ordering::Relaxed);
        }
    }

    /// Has the quarantine end.
    pub(crate) fn resume(&self) {
        self.resumed.store(true, Ordering::Release);
    }

    /// Ends the quarantine if that was asked for, and returns whether it was.
    pub(crate) fn take_resumed(&self) -> bool {
        let resumed = self.resumed.swap(false, Ordering::Acquire);
        if resumed {
            self.record().faults.clear();
            self.quarantined.store(false, Ordering::Relaxed);
        }
        resumed
    }

    /// Takes note of instances that were made in place of others.
    pub(crate) fn restarted(&self) {
        self.record().condition.restarts += 1;
    }

    /// Writes down what the stage is at, and when the next instance is due.
    pub(crate) fn settle(&self, to: StageState, due: Option<Instant>) {
        let (at, now) = (SystemTime::now(), Instant::now());
        let mut record = self.record();
        record.condition.next_restart = due.map(|due| at + due.saturating_duration_since(now));
        let from = record.condition.state;
        if from == to {
            return;
        }
        (record.condition.state, record.condition.since) = (to, at);
        if record.news.len() == NEWS {
            record.news.pop_front();
        }
        record.news.push_back(Transition { from, to, at });
    }

    pub(crate) fn condition(&self) -> Condition {
        self.record().condition.clone()
    }

    pub(crate) fn drain_news(&self) -> VecDeque<Transition> {
        std::mem::take(&mut self.record().news)
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_fault_more_than_is_allowed_within_the_window_is_the_one_too_many() {
        let (start, window) = (Instant::now(), Duration::from_secs(10));
        let health = Health::new();
        for second in 0..3 {
            health.fault(start + Duration::from_secs(second), 3, window);
        }
        assert!(!health.is_quarantined());
        health.fault(start + Duration::from_secs(11), 3, window);
        assert!(!health.is_quarantined(), "the first is forgotten");
        health.fault(start + Duration::from_secs(11), 3, window);
        assert!(health.is_quarantined());
        assert!(!health.take_resumed() && health.is_quarantined());
        health.resume();
        assert!(health.take_resumed() && !health.is_quarantined());
        health.fault(start + Duration::from_secs(12), 3, window);
        assert!(!health.is_quarantined(), "it begins anew");
    }

    #[test]
    fn a_change_of_state_is_told_once_and_a_state_keeps_its_time() {
        let health = Health::new();
        health.settle(StageState::Running, None);
        assert!(health.drain_news().is_empty());
        health.settle(StageState::Restarting, Some(Instant::now() + Duration::from_secs(60)));
        let condition = health.condition();
        assert_eq!(condition.state, StageState::Restarting);
        assert!(condition.next_restart.unwrap() > SystemTime::now());
        health.settle(StageState::Restarting, None);
        assert_eq!(health.condition(), Condition { next_restart: None, ..condition.clone() });
        let told: Vec<_> = health.drain_news().into_iter().collect();
        let (from, to, at) = (StageState::Running, StageState::Restarting, condition.since);
        assert_eq!(told, [Transition { from, to, at }]);
    }
}
