//! A worker over vectors of bytes.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(unreachable_pub, missing_docs, reason = "a module of tests")]

pub mod dice;
pub mod frames;
pub mod interpreter;
pub mod model;
pub mod universe;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex},
};

use dataplane::{
    DropReason, Packet, PortId, ReasonId, Receive, Received, TableId, Transmit,
    classify::{Pattern, Rule, RuleId, Tables},
    flow::{FlowKey, Seed},
    packet::Buffer,
    program::Action,
    stage::Stage,
    worker::{
        Change, PortCounters, Queues, Remote, Report, Request, Settings, Tally, Worker, mailbox,
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
}

impl Receive<Buffer> for End {
    fn receive(&mut self, burst: &mut Vec<Buffer>) -> Received {
        let mut wire = self.wire.lock().unwrap();
        while burst.len() < burst.capacity()
            && let Some(packet) = wire.pop_front()
        {
            burst.push(packet);
        }
        Received::default()
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
    now: u64,
    revision: u64,
}

impl Rig {
    pub fn new(ports: u16) -> Self {
        let (remote, mailbox) = mailbox();
        let settings = Settings { cache_entries: 256, seed: Seed(42) };
        let worker = Worker::new(settings, mailbox);
        let (rx, tx) = Default::default();
        let mut rig = Self { worker, remote, rx, tx, now: 0, revision: 0 };
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
        self.poll();
        *self.remote.answer().unwrap()
    }

    pub fn rules(&mut self, rules: Vec<(TableId, Rule)>) {
        self.change(Change::Tables(Arc::new(Tables::new(rules))));
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

    /// What each rule has counted.
    pub fn tallies(&mut self) -> BTreeMap<RuleId, Tally> {
        let mut tallies: BTreeMap<RuleId, Tally> = BTreeMap::new();
        for (rule, tally) in self.report().rules {
            tallies.entry(rule).or_default().merge(tally);
        }
        tallies
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
    (TableId(0), Rule { id: RuleId(id), priority, pattern, actions: actions.to_vec() })
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
