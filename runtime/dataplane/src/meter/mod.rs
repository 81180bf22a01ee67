//! Meters: token buckets that tell how well packets keep to a rate, shared by all workers.
//!
//! A token is a bit, or a packet, divided by the clock's rate: what a bucket gains in one tick is
//! then a whole number, its rate, and nothing is rounded. A worker that finds the clock ahead adds
//! what is due; a packet takes its tokens or none. Nobody waits for anybody.

mod bucket;

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use bucket::Bucket;

use crate::{SharedTally, Tally};

/// What a meter says of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Color {
    /// It keeps to the committed rate.
    Green,
    /// It is beyond that, and keeps to the second rate or burst.
    Yellow,
    /// It is beyond both.
    Red,
}

/// How the two buckets work together. Packets come without a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// RFC 2697: one rate; what the first bucket has no room for goes into the second.
    SingleRate,
    /// RFC 2698: two rates; the second bucket, the peak, holds for every packet.
    TwoRate,
    /// RFC 4115: two rates; the second bucket is for what is beyond the first.
    Excess,
}

/// What a meter counts by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// The bits of frames, without check sequences.
    Bits,
    /// Packets.
    Packets,
}

/// A rate and how far packets may run ahead of it, in bits or packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// So many a second. The second bucket of [`Algorithm::SingleRate`] has none.
    pub per_second: u64,
    /// So many at once.
    pub burst: u64,
}

/// What becomes of a packet of a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// It goes on as it is.
    Pass,
    /// It goes on with another DSCP, if it is an IP packet.
    Remark(u8),
    /// It is dropped.
    Drop,
}

/// How a meter is to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// How the buckets work together.
    pub algorithm: Algorithm,
    /// What they count.
    pub unit: Unit,
    /// The first bucket.
    pub committed: Rate,
    /// The second.
    pub second: Rate,
    /// What becomes of yellow packets. Green ones pass.
    pub yellow: Treatment,
    /// What becomes of red packets.
    pub red: Treatment,
    /// Ticks of the clock in a second.
    pub ticks: u64,
}

/// A meter.
#[derive(Debug)]
pub struct Meter {
    settings: Settings,
    committed: Bucket,
    second: Bucket,
    /// The tick up to which tokens were added.
    filled: AtomicU64,
    counted: Arc<[SharedTally; 3]>,
}

impl Meter {
    /// A meter with full buckets, for so many workers.
    #[must_use]
    pub fn new(settings: Settings, workers: usize) -> Self {
        Self::counting(settings, Arc::new(std::array::from_fn(|_| SharedTally::new(workers))))
    }

    /// A meter in the place of this one: with full buckets, and it goes on counting.
    #[must_use]
    pub fn successor(&self, settings: Settings) -> Self {
        Self::counting(settings, Arc::clone(&self.counted))
    }

    fn counting(settings: Settings, counted: Arc<[SharedTally; 3]>) -> Self {
        let bucket = |rate: Rate| Bucket::new(rate.burst, settings.ticks);
        Self {
            settings,
            committed: bucket(settings.committed),
            second: bucket(settings.second),
            filled: AtomicU64::new(0),
            counted,
        }
    }

    /// Adds the tokens that are due by the tick `now`.
    pub fn fill(&self, now: u64) {
        let filled = self.filled.load(Relaxed);
        // Another worker's clock may be a little ahead.
        let Some(ticks @ 1..) = now.checked_sub(filled) else { return };
        if self.filled.compare_exchange(filled, now, Relaxed, Relaxed).is_err() {
            return;
        }
        let Settings { algorithm, committed, second, .. } = self.settings;
        let over = self.committed.fill(committed.per_second, ticks);
        match algorithm {
            Algorithm::SingleRate => self.second.add(over),
            Algorithm::TwoRate | Algorithm::Excess => {
                self.second.fill(second.per_second, ticks);
            }
        }
    }

    /// Judges a packet of so many bytes, and takes its tokens.
    #[must_use]
    pub fn judge(&self, bytes: usize) -> Color {
        let units = match self.settings.unit {
            Unit::Bits => bytes as u64 * 8,
            Unit::Packets => 1,
        };
        let tokens = units * self.settings.ticks;
        match self.settings.algorithm {
            Algorithm::TwoRate if !self.second.take(tokens) => Color::Red,
            Algorithm::TwoRate if self.committed.take(tokens) => Color::Green,
            Algorithm::TwoRate => Color::Yellow,
            _ if self.committed.take(tokens) => Color::Green,
            _ if self.second.take(tokens) => Color::Yellow,
            _ => Color::Red,
        }
    }

    /// What becomes of packets of a colour.
    #[must_use]
    pub fn treatment(&self, color: Color) -> Treatment {
        match color {
            Color::Green => Treatment::Pass,
            Color::Yellow => self.settings.yellow,
            Color::Red => self.settings.red,
        }
    }

    /// Counts what a worker found to be of a colour.
    pub(crate) fn count(&self, worker: usize, color: Color, tally: Tally) {
        self.counted[color as usize].add(worker, tally);
    }

    /// The packets that were of a colour.
    #[must_use]
    pub fn counted(&self, color: Color) -> Tally {
        self.counted[color as usize].total()
    }
}
