use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Tokens, up to as many as there is room for.
#[derive(Debug)]
pub(super) struct Bucket {
    tokens: AtomicU64,
    room: u64,
}

impl Bucket {
    /// A full bucket for a burst, each unit of which is so many tokens.
    pub(super) fn new(burst: u64, ticks: u64) -> Self {
        let room = burst.saturating_mul(ticks);
        Self { tokens: AtomicU64::new(room), room }
    }

    /// Adds what a rate gives in some ticks. Returns what there was no room for.
    pub(super) fn fill(&self, rate: u64, ticks: u64) -> u64 {
        let due = rate.saturating_mul(ticks);
        let before = self.change(|tokens| Some(tokens.saturating_add(due).min(self.room)));
        let before = before.expect("any number of tokens may be added");
        due - due.min(self.room - before)
    }

    /// Adds tokens as far as there is room.
    pub(super) fn add(&self, tokens: u64) {
        self.fill(tokens, 1);
    }

    /// Takes tokens, if there are so many. Returns whether there were.
    #[inline]
    pub(super) fn take(&self, tokens: u64) -> bool {
        self.change(|there| there.checked_sub(tokens)).is_some()
    }

    /// Changes the number of tokens. Returns what it was before; `None` if it was not changed.
    #[inline]
    fn change(&self, to: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        let mut tokens = self.tokens.load(Relaxed);
        loop {
            let new = to(tokens)?;
            match self.tokens.compare_exchange_weak(tokens, new, Relaxed, Relaxed) {
                Ok(_) => return Some(tokens),
                Err(now) => tokens = now,
            }
        }
    }
}
