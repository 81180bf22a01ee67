use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// Lets so many things a second pass, and a burst of them at once (the generic cell rate
/// algorithm of ITU-T I.371).
///
/// The time is passed in, and one word is the whole state, so many threads may share it without
/// a lock.
#[derive(Debug)]
pub(crate) struct Pace {
    interval: u64,
    tolerance: u64,
    /// When the next one would be due if they came at the rate, in nanoseconds.
    due: AtomicU64,
}

impl Pace {
    /// So many a second, and so many at once; both at least one.
    pub(crate) fn new(a_second: u32, at_once: u32) -> Self {
        let interval = 1_000_000_000 / u64::from(a_second.max(1));
        let tolerance = interval * u64::from(at_once.max(1) - 1);
        Self { interval, tolerance, due: AtomicU64::new(0) }
    }

    /// Whether one may pass at `now`.
    pub(crate) fn admits(&self, now: Duration) -> bool {
        let now = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
        let later = |due: u64| {
            let due = due.max(now);
            (due - now <= self.tolerance).then(|| due.saturating_add(self.interval))
        };
        self.due.fetch_update(Ordering::Relaxed, Ordering::Relaxed, later).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(pace: &Pace, now: Duration, offered: usize) -> usize {
        (0..offered).filter(|_| pace.admits(now)).count()
    }

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let pace = Pace::new(10, 5);
        assert_eq!(admitted(&pace, Duration::ZERO, 100), 5);
        assert_eq!(admitted(&pace, Duration::from_millis(99), 100), 0);
        assert_eq!(admitted(&pace, Duration::from_millis(100), 100), 1);
        assert_eq!(admitted(&pace, Duration::from_millis(300), 100), 2);
        assert_eq!(admitted(&pace, Duration::from_secs(60), 100), 5, "rest saves no more");
    }
}
