use std::{collections::HashMap, sync::Arc};

use crate::{
    Tally,
    classify::{Resolution, Rule, RuleId},
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
    places: HashMap<Identity, WayId>,
    programs: Programs,
}

/// What tells ways apart: the program, and the addresses of the rules, which a way keeps alive.
type Identity = (ProgramId, Box<[usize]>);

impl Ways {
    pub(super) fn new(worker: usize) -> Self {
        let (ways, free, places, programs) = Default::default();
        Self { worker, ways, free, places, programs }
    }

    /// The way of what the tables said, for one more flow.
    pub(super) fn take(&mut self, found: Resolution) -> WayId {
        let program = self.programs.intern(found.actions);
        let identity = identity(program, &found.rules);
        if let Some(&known) = self.places.get(&identity) {
            self.programs.release(program);
            self.ways[known.0 as usize].flows += 1;
            return known;
        }
        let way = Way { program, rules: found.rules.into(), flows: 1 };
        let place = match self.free.pop() {
            Some(place) => {
                self.ways[place.0 as usize] = way;
                place
            }
            None => {
                self.ways.push(way);
                let place = self.ways.len() - 1;
                WayId(u32::try_from(place).expect("there are no more ways than flows"))
            }
        };
        self.places.insert(identity, place);
        place
    }

    /// One flow less takes a way.
    pub(super) fn leave(&mut self, id: WayId) {
        let way = &mut self.ways[id.0 as usize];
        way.flows -= 1;
        if way.flows == 0 {
            self.places.remove(&identity(way.program, &way.rules));
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

fn identity(program: ProgramId, rules: &[Arc<Rule>]) -> Identity {
    (program, rules.iter().map(|rule| Arc::as_ptr(rule).addr()).collect())
}
