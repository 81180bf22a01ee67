use super::{FlowKey, Seed};

/// Remembers what was decided for a key: two-way set-associative, of a fixed size.
///
/// Forgetting everything is one addition, since an entry of an earlier generation does not count.
#[derive(Debug)]
pub(crate) struct FlowCache {
    /// The newer entry of a set is first; the second does not count if the first does not.
    sets: Box<[[Entry; 2]]>,
    seed: Seed,
    generation: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    key: FlowKey,
    outcome: u32,
    generation: u32,
}

impl FlowCache {
    /// A cache of the next power of two of `entries`, at least two.
    pub(crate) fn new(entries: usize, seed: Seed) -> Self {
        let sets = entries.next_power_of_two().max(2) / 2;
        Self { sets: vec![<[Entry; 2]>::default(); sets].into(), seed, generation: 1 }
    }

    /// What was decided for the key.
    #[inline]
    pub(crate) fn get(&self, key: &FlowKey) -> Option<u32> {
        self.sets[self.set(key)]
            .iter()
            .find(|entry| entry.generation == self.generation && entry.key == *key)
            .map(|entry| entry.outcome)
    }

    /// Remembers, and forgets the older of the two entries that stand where the key does.
    pub(crate) fn insert(&mut self, key: FlowKey, outcome: u32) {
        let set = &mut self.sets[self.set(&key)];
        set[1] = set[0];
        set[0] = Entry { key, outcome, generation: self.generation };
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.sets.fill(Default::default());
            self.generation = 1;
        }
    }

    #[inline]
    fn set(&self, key: &FlowKey) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "the low bits are what is wanted")]
        let hash = self.seed.key(key) as usize;
        hash & (self.sets.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::{collection::vec, prelude::*};

    use super::*;

    /// What is done to a cache.
    #[derive(Debug, Clone)]
    enum Step {
        Get(u16),
        Insert(u16, u32),
        Clear,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            8 => (0_u16..40).prop_map(Step::Get),
            8 => (0_u16..40, any::<u32>()).prop_map(|(port, outcome)| Step::Insert(port, outcome)),
            1 => Just(Step::Clear),
        ]
    }

    proptest! {
        #[test]
        fn never_answers_what_a_map_would_not(
            seed in any::<u64>(),
            generation in prop_oneof![Just(1), u32::MAX - 3..=u32::MAX],
            steps in vec(step(), 0..300),
        ) {
            let mut cache = FlowCache { generation, ..FlowCache::new(16, Seed(seed)) };
            let mut map = HashMap::new();
            for step in steps {
                match step {
                    Step::Get(port) => {
                        let known = cache.get(&key(port));
                        prop_assert!(known.is_none() || known == map.get(&port).copied());
                    }
                    Step::Insert(port, outcome) => {
                        cache.insert(key(port), outcome);
                        map.insert(port, outcome);
                        prop_assert_eq!(cache.get(&key(port)), Some(outcome));
                    }
                    Step::Clear => {
                        cache.clear();
                        map.clear();
                    }
                }
            }
        }

        #[test]
        fn any_two_keys_live_beside_each_other(seed in any::<u64>(), ports in any::<[u16; 2]>()) {
            let mut cache = FlowCache::new(2, Seed(seed));
            cache.insert(key(ports[0]), 0);
            cache.insert(key(ports[1]), 1);
            let expected = u32::from(ports[0] == ports[1]);
            prop_assert_eq!(cache.get(&key(ports[0])), Some(expected));
            prop_assert_eq!(cache.get(&key(ports[1])), Some(1));
        }
    }

    fn key(port: u16) -> FlowKey {
        FlowKey { l4_src: port, ..FlowKey::default() }
    }

    #[test]
    fn answers_what_was_put_in_or_nothing() {
        let mut cache = FlowCache::new(64, Seed(1));
        for port in 0..1000 {
            cache.insert(key(port), u32::from(port));
        }
        let known: Vec<u16> = (0..1000).filter(|&port| cache.get(&key(port)).is_some()).collect();
        assert!(known.len() > 16 && known.len() <= 64, "{}", known.len());
        assert!(known.iter().all(|&port| cache.get(&key(port)) == Some(u32::from(port))));
        assert_eq!(cache.get(&key(999)), Some(999), "the newest is there");
    }

    #[test]
    fn forgets_everything_at_once_also_when_generations_wrap() {
        let mut cache = FlowCache::new(64, Seed(1));
        cache.insert(key(1), 1);
        cache.clear();
        assert_eq!(cache.get(&key(1)), None);
        cache.generation = u32::MAX;
        cache.insert(key(2), 2);
        cache.clear();
        assert_eq!((cache.get(&key(1)), cache.get(&key(2))), (None, None));
        assert_eq!(cache.get(&FlowKey::default()), None, "an empty place is no entry");
    }
}
