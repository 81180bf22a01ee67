/// How long a round takes in which ports give all the packets that there can be, and no packet is
/// looked up slowly.
#[derive(Debug, Default)]
pub(super) struct Usual {
    time: u64,
    /// The rounds with slow lookups since the last without.
    pub(super) slow_rounds: u64,
}

/// For how many rounds a port waits for each round that its slow lookups took: so a port on which
/// every packet is of a new flow takes a tenth of a worker that has more to do elsewhere.
const ROUNDS_FOR_ONE: u64 = 9;

/// After so many rounds with slow lookups, one without shows how long that takes now.
const UNKNOWN_AFTER: u64 = 64;

/// A port waits for no more rounds than this: a round may have been long for quite other reasons.
const MOST_ROUNDS: u64 = 65_536;

impl Usual {
    /// Takes the time of such a round into account.
    pub(super) fn learn(&mut self, spent: u64) {
        self.slow_rounds = 0;
        self.time = if self.time == 0 { spent } else { (self.time * 7 + spent) / 8 };
    }

    /// For how many rounds the port is to wait whose lookups made a round take this long.
    pub(super) fn rounds_for(&self, spent: u64) -> u64 {
        if self.slow_rounds > UNKNOWN_AFTER {
            return 1;
        }
        let more = spent.saturating_sub(self.time).saturating_mul(ROUNDS_FOR_ONE);
        more.checked_div(self.time).unwrap_or(0).min(MOST_ROUNDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_of_ten_times_the_usual_time_is_waited_for_nine_times_as_long() {
        let mut usual = Usual::default();
        assert_eq!(usual.rounds_for(5000), 0, "nothing is known yet");
        usual.slow_rounds = 65;
        assert_eq!(usual.rounds_for(5000), 1, "one round, to learn");
        usual.learn(100);
        assert_eq!((usual.rounds_for(100), usual.rounds_for(1000)), (0, 81));
        assert_eq!(usual.rounds_for(u64::MAX), MOST_ROUNDS, "the thread may have slept");
        (0..64).for_each(|_| usual.learn(200));
        assert!(usual.rounds_for(1000) < 40, "what is usual changes");
    }
}
