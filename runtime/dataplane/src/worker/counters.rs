use super::{FlowCounters, Lookups};
use crate::{DropReason, PortId, ReasonId, Tally};

/// What a worker counted for a port.
///
/// The fate of each packet is counted for the port that it *came* by, so that always
/// `rx.packets + copied == forwarded + sum(drops) + in_flight`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortCounters {
    /// Received.
    pub rx: Tally,
    /// Handed to the device and taken by it, wherever the packets came from.
    pub tx: Tally,
    /// Copies made of packets that were received here, and packets that stages made while they
    /// looked at those.
    pub copied: u64,
    /// Of those copies, the ones that mirrors and samples made.
    pub mirrored: u64,
    /// Received here, or copied from what was, and sent by some port.
    pub forwarded: u64,
    /// Received here and waiting in a transmit queue.
    pub in_flight: u64,
    /// Received here and dropped, by [`ReasonId`].
    pub drops: Box<[u64; ReasonId::LIMIT]>,
}

impl Default for PortCounters {
    fn default() -> Self {
        Self {
            rx: Tally::default(),
            tx: Tally::default(),
            copied: 0,
            mirrored: 0,
            forwarded: 0,
            in_flight: 0,
            drops: Box::new([0; ReasonId::LIMIT]),
        }
    }
}

impl PortCounters {
    /// Adds what another worker counted.
    pub fn merge(&mut self, other: &Self) {
        self.rx.merge(other.rx);
        self.tx.merge(other.tx);
        self.copied += other.copied;
        self.mirrored += other.mirrored;
        self.forwarded += other.forwarded;
        self.in_flight += other.in_flight;
        for (mine, theirs) in self.drops.iter_mut().zip(other.drops.iter()) {
            *mine += theirs;
        }
    }

    /// Counts a drop. A reason out of range is a stage's bad verdict.
    #[inline]
    pub(super) fn count_drop(&mut self, reason: ReasonId) {
        let bad = ReasonId::from(DropReason::BadVerdict);
        let reason = if reason.index() < ReasonId::LIMIT { reason } else { bad };
        self.drops[reason.index()] += 1;
    }

    /// All drops together.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.drops.iter().sum()
    }
}

/// What a worker's loop counted. Times are in the unit of [`Worker::iterate`]'s clock.
///
/// [`Worker::iterate`]: super::Worker::iterate
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoopCounters {
    /// Rounds of polling.
    pub iterations: u64,
    /// Rounds that received something.
    pub busy_iterations: u64,
    /// The time of those.
    pub busy_cycles: u64,
    /// The time of the others.
    pub idle_cycles: u64,
    /// The time of the longest round.
    pub longest_iteration: u64,
    /// Polls that were left out, since the port's packets need long lookups and others wait.
    pub deferred_polls: u64,
    /// Packets received.
    pub rx_packets: u64,
    /// How packets were found.
    pub lookups: Lookups,
    /// The flows that are cached.
    pub flows: FlowCounters,
    /// Action lists in use.
    pub programs: u64,
}

/// Everything that a worker counted, as it stood between two bursts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The configuration that it ran.
    pub revision: u64,
    /// Its ports.
    pub ports: Vec<(PortId, PortCounters)>,
    /// Its loop.
    pub worker: LoopCounters,
}

impl Report {
    /// Empties it, and keeps its room.
    pub(crate) fn clear(&mut self) {
        self.ports.clear();
    }
}
