use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The ticks after which a call is looked at for the first time: more than any call takes that is
/// not overdue, so that no clock is read for it.
pub(crate) const FIRST_LOOK: u64 = 2;

/// How much of the processor's time a call may take.
///
/// A call that is seen to last has the time of its thread taken, and is ended when that has gone
/// on by the limit. So a worker that the system set aside in the midst of a call is not taken for
/// a module that hangs.
#[derive(Debug)]
pub(crate) struct Allowance {
    limit: Duration,
    first_seen: Option<Duration>,
}

impl Allowance {
    /// For calls that may take `limit` each.
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, first_seen: None }
    }

    /// Begins another call.
    pub(crate) fn begin(&mut self) {
        self.first_seen = None;
    }

    /// Looks at the call when its thread has had `used` of the processor's time. Returns what is
    /// left, or `None` if the call is overdue.
    pub(crate) fn look(&mut self, used: Duration) -> Option<Duration> {
        let since = *self.first_seen.get_or_insert(used);
        let taken = used.saturating_sub(since);
        self.limit.checked_sub(taken).filter(|left| !left.is_zero())
    }
}

/// The time that the processor gave to the calling thread.
pub(crate) fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_time_that_a_call_has_is_counted() {
        let ms = Duration::from_millis;
        let mut allowance = Allowance::new(ms(10));
        for start in [ms(0), ms(500)] {
            allowance.begin();
            assert_eq!(allowance.look(start), Some(ms(10)));
            // However long it is set aside, nothing is taken.
            assert_eq!(allowance.look(start), Some(ms(10)));
            assert_eq!(allowance.look(start + ms(4)), Some(ms(6)));
            assert_eq!(allowance.look(start + ms(9)), Some(ms(1)));
            assert_eq!(allowance.look(start + ms(10)), None);
            assert_eq!(allowance.look(start + ms(90)), None);
        }
    }
}
