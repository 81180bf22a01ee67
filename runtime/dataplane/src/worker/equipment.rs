use std::sync::Arc;

use super::Settings;
use crate::{GroupId, MeterId, PortId, group::Group, meter::Meter, switching::MacTable};

/// What actions with a state of their own need. All but the dice is shared with other workers.
#[derive(Debug)]
pub(super) struct Equipment {
    pub(super) meters: Vec<Option<Arc<Meter>>>,
    pub(super) groups: Vec<Option<Arc<Group>>>,
    /// What [`Action::Normal`](crate::program::Action::Normal) has learned; without it, every
    /// address is unknown.
    pub(super) addresses: Option<Arc<MacTable>>,
    /// The clock, read once for many packets.
    pub(super) now: u64,
    /// The worker's lane in what is counted together.
    pub(super) worker: usize,
    dice: u64,
    /// Where a packet is to be sent, while it is.
    pub(super) targets: Vec<PortId>,
}

impl Equipment {
    pub(super) fn new(settings: Settings) -> Self {
        let (meters, groups, targets) = Default::default();
        let dice = settings.seed.number(settings.worker as u64) | 1;
        let worker = settings.worker;
        Self { meters, groups, addresses: None, now: 0, worker, dice, targets }
    }

    pub(super) fn meter(&self, MeterId(id): MeterId) -> Option<&Meter> {
        self.meters.get(usize::from(id))?.as_deref()
    }

    pub(super) fn group(&self, GroupId(id): GroupId) -> Option<&Group> {
        self.groups.get(usize::from(id))?.as_deref()
    }

    /// True once in `rate` times, by chance.
    pub(super) fn once_in(&mut self, rate: u32) -> bool {
        // Marsaglia's xorshift, whose state is never zero.
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        (u128::from(self.dice) * u128::from(rate)) >> 64 == 0
    }
}
