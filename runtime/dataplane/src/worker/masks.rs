use std::{cmp::Reverse, collections::HashMap};

use crate::flow::{FlowKey, Mask, Seed};

/// The place of a mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MaskId(u16);

/// How many masks are kept before flows get finer ones than they need, so that rules that are made
/// to need thousands do not make lookups as slow as that.
const MOST: usize = 64;

/// How many lookups there are between two looks at which masks are hit most.
const LOOKUPS: u32 = 4096;

/// Where fewer than one in so many lookups find anything, the tables are asked at once, which costs
/// about as much as a lookup under all masks.
const WORTHWHILE_ONE_IN: u32 = 4;

/// Even then, one in so many lookups is made, to see whether it has become worthwhile.
const TRY_ONE_IN: u32 = 16;

/// The masks that cached flows have, the ones that are hit most first.
#[derive(Debug, Default)]
pub(super) struct Masks {
    masks: Vec<Entry>,
    places: HashMap<FlowKey, MaskId>,
    free: Vec<MaskId>,
    /// Those in use, in the order in which they are tried.
    order: Vec<MaskId>,
    /// Packets that were to be looked up, those that were, and those that were found, since the order
    /// was last made.
    asked: u32,
    lookups: u32,
    found: u32,
    /// Whether lookups found little when the order was last made.
    idle: bool,
    /// How often a flow got a finer mask than it needs.
    pub(super) limited: u64,
}

#[derive(Debug)]
struct Entry {
    mask: Mask,
    flows: u32,
    /// Since the order was last made, and half of those before.
    hits: u32,
}

impl Masks {
    #[inline]
    pub(super) fn get(&self, id: MaskId) -> &Mask {
        &self.masks[usize::from(id.0)].mask
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// The place of a mask with these bits, or with `all` bits that matter if there are too many,
    /// for one more flow.
    pub(super) fn take(&mut self, bits: &FlowKey, all: &FlowKey) -> MaskId {
        let limited = self.len() >= MOST && !self.places.contains_key(bits);
        let bits = if limited { all } else { bits };
        self.limited += u64::from(limited);
        let id = match self.places.get(bits) {
            Some(&known) => known,
            None => self.add(bits),
        };
        self.masks[usize::from(id.0)].flows += 1;
        id
    }

    fn add(&mut self, bits: &FlowKey) -> MaskId {
        let entry = Entry { mask: Mask::new(bits), flows: 0, hits: 0 };
        let id = match self.free.pop() {
            Some(id) => {
                self.masks[usize::from(id.0)] = entry;
                id
            }
            None => {
                let place = u16::try_from(self.masks.len()).expect("they are limited");
                self.masks.push(entry);
                MaskId(place)
            }
        };
        self.places.insert(*bits, id);
        self.order.push(id);
        id
    }

    /// One flow less has a mask.
    pub(super) fn leave(&mut self, id: MaskId) {
        let entry = &mut self.masks[usize::from(id.0)];
        entry.flows -= 1;
        if entry.flows == 0 {
            self.places.remove(entry.mask.bits());
            self.order.retain(|it| *it != id);
            self.free.push(id);
        }
    }

    /// A key's hash under a mask; those of different masks differ.
    #[inline]
    pub(super) fn hash(&self, id: MaskId, seed: Seed, key: &FlowKey) -> u64 {
        self.get(id).hash(Seed(seed.0 ^ u64::from(id.0)), key)
    }

    /// What is found under the first mask that anything is found under.
    pub(super) fn search<T>(
        &mut self,
        mut find: impl FnMut(&Self, MaskId) -> Option<T>,
    ) -> Option<T> {
        self.asked += 1;
        if self.asked == LOOKUPS {
            self.sort();
        }
        if self.idle && !self.asked.is_multiple_of(TRY_ONE_IN) {
            return None;
        }
        self.lookups += 1;
        let (id, found) =
            self.order.iter().find_map(|&id| find(self, id).map(|found| (id, found)))?;
        self.masks[usize::from(id.0)].hits += 1;
        self.found += 1;
        Some(found)
    }

    fn sort(&mut self) {
        self.idle = self.found * WORTHWHILE_ONE_IN < self.lookups;
        (self.asked, self.lookups, self.found) = (0, 0, 0);
        let masks = &mut self.masks;
        self.order.sort_by_key(|id| Reverse(masks[usize::from(id.0)].hits));
        masks.iter_mut().for_each(|entry| entry.hits /= 2);
    }
}
