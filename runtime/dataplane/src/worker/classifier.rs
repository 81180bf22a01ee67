use std::{mem, sync::Arc};

use super::{
    FlowPage, Report, Settings,
    flows::{FlowId, Flows},
    sweep::Sweep,
    ways::Ways,
};
use crate::{
    StageId, TableId, Tally,
    classify::{Tables, Touched},
    flow::{FlowKey, Mask, Seed},
    packet::Parsed,
    program::{Action, ProgramId},
    stage::Answer,
};

/// Finds what is to be done with packets: by the flows that were there lately, else by the tables.
#[derive(Debug)]
pub(super) struct Classifier {
    tables: Arc<Tables>,
    /// The bits that any rule looks at, and the table that a lookup begins in.
    relevant: Mask,
    flows: Flows,
    ways: Ways,
    settings: Settings,
    sweep: Sweep,
    /// The flows of this round that rest on what was said in place of a classifier that failed.
    makeshift: Vec<FlowId>,
    lookups: Lookups,
    now: u64,
}

/// Has a stage say what the packet at a place of the burst is, whose key this is.
pub(super) type AskOf<'a> = dyn FnMut(usize, StageId, &FlowKey) -> Answer + 'a;

/// The same, for the packet that is looked up.
type AskOne<'a> = dyn FnMut(StageId, &FlowKey) -> Answer + 'a;

/// How many flows are settled between two bursts, and when there are none.
const SETTLED_BUSY: usize = 1;
const SETTLED_IDLE: usize = 32;

/// How many flows are looked up in the tables again between two bursts, and when packets wait. That
/// takes microseconds for each, and as long as it takes, packets pile up.
const ASKED: usize = 4;
const ASKED_FULL: usize = 1;

/// How much the last round of polling found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Load {
    Nothing,
    Some,
    /// As much as a burst has, so that there may be more.
    Full,
}

/// How packets were found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lookups {
    /// By all bits that matter.
    pub exact_hits: u64,
    /// Under the mask of a flow.
    pub wildcard_hits: u64,
    /// In the tables.
    pub misses: u64,
}

impl Classifier {
    pub(super) fn new(settings: Settings) -> Self {
        let tables = Arc::<Tables>::default();
        Self {
            relevant: relevant(&tables),
            tables,
            flows: Flows::new(settings.exact_entries, settings.flow_limit, settings.seed),
            ways: Ways::new(settings.worker, settings.flow_limit),
            settings,
            sweep: Sweep::default(),
            makeshift: Vec::new(),
            lookups: Lookups::default(),
            now: 0,
        }
    }

    /// Whether packets that came by one port have one fate, whatever is in them.
    #[inline]
    pub(super) fn sees_ports_alone(&self) -> bool {
        let port = FlowKey { in_port: u16::MAX, ..FlowKey::NONE };
        !self.sweep.revises() && port.covers(self.tables.relevant())
    }

    /// What is to be done with packets from a table on, of which nothing but the key of one of them
    /// matters, which stands at `place`. Counts them.
    #[inline]
    pub(super) fn classify(
        &mut self,
        table: TableId,
        key: &FlowKey,
        tally: Tally,
        place: usize,
        ask: &mut AskOf<'_>,
    ) -> ProgramId {
        let key = FlowKey { table: table.0.into(), ..*key };
        self.search(self.hash(&key), &key, tally, &mut |stage, key| ask(place, stage, key))
    }

    /// The stage that is to say what each packet is before it is looked up in a table.
    #[inline]
    pub(super) fn asked_of_each(&self, table: TableId) -> Option<StageId> {
        let classification = self.tables.classification(table).filter(|it| it.payload)?;
        Some(classification.stage)
    }

    /// A key's hash by the bits that matter.
    #[inline]
    pub(super) fn hash(&self, key: &FlowKey) -> u64 {
        self.relevant.hash(self.settings.seed, key)
    }

    /// What is to be done with each packet of a burst, whose keys have these hashes, from the first
    /// table on; counts them. Those that a bit of `alive` is not set for have no key.
    #[inline]
    pub(super) fn classify_burst(
        &mut self,
        parsed: &[Parsed],
        hashes: &[u64],
        lengths: &[u32],
        alive: u32,
        programs: &mut [Option<ProgramId>],
        ask: &mut AskOf<'_>,
    ) {
        let found = self.flows.find_exact_burst(hashes, parsed);
        let mut missing = 0_u32;
        for (place, program) in programs.iter_mut().enumerate() {
            let tally = Tally { packets: 1, bytes: lengths[place].into() };
            *program = found[place].map(|flow| self.flows.count(flow, tally, self.now));
            missing |= u32::from(program.is_none()) << place;
        }
        self.lookups.exact_hits += programs.len() as u64 - u64::from(missing.count_ones());
        missing &= alive;
        while missing != 0 {
            let place = missing.trailing_zeros() as usize;
            missing &= missing - 1;
            let tally = Tally { packets: 1, bytes: lengths[place].into() };
            // One before it may have brought its flow.
            let ask: &mut AskOne<'_> = &mut |stage, key| ask(place, stage, key);
            programs[place] = Some(self.search(hashes[place], &parsed[place].key, tally, ask));
        }
    }

    #[inline]
    fn count(&mut self, flow: FlowId, tally: Tally) -> ProgramId {
        self.flows.count(flow, tally, self.now)
    }

    #[inline]
    fn search(
        &mut self,
        hash: u64,
        key: &FlowKey,
        tally: Tally,
        ask: &mut AskOne<'_>,
    ) -> ProgramId {
        let flow = match self.flows.find_exact(hash, key) {
            Some(flow) => {
                self.lookups.exact_hits += tally.packets;
                flow
            }
            None => self.search_on(hash, key, tally.packets, ask),
        };
        self.count(flow, tally)
    }

    /// The slower ways. The last one allocates, when it meets a flow that is not cached.
    #[cold]
    fn search_on(
        &mut self,
        hash: u64,
        key: &FlowKey,
        packets: u64,
        ask: &mut AskOne<'_>,
    ) -> FlowId {
        // The packets that came with the first would have been found, had they been looked up.
        self.lookups.exact_hits += packets - 1;
        if let Some(flow) = self.flows.find_wildcard(hash, key) {
            self.lookups.wildcard_hits += 1;
            return flow;
        }
        self.lookups.misses += 1;
        self.resolve(hash, key, ask)
    }

    fn resolve(&mut self, hash: u64, key: &FlowKey, ask: &mut AskOne<'_>) -> FlowId {
        let found = self.tables.resolve(start(key), key, &mut |stage, key| Some(ask(stage, key)));
        let found = found.expect("every question has an answer");
        let makeshift = found.makeshift;
        let flow = self.flows.install(hash, key, &self.relevant, found, &mut self.ways, self.now);
        if makeshift {
            self.makeshift.push(flow);
        }
        flow
    }

    fn forget_makeshift(&mut self) {
        while let Some(flow) = self.makeshift.pop() {
            // It may have made room for another.
            self.flows.drop_if_there(flow, &mut self.ways);
        }
    }

    /// How many lookups there have been that took more than a look at one index.
    #[inline]
    pub(super) fn slow_lookups(&self) -> u64 {
        self.lookups.wildcard_hits + self.lookups.misses
    }

    #[inline]
    pub(super) fn actions(&self, program: ProgramId) -> &Arc<[Action]> {
        self.ways.actions(program)
    }

    pub(super) fn has(&self, table: TableId) -> bool {
        self.tables.has(table)
    }

    pub(super) fn seed(&self) -> Seed {
        self.settings.seed
    }

    /// Takes up other tables, and leaves the old ones. Flows that a change is about say what they
    /// said until [`tend`](Self::tend) has come to them.
    pub(super) fn replace(&mut self, tables: &mut Arc<Tables>, touched: &Arc<Touched>) {
        // Where a `Goto` leads hangs on which tables there are, and not on the packet.
        let same = self.tables.has_those_of(tables);
        let known = same || matches!(**touched, Touched::Forgotten);
        mem::swap(&mut self.tables, tables);
        self.relevant = relevant(&self.tables);
        if self.flows.places() > 0 {
            self.sweep.revise(if known { Arc::clone(touched) } else { Arc::new(Touched::All) });
        }
    }

    /// Whether a change of rules is not done yet.
    pub(super) fn is_revising(&self) -> bool {
        self.sweep.revises()
    }

    /// Counts for the rules what some flows have counted; these lag behind as long as packets keep
    /// coming. Then looks at some flows: whether they still say what the tables say, and whether
    /// their time is over. Returns whether no flow is left that may say what old tables said.
    #[inline]
    pub(super) fn tend(&mut self, now: u64, load: Load) -> bool {
        self.now = now;
        self.forget_makeshift();
        self.ways.forget_unused();
        let settled = if load == Load::Nothing { SETTLED_IDLE } else { SETTLED_BUSY };
        self.flows.settle(settled, &self.ways);
        let Some(places) = self.sweep.next(now, self.settings.idle / 4, self.flows.places()) else {
            return true;
        };
        let mut left = if load == Load::Full { ASKED_FULL } else { ASKED };
        for place in places {
            left -= usize::from(self.look_after(place));
            if left == 0 {
                self.sweep.pause(place + 1);
                break;
            }
        }
        !self.sweep.revises()
    }

    /// Looks after the flow at a place. Returns whether it was looked up in the tables.
    fn look_after(&mut self, place: usize) -> bool {
        let Some((flow, key, mask)) = self.flows.at(place) else { return false };
        if self.flows.is_over(flow, self.now, self.settings.idle, self.settings.hard) {
            self.flows.counters.expired += 1;
            self.flows.remove(flow, &mut self.ways);
            return false;
        }
        if !self.sweep.is_about(key, mask) {
            return false;
        }
        if self.sweep.forgets() {
            self.flows.counters.revised += 1;
            self.flows.remove(flow, &mut self.ways);
            return false;
        }
        self.revise(place);
        true
    }

    /// Has a flow say what the tables say, or forgets it.
    fn revise(&mut self, place: usize) {
        let Some((flow, key, mask)) = self.flows.at(place) else { return };
        // What hangs on bits that the flow does not have is not known of its packets, nor what a
        // classifier would say of them.
        let found = self.tables.resolve(start(key), key, &mut |_, _| None);
        if let Some(found) = found.filter(|found| mask.covers(&found.seen)) {
            let turned = self.flows.turn(flow, found, &mut self.ways);
            self.flows.counters.revised += u64::from(turned);
        } else {
            self.flows.counters.revised += 1;
            self.flows.remove(flow, &mut self.ways);
        }
    }

    pub(super) fn report(&self, report: &mut Report) {
        report.worker.programs = self.ways.programs() as u64;
        report.worker.lookups = self.lookups;
        report.worker.flows = self.flows.counters();
    }

    /// Tells a page of flows.
    pub(super) fn tell(&self, page: &mut FlowPage) {
        page.flows.clear();
        let end = self.flows.places().min(page.from.saturating_add(page.most));
        page.flows.extend((page.from..end).filter_map(|at| self.flows.tell(at, &self.ways)));
        page.next = (end < self.flows.places()).then_some(end);
    }
}

/// The bits that a lookup looks at, at most.
fn relevant(tables: &Tables) -> Mask {
    Mask::new(&FlowKey { table: u16::MAX, ..*tables.relevant() })
}

/// The table that a lookup begins in.
fn start(key: &FlowKey) -> TableId {
    TableId(u8::try_from(key.table).expect("there are no more tables"))
}
