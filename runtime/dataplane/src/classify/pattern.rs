use crate::flow::FlowKey;

/// The keys that agree with a value wherever a mask has ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pattern {
    value: FlowKey,
    mask: FlowKey,
}

impl Pattern {
    /// What agrees with `value` under `mask`. Bits of the value outside the mask do not count.
    #[must_use]
    pub fn new(value: &FlowKey, mask: &FlowKey) -> Self {
        Self { value: value & mask, mask: *mask }
    }

    /// Whether a key agrees.
    #[inline]
    #[must_use]
    pub fn matches(&self, key: &FlowKey) -> bool {
        key & &self.mask == self.value
    }

    /// What it wants there to be, of the bits that it looks at.
    #[must_use]
    pub fn value(&self) -> &FlowKey {
        &self.value
    }

    /// Which bits it looks at.
    #[must_use]
    pub fn mask(&self) -> &FlowKey {
        &self.mask
    }
}
