//! A learning switch (IEEE 802.1D, 7.7 to 7.9): which port each address was last seen on.
//!
//! The table has a fixed number of places, in sets; all workers read and write it, and none waits.
//! A place is claimed before it changes hands, so that no address is ever paired with another's
//! port for longer than one read; whoever finds a place claimed leaves it and learns from the next
//! packet.

mod place;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use place::{Key, Place};
pub use place::{Learned, Station};

use crate::{PortId, flow::Seed};

/// Places of a set.
const WAYS: usize = 8;

/// Which port each address was last seen on.
#[derive(Debug)]
pub struct MacTable {
    sets: Box<[[Place; WAYS]]>,
    seed: Seed,
    /// How long an address is remembered, in ticks of the clock.
    age: u64,
    learned: AtomicU64,
    moved: AtomicU64,
    evicted: AtomicU64,
}

/// What a table of addresses has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MacCounters {
    /// Addresses that were new.
    pub learned: u64,
    /// Addresses that were seen on another port than before.
    pub moved: u64,
    /// Addresses that were forgotten for newer ones.
    pub evicted: u64,
}

impl MacTable {
    /// A table for at least so many addresses, each remembered for `age` ticks without a packet.
    #[must_use]
    pub fn new(limit: usize, age: u64, seed: Seed) -> Self {
        let sets = limit.div_ceil(WAYS).next_power_of_two();
        let sets = (0..sets).map(|_| Default::default()).collect();
        let (learned, moved, evicted) = Default::default();
        Self { sets, seed, age, learned, moved, evicted }
    }

    /// How many addresses there is room for.
    #[must_use]
    pub fn room(&self) -> usize {
        self.sets.len() * WAYS
    }

    /// Notes that a station was seen on a port. Group addresses are nobody's.
    #[inline]
    pub fn learn(&self, station: Station, port: PortId, now: u64) {
        if station.is_group() {
            return;
        }
        let key = Key::of(station);
        let set = self.set(key);
        if let Some(place) = set.iter().find(|place| place.is(key)) {
            if place.refresh(key, port, now, self.age) {
                self.moved.fetch_add(1, Relaxed);
            }
            return;
        }
        self.insert(set, key, port, now);
    }

    #[cold]
    fn insert(&self, set: &[Place; WAYS], key: Key, port: PortId, now: u64) {
        let oldest = set.iter().min_by_key(|place| place.last_seen());
        let oldest = oldest.expect("a set has places");
        let Some(alive) = oldest.take_over(key, port, now, self.age) else { return };
        self.learned.fetch_add(1, Relaxed);
        self.evicted.fetch_add(alive.into(), Relaxed);
    }

    /// The port that a station was last seen on, if that is not too long ago.
    #[inline]
    #[must_use]
    pub fn port_of(&self, station: Station, now: u64) -> Option<PortId> {
        let key = Key::of(station);
        self.set(key).iter().find_map(|place| place.port_of(key, now, self.age))
    }

    /// Forgets what was learned on a port.
    pub fn forget_port(&self, port: PortId) {
        self.places().for_each(|place| place.forget_if(|learned| learned.port == port));
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.places().for_each(|place| place.forget_if(|_| true));
    }

    /// The stations that are remembered, in no order.
    #[must_use]
    pub fn stations(&self, now: u64) -> Vec<Learned> {
        self.places().filter_map(|place| place.learned(now, self.age)).collect()
    }

    /// What it has done.
    #[must_use]
    pub fn counters(&self) -> MacCounters {
        MacCounters {
            learned: self.learned.load(Relaxed),
            moved: self.moved.load(Relaxed),
            evicted: self.evicted.load(Relaxed),
        }
    }

    fn places(&self) -> impl Iterator<Item = &Place> {
        self.sets.iter().flatten()
    }

    #[inline]
    fn set(&self, key: Key) -> &[Place; WAYS] {
        #[expect(clippy::cast_possible_truncation, reason = "the low bits are wanted")]
        let hash = self.seed.number(key.number()) as usize;
        &self.sets[hash & (self.sets.len() - 1)]
    }
}

#[cfg(test)]
mod tests;
