//! What a packet costs in the engine: a worker over a ring of packets in ordinary memory.
//!
//! `cargo bench -p dataplane -- <words>` measures only what has these words in its name.
#![allow(clippy::unwrap_used, reason = "what fails here fails the measurement")]
#![allow(clippy::print_stdout, reason = "the figures go to whoever asked for them")]

use std::{
    hint::black_box,
    sync::{Arc, Mutex},
    time::Instant,
};

use dataplane::{
    PortId, Receive, Received, SharedTally, StageId, TableId, Transmit,
    classify::{Pattern, Rule, RuleId, Tables, Touched},
    flow::{FlowKey, Seed},
    packet::Buffer,
    program::{Action, SetField, Tag},
    stage::{Batch, Stage, Verdict},
    worker::{BURST, Change, Queues, Report, Request, Settings, Worker, mailbox},
};

const IN: PortId = PortId(0);
const OUT: PortId = PortId(1);
const RUNS: usize = 15;
const PACKETS: usize = 200_000;

/// Packets go out at one end and come in again at the other, in order.
#[derive(Clone)]
struct Ring(Arc<Mutex<Circle>>);

struct Circle {
    packets: Vec<Option<Buffer>>,
    /// The place of the next packet to receive; the ones sent are put back into those places.
    next: usize,
    empty: usize,
}

impl Ring {
    fn new(frames: &[Vec<u8>]) -> Self {
        let packets = frames.iter().map(|frame| Some(Buffer::new(frame))).collect();
        Self(Arc::new(Mutex::new(Circle { packets, next: 0, empty: 0 })))
    }
}

impl Receive<Buffer> for Ring {
    fn receive(&mut self, burst: &mut Vec<Buffer>) -> Received {
        let circle = &mut *self.0.lock().unwrap();
        for _ in 0..BURST {
            burst.push(circle.packets[circle.next].take().unwrap());
            circle.next = (circle.next + 1) % circle.packets.len();
        }
        Received::default()
    }
}

impl Transmit<Buffer> for Ring {
    fn transmit(&mut self, packets: &mut Vec<Buffer>) -> usize {
        let circle = &mut *self.0.lock().unwrap();
        let sent = packets.len();
        for packet in packets.drain(..) {
            circle.packets[circle.empty] = Some(packet);
            circle.empty = (circle.empty + 1) % circle.packets.len();
        }
        sent
    }
}

/// Lets everything pass.
struct Pass;

impl Stage<Buffer> for Pass {
    fn run(&mut self, batch: &mut Batch<'_, Buffer>) {
        for index in 0..batch.len() {
            batch.get_mut(index).1.verdict = Verdict::Next;
        }
    }
}

/// A UDP packet of 64 bytes on the wire, of one of 65,536 flows.
fn frame(flow: u16) -> Vec<u8> {
    let builder = etherparse::PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
        .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .udp(1024, flow);
    let mut frame = Vec::new();
    builder.write(&mut frame, &[0; 18]).unwrap();
    frame
}

/// Few packets, so that they stay in the processor's caches.
fn frames(flows: u16) -> Vec<Vec<u8>> {
    (0..flows).cycle().take(usize::from(flows).max(2 * BURST)).map(frame).collect()
}

fn rule(number: u16, pattern: Pattern, actions: &[Action]) -> (TableId, Rule) {
    let id = RuleId(number.into());
    let counted = Arc::new(SharedTally::new(1));
    let patterns = vec![pattern];
    (TableId(0), Rule { id, priority: 1, patterns, actions: actions.to_vec(), counted })
}

fn settings() -> Settings {
    Settings {
        worker: 0,
        seed: Seed(0x5eed),
        exact_entries: 1 << 16,
        flow_limit: 200_000,
        idle: u64::MAX,
        hard: 0,
    }
}

fn every_packet(actions: &[Action]) -> Vec<(TableId, Rule)> {
    let value = FlowKey { in_port: IN.0, ..FlowKey::default() };
    let mask = FlowKey { in_port: u16::MAX, ..FlowKey::default() };
    vec![rule(0, Pattern::new(&value, &mask), actions)]
}

/// A rule for each flow, which all do the same.
fn each_flow(flows: u16, actions: &[Action]) -> Vec<(TableId, Rule)> {
    let mask = FlowKey { protocol: u8::MAX, l4_dst: u16::MAX, ..FlowKey::default() };
    let value = |flow| FlowKey { protocol: 17, l4_dst: flow, ..FlowKey::default() };
    (0..flows).map(|flow| rule(flow, Pattern::new(&value(flow), &mask), actions)).collect()
}

/// A thousand rules of thirty masks, of which one looks at what differs from packet to packet.
fn thirty_masks(actions: &[Action]) -> Vec<(TableId, Rule)> {
    let address = |length: u16| (u32::MAX << (32 - length)).to_be_bytes();
    let mask = |number: u16| FlowKey {
        protocol: u8::MAX,
        ipv4_src: address(22 + number % 10),
        l4_src: [0, 0xfff0, u16::MAX][usize::from(number / 10)],
        ..FlowKey::NONE
    };
    let pattern = |number: u16| {
        let [high, low] = number.to_be_bytes();
        let ipv4_src = [10, 1 + high, low, 0];
        let value = FlowKey { protocol: 17, ipv4_src, l4_src: number, ..FlowKey::NONE };
        Pattern::new(&value, &mask(number % 30))
    };
    let mut rules: Vec<_> =
        (0..1000).map(|number| rule(number, pattern(number), actions)).collect();
    rules.push(rule(1000, Pattern::default(), actions));
    rules[1000].1.priority = 0;
    rules
}

/// Packets that are all of other flows.
fn new_flows(count: u32) -> Vec<Vec<u8>> {
    let frame = |flow: u32| {
        let [_, top, high, low] = flow.to_be_bytes();
        let builder = etherparse::PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
            .ipv4([10, high % 8, low, top], [10, 0, 0, 2], 64)
            .udp(u16::from_be_bytes([high, low]), 9);
        let mut frame = Vec::new();
        builder.write(&mut frame, &[0; 18]).unwrap();
        frame
    };
    (0..count).map(frame).collect()
}

/// Flows spread over programs that differ.
fn many_programs(flows: u16, programs: u16) -> Vec<(TableId, Rule)> {
    let spread = |(table, mut rule): (TableId, Rule)| {
        let number = u16::try_from(rule.id.0).unwrap() % programs;
        rule.actions = vec![Action::Set(SetField::L4Src(number)), Action::Output(OUT)];
        (table, rule)
    };
    each_flow(flows, &[]).into_iter().map(spread).collect()
}

/// Whether what has this name is to be measured.
fn is_wanted(name: &str) -> bool {
    std::env::args().skip(1).all(|argument| argument.starts_with('-') || name.contains(&argument))
}

/// Nanoseconds a packet: the median of many runs, and the least.
fn measure(name: &str, flows: u16, rules: Vec<(TableId, Rule)>) {
    measure_with(settings(), name, &frames(flows), rules);
}

fn measure_with(settings: Settings, name: &str, frames: &[Vec<u8>], rules: Vec<(TableId, Rule)>) {
    if !is_wanted(name) {
        return;
    }
    let (remote, mailbox) = mailbox();
    let ring = Ring::new(frames);
    let mut worker = Worker::new(settings, mailbox);
    let changes = vec![
        Change::Port(IN, Some(Queues { rx: Some(ring.clone()), tx: ring.clone() })),
        Change::Port(OUT, Some(Queues { rx: None, tx: ring })),
        Change::Stage(StageId(0), Some(Box::new(Pass))),
        Change::Rules(Arc::new(Tables::new(rules)), Arc::new(Touched::All)),
    ];
    remote.ask(Box::new(Request::Configure { revision: 1, changes })).ok().unwrap();

    let rounds = PACKETS / BURST;
    let mut run = || {
        let start = Instant::now();
        for now in 0..rounds as u64 {
            worker.iterate(black_box(now));
        }
        start.elapsed().as_nanos() as f64 / PACKETS as f64
    };
    run();
    let mut figures: Vec<f64> = (0..RUNS).map(|_| run()).collect();
    figures.sort_by(f64::total_cmp);
    println!("{name:34} {:6.1} ns/packet (least {:.1})", figures[RUNS / 2], figures[0]);
}

/// Microseconds that a worker stands still for a change of rules, and for a report, when it knows
/// as many flows as there are rules.
fn stall(rules: u16) {
    let (remote, mailbox) = mailbox();
    let ring = Ring::new(&frames(rules));
    let mut worker = Worker::new(settings(), mailbox);
    let queues = Queues { rx: Some(ring.clone()), tx: ring };
    let mut ask = |request, rounds| {
        remote.ask(Box::new(request)).ok().unwrap();
        let start = Instant::now();
        worker.iterate(0);
        let spent = start.elapsed().as_nanos() as f64 / 1000.0;
        (0..rounds).for_each(|now| assert!(worker.iterate(now)));
        while remote.answer().is_none() {
            worker.iterate(0);
        }
        spent
    };
    let configure = |change| Request::Configure { revision: 1, changes: vec![change] };
    let tables = || {
        let tables = Tables::new(each_flow(rules, &[Action::Output(IN)]));
        Change::Rules(Arc::new(tables), Arc::new(Touched::All))
    };
    ask(configure(Change::Port(IN, Some(queues))), 0);
    let (mut changes, mut reports) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        changes.push(ask(configure(tables()), u64::from(rules) / 16));
        reports.push(ask(Request::Report(Report::default()), 0));
    }
    for (name, mut figures) in [("change", changes), ("report", reports)] {
        figures.sort_by(f64::total_cmp);
        println!("{name} of {rules} rules{:20} {:6.0} us", "", figures[RUNS / 2]);
    }
}

fn main() {
    if is_wanted("change and report") {
        stall(100);
        stall(5000);
    }
    let forward = [Action::Output(OUT)];
    let rewrite = [
        Action::Set(SetField::EthSrc([2, 0, 0, 0, 0, 9])),
        Action::Set(SetField::EthDst([2, 0, 0, 0, 0, 8])),
        Action::Set(SetField::L4Src(7)),
        Action::Output(OUT),
    ];
    let tag = Tag { tpid: 0x8100, tci: 5 };
    let there_and_back = [Action::PushVlan(tag), Action::PopVlan, Action::Output(OUT)];
    measure("1 rule, 1 flow", 1, every_packet(&forward));
    measure("1 rule, 1000 flows", 1000, every_packet(&forward));
    measure("1000 rules, 1000 flows, 1 program", 1000, each_flow(1000, &forward));
    measure("1000 rules, 1000 flows, 8 programs", 1000, many_programs(1000, 8));
    measure("1000 rules, 1000 flows, all apart", 1000, many_programs(1000, 1000));
    let forgetful = Settings { exact_entries: 8, flow_limit: 64, ..settings() };
    for (name, settings, flows) in [
        ("new flows, a small cache", forgetful, 8192),
        ("new flows, a large cache", settings(), 500_000),
    ] {
        measure_with(settings, name, &new_flows(flows), thirty_masks(&forward));
    }
    measure("3 fields set", 1000, every_packet(&rewrite));
    measure("a tag on and off", 1000, every_packet(&there_and_back));
    measure("a stage", 1000, every_packet(&[Action::Stage(StageId(0)), Action::Output(OUT)]));
}
