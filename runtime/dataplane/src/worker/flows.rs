use std::{collections::VecDeque, sync::Arc};

use super::{
    BURST,
    cached_flow::{CachedFlow, FlowCounters},
    masks::{MaskId, Masks},
    ways::{WayId, Ways},
};
use crate::{
    Tally,
    classify::Resolution,
    flow::{FlowKey, Mask, Seed, Signatures},
    packet::Parsed,
    program::ProgramId,
};

/// The place of a cached flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FlowId(u32);

/// The packets that agree in some bits of their keys, for which the tables said one thing.
#[derive(Debug)]
#[repr(align(64))]
struct Flow {
    key: FlowKey,
    mask: MaskId,
    /// Whether its last packet was found by all its bits.
    exact: bool,
    way: WayId,
    program: ProgramId,
    /// Whether this place is on the list of those that are to be settled.
    listed: bool,
    /// What came since it was last settled.
    packets: u64,
    bytes: u64,
    /// When its last packet came.
    used: u64,
}

const _: () = assert!(size_of::<Flow>() == 128, "two cache lines");

/// What is known of a flow beside what a packet asks for.
#[derive(Debug, Clone, Copy)]
struct Past {
    created: u64,
    /// What came until it was last settled.
    tally: Tally,
}

/// What the tables said of the flows that there were lately.
///
/// Two indexes find a flow: one by all bits of a packet that any rule looks at, and, for the packets
/// that this does not know, one by the bits of each mask that a flow has.
#[derive(Debug)]
pub(super) struct Flows {
    flows: Vec<Flow>,
    past: Vec<Past>,
    free: Vec<FlowId>,
    limit: usize,
    /// Those that are to be settled, the one that waits for longest first.
    unsettled: VecDeque<FlowId>,
    exact: Signatures,
    wildcard: Signatures,
    masks: Masks,
    seed: Seed,
    /// What decides which packets' flows displace others from the exact index.
    draw: u32,
    /// The next to be considered when one has to go.
    hand: usize,
    pub(super) counters: FlowCounters,
}

/// One in so many packets whose flow is not in the exact index, and for whom there is no room, gets
/// the place of another there.
const REPLACE_ONE_IN: u32 = 16;

impl Flows {
    pub(super) fn new(exact_entries: usize, limit: usize, seed: Seed) -> Self {
        let limit = limit.max(1);
        Self {
            flows: Vec::with_capacity(limit),
            past: Vec::with_capacity(limit),
            free: Vec::with_capacity(limit),
            limit,
            unsettled: VecDeque::with_capacity(limit),
            exact: Signatures::new(exact_entries),
            wildcard: Signatures::new(limit * 2),
            masks: Masks::default(),
            seed,
            draw: 1,
            hand: 0,
            counters: FlowCounters::default(),
        }
    }

    /// The flow of a packet, by all its bits that matter, whose hash this is.
    #[inline]
    pub(super) fn find_exact(&mut self, hash: u64, key: &FlowKey) -> Option<FlowId> {
        let (flows, masks) = (&mut self.flows, &self.masks);
        let found = self.exact.find(hash, |id| is(masks, &flows[id as usize], key))?;
        flows[found as usize].exact = true;
        Some(FlowId(found))
    }

    /// The same for a burst: all packets wait for the index, and then for the flows, together.
    #[inline]
    pub(super) fn find_exact_burst(
        &mut self,
        hashes: &[u64],
        parsed: &[Parsed],
    ) -> [Option<FlowId>; BURST] {
        let mut found = [None; BURST];
        for (found, hash) in found.iter_mut().zip(hashes) {
            *found = self.exact.first(*hash).map(FlowId);
        }
        for ((found, hash), parsed) in found.iter_mut().zip(hashes).zip(parsed) {
            let Some(FlowId(candidate)) = *found else { continue };
            let flow = &mut self.flows[candidate as usize];
            if is(&self.masks, flow, &parsed.key) {
                flow.exact = true;
            } else {
                *found = self.find_exact(*hash, &parsed.key);
            }
        }
        found
    }

    /// The flow of a packet, under any mask; it may be found by all its bits from then on.
    pub(super) fn find_wildcard(&mut self, hash: u64, key: &FlowKey) -> Option<FlowId> {
        let (flows, wildcard, seed) = (&self.flows, &mut self.wildcard, self.seed);
        let found = self.masks.search(|masks, mask| {
            let under = masks.hash(mask, seed, key);
            wildcard.find(under, |id| {
                let flow = &flows[id as usize];
                flow.mask == mask && masks.get(mask).matches(key, &flow.key)
            })
        })?;
        self.flows[found as usize].exact = false;
        self.offer(hash, FlowId(found));
        Some(FlowId(found))
    }

    /// The flow that has this key and this mask, under which this is its hash.
    fn find_under(&mut self, mask: MaskId, under: u64, key: &FlowKey) -> Option<FlowId> {
        let flows = &self.flows;
        let is = |id: u32| flows[id as usize].mask == mask && flows[id as usize].key == *key;
        self.wildcard.find(under, is).map(FlowId)
    }

    fn offer(&mut self, hash: u64, id: FlowId) {
        // A linear congruential generator (Press and others, "Numerical Recipes", 7.1); its high bits
        // are good enough to be drawn from.
        self.draw = self.draw.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let replace = (self.draw >> 16).is_multiple_of(REPLACE_ONE_IN);
        self.exact.offer(hash, id.0, replace);
    }

    /// Remembers what the tables said of a packet, if that is not known yet. `all` are the bits that
    /// matter to any lookup.
    pub(super) fn install(
        &mut self,
        hash: u64,
        key: &FlowKey,
        all: &Mask,
        found: Resolution,
        ways: &mut Ways,
        now: u64,
    ) -> FlowId {
        let seen = FlowKey { table: u16::MAX, ..found.seen };
        let mask = self.masks.take(&seen, all.bits());
        let key = key & self.masks.get(mask).bits();
        let under = self.masks.hash(mask, self.seed, &key);
        // A flow that was not looked up under its mask may be there.
        if let Some(known) = self.find_under(mask, under, &key) {
            self.masks.leave(mask);
            self.offer(hash, known);
            return known;
        }
        let way = ways.take(found);
        let program = ways.program(way);
        let flow = Flow {
            key,
            mask,
            exact: false,
            way,
            program,
            listed: false,
            packets: 0,
            bytes: 0,
            used: now,
        };
        let id = self.place(flow, now, ways);
        let flows = &self.flows;
        if let Some(displaced) = self.wildcard.insert(under, id.0, |id| flows[id as usize].used) {
            self.counters.evicted += 1;
            self.forget(FlowId(displaced), ways);
        }
        self.offer(hash, id);
        self.counters.installed += 1;
        id
    }

    /// Finds a place for a flow; if there are as many as may be, another goes.
    fn place(&mut self, flow: Flow, now: u64, ways: &mut Ways) -> FlowId {
        if self.free.is_empty() && self.flows.len() == self.limit {
            self.evict(ways);
        }
        let past = Past { created: now, tally: Tally::default() };
        if let Some(id) = self.free.pop() {
            let listed = self.flows[id.0 as usize].listed;
            self.flows[id.0 as usize] = Flow { listed, ..flow };
            self.past[id.0 as usize] = past;
            return id;
        }
        self.flows.push(flow);
        self.past.push(past);
        FlowId(u32::try_from(self.flows.len() - 1).expect("they are limited"))
    }

    /// Of a few flows, the one that was not used for longest goes.
    fn evict(&mut self, ways: &mut Ways) {
        const CANDIDATES: usize = 8;
        let candidates = (self.hand..self.hand + CANDIDATES).map(|place| place % self.flows.len());
        let oldest = candidates.min_by_key(|&place| self.flows[place].used).unwrap_or(0);
        self.hand = (self.hand + CANDIDATES) % self.flows.len();
        self.counters.evicted += 1;
        self.remove(FlowId(u32::try_from(oldest).expect("they are limited")), ways);
    }

    /// Takes a flow out of the index and forgets it.
    pub(super) fn remove(&mut self, id: FlowId, ways: &mut Ways) {
        let flow = &self.flows[id.0 as usize];
        let under = self.masks.hash(flow.mask, self.seed, &flow.key);
        self.wildcard.remove(under, id.0);
        self.forget(id, ways);
    }

    /// The same, if it was not forgotten before.
    pub(super) fn drop_if_there(&mut self, id: FlowId, ways: &mut Ways) {
        if self.at(id.0 as usize).is_some() {
            self.remove(id, ways);
        }
    }

    fn forget(&mut self, id: FlowId, ways: &mut Ways) {
        self.settle_one(id, ways);
        let flow = &mut self.flows[id.0 as usize];
        flow.key.table = FlowKey::FORGOTTEN;
        flow.used = 0;
        self.masks.leave(flow.mask);
        ways.leave(flow.way);
        self.free.push(id);
    }

    /// Counts packets of a flow, and returns its program.
    #[inline]
    pub(super) fn count(&mut self, id: FlowId, tally: Tally, now: u64) -> ProgramId {
        let flow = &mut self.flows[id.0 as usize];
        if !flow.listed {
            flow.listed = true;
            self.unsettled.push_back(id);
        }
        flow.packets += tally.packets;
        flow.bytes += tally.bytes;
        flow.used = now;
        flow.program
    }

    /// Counts for the rules what some flows have counted, so that it costs little for each packet
    /// and no packet waits for long.
    #[inline]
    pub(super) fn settle(&mut self, most: usize, ways: &Ways) {
        for _ in 0..most {
            let Some(id) = self.unsettled.pop_front() else { return };
            self.flows[id.0 as usize].listed = false;
            self.settle_one(id, ways);
        }
    }

    fn settle_one(&mut self, id: FlowId, ways: &Ways) {
        let flow = &mut self.flows[id.0 as usize];
        let tally = flow.unsettled();
        (flow.packets, flow.bytes) = (0, 0);
        self.past[id.0 as usize].tally.merge(tally);
        ways.count(flow.way, tally);
    }

    /// How many places there are, of which some may be empty.
    pub(super) fn places(&self) -> usize {
        self.flows.len()
    }

    /// The flow at a place, its key and its mask, if there is one.
    pub(super) fn at(&self, place: usize) -> Option<(FlowId, &FlowKey, &FlowKey)> {
        let flow = self.flows.get(place).filter(|flow| flow.key.table != FlowKey::FORGOTTEN)?;
        let id = FlowId(u32::try_from(place).expect("they are limited"));
        Some((id, &flow.key, self.masks.get(flow.mask).bits()))
    }

    /// Whether a flow's time is over: it was not used for `idle`, or is older than `hard`, which may
    /// be 0 for never.
    pub(super) fn is_over(&self, id: FlowId, now: u64, idle: u64, hard: u64) -> bool {
        let unused = now.saturating_sub(self.flows[id.0 as usize].used) >= idle;
        unused || (hard > 0 && now.saturating_sub(self.past[id.0 as usize].created) >= hard)
    }

    /// Has a flow take another way. Returns whether it is another.
    pub(super) fn turn(&mut self, id: FlowId, found: Resolution, ways: &mut Ways) -> bool {
        self.settle_one(id, ways);
        let way = ways.take(found);
        let flow = &mut self.flows[id.0 as usize];
        ways.leave(flow.way);
        let turned = flow.way != way;
        (flow.way, flow.program) = (way, ways.program(way));
        turned
    }

    /// A flow as it is told to others.
    pub(super) fn tell(&self, place: usize, ways: &Ways) -> Option<CachedFlow> {
        let (id, key, mask) = self.at(place)?;
        let (flow, past) = (&self.flows[place], self.past[id.0 as usize]);
        let mut tally = past.tally;
        tally.merge(flow.unsettled());
        Some(CachedFlow {
            key: *key,
            mask: *mask,
            rules: ways.rules(flow.way),
            actions: Arc::clone(ways.actions(flow.program)),
            tally,
            created: past.created,
            used: flow.used,
            exact: flow.exact,
        })
    }

    pub(super) fn counters(&self) -> FlowCounters {
        FlowCounters {
            flows: (self.flows.len() - self.free.len()) as u64,
            masks: self.masks.len() as u64,
            mask_limit_hits: self.masks.limited,
            ..self.counters
        }
    }
}

impl Flow {
    fn unsettled(&self) -> Tally {
        Tally { packets: self.packets, bytes: self.bytes }
    }
}

#[inline]
fn is(masks: &Masks, flow: &Flow, key: &FlowKey) -> bool {
    masks.get(flow.mask).matches(key, &flow.key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PortId;

    #[test]
    fn what_is_no_frame_is_of_no_flow_though_it_hash_as_one_that_was_forgotten() {
        let hash = 7 << 48;
        let mut runt = Parsed::default();
        assert!(!runt.read(PortId(0), &[]));
        let all = Mask::new(&FlowKey { table: u16::MAX, ..FlowKey::NONE });
        let (mut flows, mut ways) = (Flows::new(8, 1, Seed(1)), Ways::new(0, 1));
        let found = Resolution::default();
        let id = flows.install(hash, &FlowKey::default(), &all, found, &mut ways, 1);
        flows.remove(id, &mut ways);
        assert_eq!(flows.find_exact(hash, &runt.key), None);
        assert_eq!(flows.find_exact_burst(&[hash], &[runt])[0], None);
    }
}
