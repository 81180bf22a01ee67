use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher},
    sync::Arc,
};

use crate::{
    Tally,
    classify::{Resolution, Rule, RuleId},
    flow::AsIs,
    program::{Action, ProgramId, Programs},
};

/// The place of a [`Way`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WayId(u32);

/// One way through the tables: the rules that packets match on it, and what is done with them.
#[derive(Debug)]
struct Way {
    program: ProgramId,
    rules: Box<[Arc<Rule>]>,
    /// How many flows take it.
    flows: u32,
}

/// The ways that cached flows take.
#[derive(Debug)]
pub(super) struct Ways {
    /// The worker's lane in what rules count.
    worker: usize,
    ways: Vec<Way>,
    free: Vec<WayId>,
    /// By the hashes of what tells them apart. Of two that have one hash, the second is not here,
    /// and no flows share it.
    places: HashMap<u64, WayId, BuildHasherDefault<AsIs>>,
    programs: Programs,
}

/// Room for the programs that no flow takes any more, until they are forgotten.
const SPARE: usize = 1024;

impl Ways {
    /// Room for the ways of so many flows: when a map grows, everybody waits while all of it moves.
    pub(super) fn new(worker: usize, most: usize) -> Self {
        let most = most.saturating_add(SPARE);
        // What is taken out of a map that is half empty hardly ever leaves a mark behind.
        let places =
            HashMap::with_capacity_and_hasher(most.saturating_mul(2), BuildHasherDefault::new());
        let (ways, free) = (Vec::with_capacity(most), Vec::new());
        Self { worker, ways, free, places, programs: Programs::with_capacity(most) }
    }

    /// The way of what the tables said, for one more flow.
    pub(super) fn take(&mut self, found: Resolution) -> WayId {
        let program = self.programs.intern(found.actions);
        let hash = hash(program, &found.rules);
        let known = self.places.get(&hash).copied();
        if let Some(id) = known {
            let way = &mut self.ways[id.0 as usize];
            if way.is(program, &found.rules) {
                self.programs.release(program);
                way.flows += 1;
                return id;
            }
        }
        let place = self.place(Way { program, rules: found.rules.into(), flows: 1 });
        if known.is_none() {
            self.places.insert(hash, place);
        }
        place
    }

    fn place(&mut self, way: Way) -> WayId {
        match self.free.pop() {
            Some(place) => {
                self.ways[place.0 as usize] = way;
                place
            }
            None => {
                self.ways.push(way);
                let place = self.ways.len() - 1;
                WayId(u32::try_from(place).expect("there are no more ways than flows"))
            }
        }
    }

    /// One flow less takes a way.
    pub(super) fn leave(&mut self, id: WayId) {
        let way = &mut self.ways[id.0 as usize];
        way.flows -= 1;
        if way.flows == 0 {
            let hash = hash(way.program, &way.rules);
            if self.places.get(&hash) == Some(&id) {
                self.places.remove(&hash);
            }
            self.programs.release(way.program);
            way.rules = Box::default();
            self.free.push(id);
        }
    }

    /// Counts packets for the rules of a way.
    pub(super) fn count(&self, id: WayId, tally: Tally) {
        for rule in &self.ways[id.0 as usize].rules {
            rule.counted.add(self.worker, tally);
        }
    }

    #[inline]
    pub(super) fn program(&self, id: WayId) -> ProgramId {
        self.ways[id.0 as usize].program
    }

    pub(super) fn rules(&self, id: WayId) -> Vec<RuleId> {
        self.ways[id.0 as usize].rules.iter().map(|rule| rule.id).collect()
    }

    #[inline]
    pub(super) fn actions(&self, program: ProgramId) -> &Arc<[Action]> {
        self.programs.actions(program)
    }

    /// Forgets what no flow takes, when no packet waits for its program any more.
    #[inline]
    pub(super) fn forget_unused(&mut self) {
        self.programs.forget_unused();
    }

    /// How many programs there are.
    pub(super) fn programs(&self) -> usize {
        self.programs.len()
    }
}

impl Way {
    /// Whether it is of a program and these very rules, which it keeps alive.
    fn is(&self, program: ProgramId, rules: &[Arc<Rule>]) -> bool {
        self.program == program
            && self.rules.iter().map(Arc::as_ptr).eq(rules.iter().map(Arc::as_ptr))
    }
}

fn hash(program: ProgramId, rules: &[Arc<Rule>]) -> u64 {
    let mut hasher = DefaultHasher::new();
    program.hash(&mut hasher);
    rules.iter().for_each(|rule| Arc::as_ptr(rule).hash(&mut hasher));
    hasher.finish()
}
