//! The meters, groups and links of a test, as the engine has them and as its slow twin has.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use dataplane::{
    GroupId, Links, MeterId, PortId, SharedTally,
    flow::Seed,
    group::{Bucket, Group, Kind},
    meter::{Algorithm, Meter, Rate, Settings, Treatment, Unit},
    program::Action,
};

use super::{model, walker::Walker};

pub const SEED: Seed = Seed(42);

/// A bucket as the twin has it.
#[derive(Clone)]
pub struct Way {
    pub actions: Vec<Action>,
    pub weight: u16,
    pub watch: Option<PortId>,
}

#[derive(Default)]
pub struct Equipment {
    /// What becomes of all packets of a meter, whatever their number.
    pub treatments: BTreeMap<MeterId, Treatment>,
    pub groups: BTreeMap<GroupId, (Kind, Vec<Way>)>,
    pub up: BTreeSet<PortId>,
}

impl Equipment {
    /// The buckets that a packet takes, if there is such a group.
    pub fn buckets_for(&self, id: GroupId, walker: &Walker) -> Option<Vec<Vec<Action>>> {
        let (kind, ways) = self.groups.get(&id)?;
        let alive = |way: &&Way| way.watch.is_none_or(|port| self.up.contains(&port));
        let found: Vec<&Way> = match kind {
            Kind::All => ways.iter().collect(),
            Kind::FastFailover => ways.iter().find(alive).into_iter().collect(),
            Kind::Select => {
                let key = model::read(walker.in_port, &walker.frame).unwrap().key;
                let own = tried(ways, SEED.flow(&key));
                let any = ways.iter().find(alive);
                own.into_iter().find(alive).or(any).into_iter().collect()
            }
        };
        Some(found.into_iter().map(|way| way.actions.clone()).collect())
    }

    /// The engine's form of a group, with links that are as they are now.
    pub fn group(&self, id: GroupId) -> Arc<Group> {
        let links = Links::default();
        self.up.iter().for_each(|port| links.set(*port, true));
        let (kind, ways) = self.groups[&id].clone();
        let buckets = ways.into_iter().map(|Way { actions, weight, watch }| Bucket {
            actions,
            weight,
            watch,
            counted: SharedTally::new(1),
        });
        Arc::new(Group::new(kind, buckets.collect(), Arc::new(links)))
    }

    /// A meter that treats all packets alike.
    pub fn meter(&self, id: MeterId) -> Arc<Meter> {
        let (nothing, plenty) = (Rate { per_second: 0, burst: 0 }, 1 << 40);
        let settings = Settings {
            algorithm: Algorithm::Excess,
            unit: Unit::Bits,
            committed: nothing,
            second: Rate { burst: if id.0.is_multiple_of(2) { 0 } else { plenty }, ..nothing },
            yellow: self.treatments[&id],
            red: self.treatments[&id],
            ticks: 1,
        };
        Arc::new(Meter::new(settings, 1))
    }
}

/// The buckets that a flow tries: for each try a slot by chance, and for each slot the bucket that
/// draws the least, where what a bucket draws is exponential with its weight.
fn tried(ways: &[Way], flow_hash: u32) -> Vec<&Way> {
    let mut chance = u64::from(flow_hash);
    let mut tried = Vec::new();
    for _ in 0..8 {
        chance = scramble(chance);
        let slot = scramble(chance % 4096);
        let draw = |place: usize| {
            let actions = &ways[place].actions;
            let twins = ways[..place].iter().filter(|way| way.actions == *actions).count();
            let mut hasher = DefaultHasher::new();
            (actions, twins).hash(&mut hasher);
            let uniform = (scramble(hasher.finish() ^ slot) >> 11) as f64 + 0.5;
            -(uniform / 9_007_199_254_740_992.0).ln() / f64::from(ways[place].weight)
        };
        let winner = (0..ways.len()).min_by(|a, b| draw(*a).total_cmp(&draw(*b)));
        tried.extend(winner.map(|place| &ways[place]));
    }
    tried
}

/// One throw of splitmix64.
fn scramble(seed: u64) -> u64 {
    super::dice::Dice(seed).throw()
}
