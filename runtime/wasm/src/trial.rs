//! A new deployment decides on a share of the flows beside the old one, until it is known to be
//! good or bad.
//!
//! The old one stays at work and keeps what it knows. What the new one fails on, the old one
//! decides: so a trial hurts no packet.

use std::sync::{
    Arc, Weak,
    atomic::{AtomicBool, Ordering},
};

use crossbeam::utils::CachePadded;
use dataplane::{Packet, stage::Batch, worker::BURST};

use crate::{
    deployment::Deployed,
    stage::WasmStage,
    stats::{Counter, StageStats},
    ward::Ward,
};

/// Spreads hashes, which queues were chosen by already, over all numbers.
const SPREAD: u32 = 0x9e37_79b1;

/// What of the flows the new deployment is to decide on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    below: u32,
}

impl Share {
    /// So much of a hundred; at most all.
    #[must_use]
    pub fn percent(percent: u8) -> Self {
        let hundredth = u32::MAX / 100;
        Self { below: hundredth.saturating_mul(u32::from(percent)) }
    }

    fn has(self, flow_hash: u32) -> bool {
        flow_hash.wrapping_mul(SPREAD) < self.below
    }
}

/// What the workers decided on during a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reading {
    /// The packets.
    pub packets: u64,
    /// What they took, in units of the trial's clock.
    pub time: u64,
}

impl Reading {
    /// What a packet took.
    #[must_use]
    pub fn time_per_packet(self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a ratio of large numbers")]
        let ratio = |time: u64, packets: u64| time as f64 / packets as f64;
        (self.packets > 0).then(|| ratio(self.time, self.packets))
    }
}

/// A deployment in service, of which a share of the flows can be lent to another.
#[derive(Debug, Clone)]
pub struct InService(pub(crate) Weak<Ward>);

/// A trial that runs. It ends when this is dropped, or with the deployment that it is beside.
#[derive(Debug)]
pub struct Trial {
    lent: Arc<Lent>,
    ward: Weak<Ward>,
    stats: Arc<StageStats>,
}

/// What the workers and control share of a trial.
#[derive(Debug)]
pub(crate) struct Lent {
    share: Share,
    ended: AtomicBool,
    clock: fn() -> u64,
    gauges: Box<[CachePadded<Gauges>]>,
}

#[derive(Debug, Default)]
struct Gauges {
    old: Gauge,
    new: Gauge,
}

#[derive(Debug, Default)]
struct Gauge {
    packets: Counter,
    time: Counter,
}

/// One worker's part of a trial.
pub(crate) struct Guesting {
    stage: WasmStage,
    lent: Arc<Lent>,
    /// The members of a batch that the new deployment decides on, and the others.
    sides: [Vec<u16>; 2],
}

impl InService {
    /// Lends a share of the flows to another deployment, for as long as the trial is held. `None`
    /// if this one is not in service any more, has another trial, or has other workers.
    ///
    /// The clock is read twice for a batch on each side, on the workers.
    #[must_use]
    pub fn lend(&self, to: Deployed, share: Share, clock: fn() -> u64) -> Option<Trial> {
        let ward = self.0.upgrade()?;
        if ward.seats.len() != to.stages.len() {
            return None;
        }
        let gauges = to.stages.iter().map(|_| CachePadded::default()).collect();
        let lent = Arc::new(Lent { share, ended: AtomicBool::new(false), clock, gauges });
        let offer = |stage: WasmStage| Guesting::new(stage, Arc::clone(&lent));
        let offers: Vec<Guesting> = to.stages.into_iter().map(offer).collect();
        if !ward.offer(&lent, offers) {
            return None;
        }
        Some(Trial { lent, ward: self.0.clone(), stats: to.stats })
    }
}

impl Trial {
    /// What the new deployment counts.
    #[must_use]
    pub fn stats(&self) -> &Arc<StageStats> {
        &self.stats
    }

    /// What the old and the new deployment decided on since the trial began.
    #[must_use]
    pub fn readings(&self) -> [Reading; 2] {
        let mut readings = [Reading::default(); 2];
        for gauges in &self.lent.gauges {
            for (reading, gauge) in readings.iter_mut().zip([&gauges.old, &gauges.new]) {
                reading.packets += gauge.packets.get();
                reading.time += gauge.time.get();
            }
        }
        readings
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        self.lent.ended.store(true, Ordering::Release);
        if let Some(ward) = self.ward.upgrade() {
            ward.bell.ring();
        }
    }
}

impl Lent {
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }
}

impl Guesting {
    fn new(mut stage: WasmStage, lent: Arc<Lent>) -> Self {
        stage.leaves_to_others();
        let sides = [(); 2].map(|()| Vec::with_capacity(BURST));
        Self { stage, lent, sides }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.lent.has_ended()
    }

    /// Has both decide, each on its flows, and the old one on what the new one could not.
    pub(crate) fn share<P: Packet>(&mut self, old: &mut WasmStage, batch: &mut Batch<'_, P>) {
        let Self { stage, lent, sides } = self;
        let [mine, others] = sides;
        mine.clear();
        others.clear();
        for index in 0..batch.len() {
            let its = lent.share.has(batch.get(index).1.flow_hash);
            let side = if its { &mut *mine } else { &mut *others };
            side.push(batch.members()[index]);
        }
        let gauges = &lent.gauges[old.worker];
        if !mine.is_empty() {
            let started = (lent.clock)();
            let mut part = batch.part(mine);
            stage.decide_all(&mut part);
            gauges.new.add(mine.len(), (lent.clock)().wrapping_sub(started));
            stage.take_left(|place| old.decide(&mut part, place..place + 1));
        }
        if !others.is_empty() {
            let started = (lent.clock)();
            old.decide_all(&mut batch.part(others));
            gauges.old.add(others.len(), (lent.clock)().wrapping_sub(started));
        }
    }
}

impl Gauge {
    fn add(&self, packets: usize, time: u64) {
        self.packets.add(packets as u64);
        self.time.add(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_as_large_as_it_says() {
        for percent in [0, 1, 5, 50, 100] {
            let share = Share::percent(percent);
            let within = (0..100_000_u32).filter(|hash| share.has(*hash)).count();
            let expected = usize::from(percent) * 1000;
            assert!(within.abs_diff(expected) < 300, "{within} of 100,000 for {percent} %");
        }
    }
}
