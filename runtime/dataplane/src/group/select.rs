//! Flows over buckets by their weights, such that few flows move when buckets come and go.
//!
//! Flows fall into slots, and each slot takes the bucket that wins a draw of its own (highest
//! random weight): a bucket that goes gives up its slots and no others, one that comes takes some
//! from each. The draws are made once, for a table; a packet costs one look.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::Bucket;

const SLOTS: usize = 4096;
/// How many slots a flow tries before it takes any bucket that is alive.
const TRIES: usize = 8;

/// The bucket of each slot.
#[derive(Debug)]
pub(super) struct Slots(Box<[u8]>);

impl Slots {
    pub(super) fn new(buckets: &[Bucket]) -> Self {
        let names = names(buckets);
        let winner = |slot: u64| {
            let draws = buckets.iter().zip(&names).map(|(bucket, name)| draw(bucket, *name, slot));
            let best = draws.enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b));
            u8::try_from(best.map_or(0, |(place, _)| place)).expect("there are few buckets")
        };
        Self((0..SLOTS as u64).map(winner).collect())
    }

    /// The places of the buckets that a flow tries, one after the other.
    #[inline]
    pub(super) fn tries(&self, flow_hash: u32) -> [usize; TRIES] {
        let mut mixed = u64::from(flow_hash);
        std::array::from_fn(|_| {
            mixed = mix(mixed);
            #[expect(clippy::cast_possible_truncation, reason = "the low bits are wanted")]
            let slot = mixed as usize % SLOTS;
            usize::from(self.0[slot])
        })
    }
}

/// What buckets are known by: what they do, and how many before them do the same.
fn names(buckets: &[Bucket]) -> Vec<u64> {
    let same = |place: usize| {
        buckets[..place].iter().filter(|before| before.actions == buckets[place].actions).count()
    };
    let name = |(place, bucket): (usize, &Bucket)| {
        let mut hasher = DefaultHasher::new();
        (&bucket.actions, same(place)).hash(&mut hasher);
        hasher.finish()
    };
    buckets.iter().enumerate().map(name).collect()
}

/// What a bucket draws for a slot; the least wins. It is exponential, so that each bucket wins as
/// often as its weight says.
#[expect(clippy::cast_precision_loss, reason = "chance need not be exact")]
fn draw(bucket: &Bucket, name: u64, slot: u64) -> f64 {
    let chance = ((mix(name ^ mix(slot)) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    -chance.ln() / f64::from(bucket.weight)
}

/// The finaliser of splitmix64.
#[inline]
fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
