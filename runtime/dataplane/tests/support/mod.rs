//! A worker over vectors of bytes.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(unreachable_pub, missing_docs, reason = "a module of tests")]

mod covered;
pub mod dice;
pub mod equipment;
pub mod frames;
pub mod interpreter;
pub mod model;
pub mod universe;
mod walker;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex},
};

use dataplane::{
    DropReason, Packet, PortId, ReasonId, Receive, Received, SharedTally, TableId, Tally, Transmit,
    classify::{Classification, Pattern, Rule, RuleId, Tables, Touched},
    flow::FlowKey,
    packet::Buffer,
    program::Action,
    stage::Stage,
    worker::{
        CachedFlow, Change, FlowPage, PortCounters, Queues, Remote, Report, Request, Settings,
        Worker, mailbox,
    },
};
use proptest::prelude::ProptestConfig;

type Wire = Arc<Mutex<VecDeque<Buffer>>>;

/// Both ends of a wire: what is pushed is received, what is sent can be popped.
#[derive(Clone, Default)]
pub struct End {
    pub wire: Wire,
    /// How many packets a call takes at most.
    pub room: Arc<Mutex<Option<usize>>>,
    /// What did not fit a buffer and was not told of yet.
    pub oversize: Arc<Mutex<Received>>,
}

impl Receive<Buffer> for End {
    fn receive(&mut self, burst: &mut Vec<Buffer>) -> Received {
        let mut wire = self.wire.lock().unwrap();
        while burst.len() < burst.capacity()
            && let Some(packet) = wire.pop_front()
        {
            burst.push(packet);
        }
        std::mem::take(&mut *self.oversize.lock().unwrap())
    }
}

impl Transmit<Buffer> for End {
    fn transmit(&mut self, packets: &mut Vec<Buffer>) -> usize {
        let room = self.room.lock().unwrap().unwrap_or(usize::MAX);
        let sent = packets.len().min(room);
        self.wire.lock().unwrap().extend(packets.drain(..sent));
        sent
    }
}

pub struct Rig {
    worker: Worker<Buffer, End, End>,
    remote: Remote<Buffer, End, End>,
    rx: BTreeMap<PortId, End>,
    tx: BTreeMap<PortId, End>,
    pub now: u64,
    revision: u64,
    tables: Arc<Tables>,
    rules: Vec<(TableId, Arc<Rule>)>,
}

/// A worker that remembers few flows, and for long.
pub fn settings() -> Settings {
    Settings {
        worker: 0,
        seed: equipment::SEED,
        exact_entries: 64,
        flow_limit: 200,
        idle: u64::MAX,
        hard: 0,
    }
}

impl Rig {
    pub fn new(ports: u16) -> Self {
        Self::with(settings(), ports)
    }

    pub fn with(settings: Settings, ports: u16) -> Self {
        let (remote, mailbox) = mailbox();
        let worker = Worker::new(settings, mailbox);
        let (rx, tx, tables, rules) = Default::default();
        let mut rig = Self { worker, remote, rx, tx, now: 0, revision: 0, tables, rules };
        for id in (0..ports).map(PortId) {
            rig.rx.insert(id, End::default());
            rig.tx.insert(id, End::default());
            rig.change(Change::Port(id, Some(rig.queues(id))));
        }
        rig
    }

    /// The queues of a port.
    pub fn queues(&self, port: PortId) -> Queues<End, End> {
        Queues { rx: Some(self.rx[&port].clone()), tx: self.tx[&port].clone() }
    }

    pub fn change(&mut self, change: Change<Buffer, End, End>) -> Change<Buffer, End, End> {
        self.revision += 1;
        let request = Request::Configure { revision: self.revision, changes: vec![change] };
        let Request::Configure { mut changes, .. } = self.ask(request) else { unreachable!() };
        changes.pop().unwrap()
    }

    pub fn ask(&mut self, request: Request<Buffer, End, End>) -> Request<Buffer, End, End> {
        self.remote.ask(Box::new(request)).ok().unwrap();
        loop {
            self.poll();
            if let Some(answer) = self.remote.answer() {
                return *answer;
            }
        }
    }

    /// Has the worker run these rules and no others. What is among them already stays, and counts
    /// on.
    pub fn rules(&mut self, rules: Vec<(TableId, Rule)>) {
        let mut tables = Tables::clone(&self.tables);
        let mut touched = Vec::new();
        let mut old = std::mem::take(&mut self.rules);
        for (table, mut rule) in rules {
            let known = old.iter().position(|(_, it)| it.id == rule.id);
            let known = known.map(|place| old.swap_remove(place));
            if let Some((of, it)) = &known {
                rule.counted = Arc::clone(&it.counted);
                if (*of, it.priority, &it.patterns, &it.actions)
                    == (table, rule.priority, &rule.patterns, &rule.actions)
                {
                    self.rules.extend(known);
                    continue;
                }
                tables.remove(*of, it);
                touched.extend(it.patterns.clone());
            }
            let rule = Arc::new(rule);
            tables.insert(table, &rule);
            touched.extend(rule.patterns.clone());
            self.rules.push((table, rule));
        }
        for (table, rule) in old {
            tables.remove(table, &rule);
            touched.extend(rule.patterns.clone());
        }
        self.tables = Arc::new(tables);
        self.change(Change::Rules(Arc::clone(&self.tables), Arc::new(Touched::by(&touched))));
    }

    /// Has a classifier, or none, be asked before the rules of a table.
    pub fn classify(&mut self, table: TableId, classification: Option<Classification>) {
        let mut tables = Tables::clone(&self.tables);
        tables.set_classification(table, classification);
        self.tables = Arc::new(tables);
        self.change(Change::Rules(Arc::clone(&self.tables), Arc::new(Touched::All)));
    }

    /// The flows that are cached.
    pub fn flows(&mut self) -> Vec<CachedFlow> {
        let (mut flows, mut next) = (Vec::new(), Some(0));
        while let Some(from) = next {
            let page = FlowPage { from, most: 50, ..FlowPage::default() };
            let Request::Flows(page) = self.ask(Request::Flows(page)) else { unreachable!() };
            next = page.next;
            flows.extend(page.flows);
        }
        flows
    }

    pub fn stage(&mut self, id: u16, stage: impl Stage<Buffer> + 'static) {
        self.change(Change::Stage(dataplane::StageId(id), Some(Box::new(stage))));
    }

    pub fn poll(&mut self) -> bool {
        self.now += 100;
        self.worker.iterate(self.now)
    }

    pub fn push(&mut self, port: PortId, frames: &[Vec<u8>]) {
        let packets = frames.iter().map(|frame| Buffer::new(frame));
        self.rx[&port].wire.lock().unwrap().extend(packets);
    }

    /// Has packets come that do not fit a buffer.
    pub fn push_oversize(&mut self, port: PortId, oversize: Received) {
        *self.rx[&port].oversize.lock().unwrap() = oversize;
    }

    /// How many packets wait to be received.
    pub fn waiting(&self, port: PortId) -> usize {
        self.rx[&port].wire.lock().unwrap().len()
    }

    pub fn limit(&mut self, port: PortId, room: usize) {
        *self.tx[&port].room.lock().unwrap() = Some(room);
    }

    /// What has left by a port.
    pub fn sent(&mut self, port: PortId) -> Vec<Vec<u8>> {
        let packets: Vec<Buffer> = self.tx[&port].wire.lock().unwrap().drain(..).collect();
        packets.iter().map(|packet| packet.bytes().to_vec()).collect()
    }

    pub fn report(&mut self) -> Report {
        match self.ask(Request::Report(Report::default())) {
            Request::Report(report) => report,
            _ => unreachable!(),
        }
    }

    /// What each rule has counted that matched something, once the worker was idle for a while.
    pub fn tallies(&mut self) -> BTreeMap<RuleId, Tally> {
        (0..16).for_each(|_| assert!(self.poll()));
        let tallies = self.rules.iter().map(|(_, rule)| (rule.id, rule.counted.total()));
        tallies.filter(|(_, tally)| tally.packets > 0).collect()
    }

    /// The counters of a port, which must add up.
    pub fn counters(&mut self, port: PortId) -> PortCounters {
        let report = self.report();
        for (id, it) in &report.ports {
            let fates = it.forwarded + it.dropped() + it.in_flight;
            assert_eq!(it.rx.packets + it.copied, fates, "port {id:?} does not add up");
        }
        report.ports.into_iter().find(|(id, _)| *id == port).unwrap().1
    }

    /// The drops of a port that are not zero.
    pub fn drops(&mut self, port: PortId) -> BTreeMap<u16, u64> {
        let counters = self.counters(port);
        (0..).zip(counters.drops.iter().copied()).filter(|(_, count)| *count > 0).collect()
    }
}

/// A property is tried on as many cases as `WEFT_TWIN_CASES` says, else on `ordinary`.
pub fn tries(ordinary: u32) -> ProptestConfig {
    let cases = match std::env::var("WEFT_TWIN_CASES") {
        Ok(cases) => cases.parse().expect("WEFT_TWIN_CASES is a number"),
        Err(_) => ordinary,
    };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

pub fn reason(reason: DropReason) -> u16 {
    ReasonId::from(reason).0
}

pub fn rule(id: u64, priority: u16, pattern: Pattern, actions: &[Action]) -> (TableId, Rule) {
    (TableId(0), new_rule(id, priority, vec![pattern], actions.to_vec()))
}

pub fn new_rule(id: u64, priority: u16, patterns: Vec<Pattern>, actions: Vec<Action>) -> Rule {
    let counted = Arc::new(SharedTally::new(1));
    Rule { id: RuleId(id), priority, patterns, actions, counted }
}

pub fn any() -> Pattern {
    Pattern::default()
}

pub fn from_port(port: u16) -> Pattern {
    let value = FlowKey { in_port: port, ..FlowKey::default() };
    Pattern::new(&value, &FlowKey { in_port: u16::MAX, ..FlowKey::default() })
}

/// A UDP packet.
pub fn udp(source: [u8; 4], destination: [u8; 4], ports: (u16, u16), ttl: u8) -> Vec<u8> {
    let builder = etherparse::PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
        .ipv4(source, destination, ttl)
        .udp(ports.0, ports.1);
    let mut frame = Vec::new();
    builder.write(&mut frame, b"payload").unwrap();
    frame
}
