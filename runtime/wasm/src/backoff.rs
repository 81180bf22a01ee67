use std::time::{Duration, Instant};

/// What the first wait is, after a second fault.
const FIRST: Duration = Duration::from_millis(1);
/// The longest wait.
const LONGEST: Duration = Duration::from_secs(1);
/// How long there must be no fault for the next to count as the first again.
const QUIET: Duration = Duration::from_secs(5);

/// When a worker's next spare may be made: at once after one fault, ever later after more.
#[derive(Debug)]
pub(crate) struct Backoff {
    delay: Duration,
    last_fault: Option<Instant>,
}

impl Backoff {
    pub(crate) fn new() -> Self {
        Self { delay: Duration::ZERO, last_fault: None }
    }

    /// Takes note of a fault.
    pub(crate) fn fault(&mut self, now: Instant) {
        self.delay = match self.last_fault {
            Some(last) if now.duration_since(last) < QUIET => {
                (self.delay * 2).clamp(FIRST, LONGEST)
            }
            _ => Duration::ZERO,
        };
        self.last_fault = Some(now);
    }

    /// When the next spare may be made; `None` is at once.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.last_fault.map(|last| last + self.delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_second_and_end_with_quiet() {
        let start = Instant::now();
        let mut backoff = Backoff::new();
        assert_eq!(backoff.due(), None);
        let mut now = start;
        let waits: Vec<u128> = (0..13)
            .map(|_| {
                backoff.fault(now);
                let wait = backoff.due().unwrap() - now;
                now += wait;
                wait.as_millis()
            })
            .collect();
        assert_eq!(waits, [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000]);

        backoff.fault(now + QUIET);
        assert_eq!(backoff.due(), Some(now + QUIET), "as if it were the first");
    }
}
