use std::{hash::BuildHasherDefault, sync::Arc};

use rpds::{HashTrieMapSync, RedBlackTreeMapSync};

use super::{
    Rule,
    prefix::PrefixField,
    table::{Prefixes, Seen},
};
use crate::flow::{AsIs, FlowKey, Mask, Seed};

/// A map by hashes, of which versions share what they have in common.
type ByHash<T> = HashTrieMapSync<u64, T, BuildHasherDefault<AsIs>>;

/// Rules come from those who are trusted, so nobody makes these hashes collide.
const SEED: Seed = Seed(0);

/// The patterns of a table that have one mask, found by hashing.
#[derive(Debug, Clone)]
pub(super) struct Subtable {
    mask: Mask,
    /// What is asked before the rules are looked at, from the fields that differ least from packet
    /// to packet to those that differ most.
    checks: Vec<Check>,
    rules: ByHash<Arc<[Entry]>>,
    /// How many patterns there are of each priority.
    priorities: RedBlackTreeMapSync<u16, u32>,
}

/// A pattern: its rule and its place there, for there are many and a value is large. Those of one
/// hash stand together, the winner first.
#[derive(Debug, Clone)]
struct Entry {
    rule: Arc<Rule>,
    place: u16,
}

impl Entry {
    fn value(&self) -> &FlowKey {
        self.rule.patterns[usize::from(self.place)].value()
    }
}

/// Something that may show that no pattern matches, by a look at few bits.
#[derive(Debug, Clone)]
enum Check {
    /// Some patterns have these bits.
    Some(Box<Presence>),
    /// Patterns have a prefix of this length.
    Prefix { field: PrefixField, length: u8 },
}

/// Which bits patterns have under a mask.
#[derive(Debug, Clone)]
struct Presence {
    mask: Mask,
    /// How many patterns have which bits, by their hashes.
    patterns: ByHash<u32>,
    /// The bits that all of them have, as far as that is known: they are compared without a look at
    /// the map.
    all: Option<FlowKey>,
}

impl Presence {
    fn new(bits: &FlowKey) -> Self {
        Self { mask: Mask::new(bits), patterns: ByHash::default(), all: None }
    }

    fn count(&mut self, value: &FlowKey, change: i32) {
        let (hash, bits) = (self.mask.hash(SEED, value), value & self.mask.bits());
        if self.patterns.is_empty() {
            self.all = Some(bits);
        } else if self.all != Some(bits) {
            self.all = None;
        }
        let before = self.patterns.get(&hash).map_or(0, |count| *count);
        match before.saturating_add_signed(change) {
            0 => drop(self.patterns.remove_mut(&hash)),
            count => self.patterns.insert_mut(hash, count),
        }
    }

    fn has(&self, key: &FlowKey) -> bool {
        match &self.all {
            Some(all) => self.mask.matches(key, all),
            None => self.patterns.contains_key(&self.mask.hash(SEED, key)),
        }
    }
}

impl Subtable {
    pub(super) fn new(bits: &FlowKey) -> Self {
        Self {
            mask: Mask::new(bits),
            checks: checks(bits),
            rules: ByHash::default(),
            priorities: RedBlackTreeMapSync::default(),
        }
    }

    pub(super) fn bits(&self) -> &FlowKey {
        self.mask.bits()
    }

    /// The highest priority of its rules; `None` if it has none.
    pub(super) fn top(&self) -> Option<u16> {
        self.priorities.last().map(|(priority, _)| *priority)
    }

    /// Adds the pattern at a place of a rule, whose mask is this one's.
    pub(super) fn insert(&mut self, rule: &Arc<Rule>, place: u16) {
        let value = rule.patterns[usize::from(place)].value();
        let hash = self.mask.hash(SEED, value);
        let known = self.rules.get(&hash).map_or(&[][..], |entries| &**entries);
        let entry = Entry { rule: Arc::clone(rule), place };
        let rank = known.partition_point(|entry| entry.rule.beats(rule));
        let (before, behind) = known.split_at(rank);
        let entries = before.iter().cloned().chain([entry]).chain(behind.iter().cloned());
        let entries = entries.collect();
        self.rules.insert_mut(hash, entries);
        self.count(value, 1);
        add(&mut self.priorities, rule.priority, 1);
    }

    /// Takes a pattern away, which is there.
    pub(super) fn remove(&mut self, value: &FlowKey, rule: &Rule) {
        let hash = self.mask.hash(SEED, value);
        let Some(known) = self.rules.get(&hash) else { return };
        let is = |entry: &&Entry| entry.rule.id == rule.id && entry.value() == value;
        let entries: Arc<[Entry]> = known.iter().filter(|entry| !is(entry)).cloned().collect();
        if entries.is_empty() {
            self.rules.remove_mut(&hash);
        } else {
            self.rules.insert_mut(hash, entries);
        }
        self.count(value, -1);
        add(&mut self.priorities, rule.priority, -1);
    }

    fn count(&mut self, value: &FlowKey, change: i32) {
        for check in &mut self.checks {
            if let Check::Some(presence) = check {
                presence.count(value, change);
            }
        }
    }

    /// The rule that wins here, and which bits had to be looked at to know.
    pub(super) fn lookup<'a>(
        &'a self,
        key: &FlowKey,
        prefixes: &mut Prefixes<'_>,
        seen: &mut Seen,
    ) -> Option<&'a Arc<Rule>> {
        for check in &self.checks {
            if let Some(bits) = check.rules_out(key, prefixes) {
                *seen |= &bits;
                return None;
            }
        }
        *seen |= self.bits();
        let entries = self.rules.get(&self.mask.hash(SEED, key))?;
        let found = entries.iter().find(|entry| self.mask.matches(key, entry.value()));
        found.map(|entry| &entry.rule)
    }
}

impl Check {
    /// The bits that show that no pattern matches, if they do.
    fn rules_out(&self, key: &FlowKey, prefixes: &mut Prefixes<'_>) -> Option<FlowKey> {
        match self {
            Self::Some(presence) => (!presence.has(key)).then(|| *presence.mask.bits()),
            Self::Prefix { field, length } => {
                let found = prefixes.find(*field, key);
                (!found.has(*length))
                    .then(|| field.mask(field.rounded(found.looked_at).min(*length)))
            }
        }
    }
}

/// The checks for a mask: where the packet came from and what lies beside it; the prefixes; its
/// Ethernet header and tags; its network header. What a check adds to the one before must be some
/// bits, but not all that are left.
fn checks(bits: &FlowKey) -> Vec<Check> {
    let prefixes = PrefixField::ALL
        .into_iter()
        .filter_map(|field| field.length(bits).map(|length| Check::Prefix { field, length }));
    let mut checks = Vec::new();
    let mut before = FlowKey::NONE;
    for (stage, upto) in STAGES.iter().enumerate() {
        let here = bits & upto;
        if here != before && here != *bits {
            checks.push(Check::Some(Box::new(Presence::new(&here))));
            before = here;
        }
        if stage == FIRST {
            checks.extend(prefixes.clone());
        }
    }
    checks
}

/// The place in [`STAGES`] of what is behind no header. Prefixes come next, as they cost least: a
/// lookup asks a trie once for all masks.
const FIRST: usize = 0;

/// The fields that are looked at first, and those that are looked at until then.
const STAGES: [FlowKey; 3] = {
    const ALL: FlowKey = FlowKey::EXACT;
    let first =
        FlowKey { in_port: ALL.in_port, metadata: ALL.metadata, table: ALL.table, ..FlowKey::NONE };
    let ethernet = FlowKey {
        eth_dst: ALL.eth_dst,
        eth_src: ALL.eth_src,
        ethertype: ALL.ethertype,
        layers: ALL.layers,
        vlan: ALL.vlan,
        mpls: ALL.mpls,
        ..first
    };
    let network = FlowKey {
        ipv4_src: ALL.ipv4_src,
        ipv4_dst: ALL.ipv4_dst,
        ipv6_src: ALL.ipv6_src,
        ipv6_dst: ALL.ipv6_dst,
        ipv6_label: ALL.ipv6_label,
        protocol: ALL.protocol,
        traffic_class: ALL.traffic_class,
        ttl: ALL.ttl,
        ..ethernet
    };
    [first, ethernet, network]
};

fn add(counts: &mut RedBlackTreeMapSync<u16, u32>, key: u16, change: i32) {
    match counts.get(&key).map_or(0, |count| *count).saturating_add_signed(change) {
        0 => drop(counts.remove_mut(&key)),
        count => counts.insert_mut(key, count),
    }
}
