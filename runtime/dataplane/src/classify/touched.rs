use std::collections::{HashMap, HashSet};

use super::Pattern;
use crate::flow::{FlowKey, Mask, Seed};

/// The packets that a change of rules may be about.
#[derive(Debug)]
pub enum Touched {
    /// Those that any of these patterns matches.
    Some(Patterns),
    /// All of them.
    All,
    /// All of them, and what was known of them is to be forgotten.
    Forgotten,
}

/// The patterns of rules that came or went.
#[derive(Debug, Default)]
pub struct Patterns {
    groups: Vec<Group>,
}

/// The patterns that have one mask.
#[derive(Debug)]
struct Group {
    mask: Mask,
    values: Vec<FlowKey>,
    hashes: HashSet<u64>,
}

/// Patterns come from those who are trusted, so nobody makes these hashes collide.
const SEED: Seed = Seed(0);

/// Up to so many patterns are compared one by one.
const FEW: usize = 16;

/// With more masks than so many, the tables are asked as soon as the patterns.
const MOST_MASKS: usize = 64;

impl Touched {
    /// The packets that any of the patterns matches, and at times others.
    #[must_use]
    pub fn by<'a>(patterns: impl IntoIterator<Item = &'a Pattern>) -> Self {
        let patterns: Patterns = patterns.into_iter().collect();
        if patterns.groups.len() > MOST_MASKS { Self::All } else { Self::Some(patterns) }
    }

    /// Whether there may be packets of a flow among them.
    pub(crate) fn may_be_about(&self, key: &FlowKey, mask: &FlowKey) -> bool {
        match self {
            Self::Some(patterns) => {
                patterns.groups.iter().any(|group| group.may_be_about(key, mask))
            }
            Self::All | Self::Forgotten => true,
        }
    }
}

impl<'a> FromIterator<&'a Pattern> for Patterns {
    fn from_iter<T: IntoIterator<Item = &'a Pattern>>(patterns: T) -> Self {
        let mut places = HashMap::new();
        let mut groups: Vec<Group> = Vec::new();
        for pattern in patterns {
            let place = *places.entry(pattern.mask()).or_insert(groups.len());
            if place == groups.len() {
                let mask = Mask::new(pattern.mask());
                groups.push(Group { mask, values: Vec::new(), hashes: HashSet::new() });
            }
            let group = &mut groups[place];
            group.values.push(*pattern.value());
            group.hashes.insert(group.mask.hash(SEED, pattern.value()));
        }
        Self { groups }
    }
}

impl Group {
    fn may_be_about(&self, key: &FlowKey, mask: &FlowKey) -> bool {
        if mask.covers(self.mask.bits()) {
            return self.hashes.contains(&self.mask.hash(SEED, key));
        }
        let both = self.mask.bits() & mask;
        self.values.len() > FEW || self.values.iter().any(|value| value & &both == key & &both)
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn key(port: u16, protocol: u8) -> FlowKey {
        FlowKey { l4_dst: port, protocol, ..FlowKey::NONE }
    }

    proptest! {
        #[test]
        fn misses_no_flow_that_a_pattern_is_about(
            patterns in vec(any::<((u16, u8), (u16, u8))>(), 0..40),
            flow in any::<((u16, u8), (u16, u8))>(),
            noise in any::<(u16, u8)>(),
        ) {
            let pattern = |((a, b), (c, d))| Pattern::new(&key(a, b), &key(c, d));
            let patterns: Vec<Pattern> = patterns.into_iter().map(pattern).collect();
            let flow = pattern(flow);
            let rest = &key(noise.0, noise.1) & &!flow.mask();
            let packet = flow.value().union(&rest);
            let touched = Touched::by(&patterns).may_be_about(flow.value(), flow.mask());
            prop_assert!(touched || !patterns.iter().any(|pattern| pattern.matches(&packet)));
        }
    }

    #[test]
    fn patterns_of_more_masks_than_are_worth_a_look_are_about_all_packets() {
        let by = |masks: u16| {
            let patterns: Vec<Pattern> =
                (1..=masks).map(|mask| Pattern::new(&key(0, 0), &key(mask, 0))).collect();
            matches!(Touched::by(&patterns), Touched::All)
        };
        assert_eq!((by(64), by(65)), (false, true));
    }

    #[test]
    fn leaves_flows_alone_that_no_pattern_is_about() {
        let exact = key(u16::MAX, u8::MAX);
        let ports: Vec<Pattern> = (0..100).map(|n| Pattern::new(&key(n, 6), &exact)).collect();
        let touched = Touched::by(&ports);
        assert!(touched.may_be_about(&key(99, 6), &exact));
        assert!(!touched.may_be_about(&key(100, 6), &exact));
        assert!(!touched.may_be_about(&key(99, 17), &exact));
        let few = Touched::by(&ports[..2]);
        assert!(!few.may_be_about(&key(0, 17), &key(0, u8::MAX)), "a flow of any port");
        assert!(few.may_be_about(&key(0, 6), &key(0, u8::MAX)));
        assert!(Touched::All.may_be_about(&key(1, 1), &exact));
    }
}
