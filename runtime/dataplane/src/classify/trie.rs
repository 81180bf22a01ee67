use std::sync::Arc;

use super::prefix::first_bits;

/// Which prefixes of a field there are in a table: a binary tree with its paths compressed, of which
/// versions share what they have in common.
#[derive(Debug, Clone, Default)]
pub(super) struct Trie {
    root: Option<Arc<Node>>,
}

#[derive(Debug, Clone)]
struct Node {
    prefix: u128,
    length: u8,
    /// How many patterns have this very prefix.
    patterns: u32,
    children: [Option<Arc<Node>>; 2],
}

/// What a trie knows of a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// A bit for each length of a prefix that the value has: bit `n - 1` for length `n`.
    lengths: u128,
    /// How many of the value's first bits had to be looked at to know that there are no others.
    pub(super) looked_at: u8,
}

impl Found {
    /// Whether the value has a prefix of this length.
    pub(super) fn has(&self, length: u8) -> bool {
        self.lengths >> (length - 1) & 1 == 1
    }
}

impl Trie {
    /// Adds a prefix once more. It has at least one bit.
    pub(super) fn insert(&mut self, prefix: u128, length: u8) {
        insert(&mut self.root, prefix & first_bits(length), length);
    }

    /// Takes a prefix away once, which is there.
    pub(super) fn remove(&mut self, prefix: u128, length: u8) {
        remove(&mut self.root, prefix & first_bits(length), length);
    }

    /// Which prefixes a value has.
    pub(super) fn find(&self, value: u128) -> Found {
        let mut found = Found::default();
        let mut place = &self.root;
        while let Some(node) = place {
            let common = common(value, node.prefix, node.length);
            if common < node.length {
                found.looked_at = common + 1;
                break;
            }
            found.looked_at = found.looked_at.max(node.length);
            if node.patterns > 0 {
                found.lengths |= 1 << (node.length - 1);
            }
            place = &node.children[branch(value, node.length)];
            if place.is_none() && node.children.iter().any(Option::is_some) {
                found.looked_at = node.length + 1;
            }
        }
        found
    }
}

/// How many first bits two values have in common, at most so many.
fn common(a: u128, b: u128, most: u8) -> u8 {
    u8::try_from((a ^ b).leading_zeros()).expect("a word has fewer bits").min(most)
}

/// The bit behind the first bits of a value, for which there is one.
fn branch(value: u128, length: u8) -> usize {
    usize::from(value.checked_shl(length.into()).unwrap_or(0) >> 127 == 1)
}

fn insert(place: &mut Option<Arc<Node>>, prefix: u128, length: u8) {
    let Some(known) = place else {
        let leaf = Node { prefix, length, patterns: 1, children: [None, None] };
        *place = Some(Arc::new(leaf));
        return;
    };
    let shared = common(prefix, known.prefix, known.length.min(length));
    if shared < known.length {
        // The new prefix leaves the known path, or ends on it: a node stands there from now on.
        let (below, side) = (known.clone(), branch(known.prefix, shared));
        let mut fork = Node {
            prefix: prefix & first_bits(shared),
            length: shared,
            patterns: u32::from(shared == length),
            children: [None, None],
        };
        fork.children[side] = Some(below);
        if shared < length {
            insert(&mut fork.children[branch(prefix, shared)], prefix, length);
        }
        *place = Some(Arc::new(fork));
        return;
    }
    let node = Arc::make_mut(known);
    if length == node.length {
        node.patterns += 1;
    } else {
        insert(&mut node.children[branch(prefix, node.length)], prefix, length);
    }
}

fn remove(place: &mut Option<Arc<Node>>, prefix: u128, length: u8) {
    let Some(node) = place.as_mut().map(Arc::make_mut) else { return };
    if node.length < length {
        remove(&mut node.children[branch(prefix, node.length)], prefix, length);
    } else {
        node.patterns = node.patterns.saturating_sub(1);
    }
    if node.patterns == 0 {
        match &mut node.children {
            // A node that no pattern has and that does not fork is not needed.
            [only, None] | [None, only] => *place = only.take(),
            [Some(_), Some(_)] => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    /// Few values, so that they share much.
    fn prefix() -> impl Strategy<Value = (u128, u8)> {
        (any::<u8>(), prop_oneof![1_u8..=8, Just(128)])
            .prop_map(|(value, length)| (u128::from(value) << 120, length))
    }

    proptest! {
        #[test]
        fn finds_what_a_list_finds_and_looks_at_enough_bits(
            inserted in vec(prefix(), 0..40),
            removed in vec(any::<proptest::sample::Index>(), 0..30),
            value in any::<u8>(),
            noise in any::<u128>(),
        ) {
            let (mut trie, mut list) = (Trie::default(), inserted.clone());
            inserted.iter().for_each(|&(prefix, length)| trie.insert(prefix, length));
            let before = trie.clone();
            for index in removed {
                if !list.is_empty() {
                    let (prefix, length) = list.swap_remove(index.index(list.len()));
                    trie.remove(prefix, length);
                }
            }
            let value = u128::from(value) << 120;
            let slow = |list: &[(u128, u8)], value: u128| {
                list.iter()
                    .filter(|(prefix, length)| (value ^ prefix) & first_bits(*length) == 0)
                    .fold(0, |lengths, (_, length)| lengths | 1_u128 << (length - 1))
            };
            prop_assert_eq!(before.find(value).lengths, slow(&inserted, value), "versions differ");
            let found = trie.find(value);
            prop_assert_eq!(found.lengths, slow(&list, value));
            let seen = first_bits(found.looked_at);
            let other = (value & seen) | (noise & !seen);
            prop_assert_eq!(trie.find(other), found, "other bits change nothing");
            if list.is_empty() {
                prop_assert!(trie.root.is_none());
            }
        }
    }
}
