use alloc::{boxed::Box, vec};
use core::{fmt, marker::PhantomData};

use crate::Names;

/// What a stage counts, one `u64` for each name. The host reads them between two batches.
pub struct Counters<C> {
    values: Box<[u64]>,
    names: PhantomData<fn(C)>,
}

impl<C: Names> Counters<C> {
    pub(crate) fn new() -> Self {
        Self { values: vec![0; C::NAMES.len()].into(), names: PhantomData }
    }

    /// Counts one.
    #[inline]
    pub fn increment(&mut self, counter: C) {
        self.add(counter, 1);
    }

    /// Counts several, such as a packet's bytes.
    #[inline]
    pub fn add(&mut self, counter: C, count: u64) {
        if let Some(value) = self.values.get_mut(counter.index() as usize) {
            *value = value.wrapping_add(count);
        }
    }

    /// What was counted, in the order of the names.
    #[must_use]
    pub fn values(&self) -> &[u64] {
        &self.values
    }
}

impl<C: Names> fmt::Debug for Counters<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(C::NAMES.iter().zip(&self.values)).finish()
    }
}
