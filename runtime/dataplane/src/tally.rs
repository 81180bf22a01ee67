use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Packets and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many packets.
    pub packets: u64,
    /// How many bytes, without check sequences.
    pub bytes: u64,
}

impl Tally {
    /// Adds another tally.
    #[inline]
    pub fn merge(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

/// What several workers count together, each in a cache line of its own. Anybody may read it at any
/// time, and nobody waits for that.
#[derive(Debug)]
pub struct SharedTally {
    lanes: Box<[Lane]>,
}

#[derive(Debug, Default)]
#[repr(align(64))]
struct Lane {
    packets: AtomicU64,
    bytes: AtomicU64,
}

impl SharedTally {
    /// Nothing counted yet, by so many workers.
    #[must_use]
    pub fn new(workers: usize) -> Self {
        Self { lanes: (0..workers).map(|_| Lane::default()).collect() }
    }

    /// Adds what a worker counted. Only that worker adds to its lane, so a load and a store will do.
    #[inline]
    pub(crate) fn add(&self, worker: usize, tally: Tally) {
        if let Some(lane) = self.lanes.get(worker) {
            lane.packets.store(lane.packets.load(Relaxed) + tally.packets, Relaxed);
            lane.bytes.store(lane.bytes.load(Relaxed) + tally.bytes, Relaxed);
        }
    }

    /// What all workers have counted.
    #[must_use]
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        for lane in &self.lanes {
            let (packets, bytes) = (lane.packets.load(Relaxed), lane.bytes.load(Relaxed));
            total.merge(Tally { packets, bytes });
        }
        total
    }
}
