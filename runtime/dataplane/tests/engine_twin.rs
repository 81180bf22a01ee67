//! The engine against an interpreter that takes one packet after another and remembers nothing.
//!
//! `WEFT_TWIN_CASES` says how many courses of events are tried.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use dataplane::{
    DropReason, Packet, PortId, ReasonId, StageId, TableId,
    classify::{Classification, Rule},
    flow::FlowKey,
    packet::Buffer,
    stage::{Answer, Batch, Questions, Stage, Verdict},
    worker::{BURST, Change, PortCounters, Settings},
};
use proptest::{collection::vec, prelude::*};
use support::{
    Rig,
    dice::Dice,
    interpreter::{Counted, Interpreter, Judge},
    model,
    universe::{self, PORTS},
};

/// Something that happens.
#[derive(Debug, Clone)]
enum Event {
    /// The rules are other ones: for each its id, and which of some variants it is.
    Rules(Vec<(u8, u8)>),
    /// A stage is another one, or none.
    Stage(u8, Option<u8>),
    /// A table's packets are classified by another stage, or by none: by its salt, and whether it
    /// sees their bytes.
    Classifier(u8, Option<(u8, bool)>),
    /// A port goes, or comes back.
    Port(u8),
    /// One rule comes, or goes if there is one of its number.
    Rule((u8, u8)),
    /// Packets arrive: for each the port, and the number of its frame.
    Packets(Vec<(u8, u16)>),
}

fn event() -> impl Strategy<Value = Event> {
    let port = 0..u8::try_from(PORTS).unwrap();
    prop_oneof![
        3 => vec((0_u8..30, 0_u8..4), 0..24).prop_map(Event::Rules),
        3 => (0_u8..30, 0_u8..4).prop_map(Event::Rule),
        1 => (0_u8..3, proptest::option::weighted(0.8, any::<u8>()))
            .prop_map(|(id, salt)| Event::Stage(id, salt)),
        1 => (0_u8..4, proptest::option::weighted(0.8, any::<(u8, bool)>()))
            .prop_map(|(table, classifier)| Event::Classifier(table, classifier)),
        1 => port.clone().prop_map(Event::Port),
        6 => vec((port, 0_u16..300), 0..120).prop_map(Event::Packets),
    ]
}

/// A stage whose mind is made up by the packet's bytes and what the stage before it left.
#[derive(Clone)]
struct Whim {
    salt: u8,
    /// Whether it classifies by all bytes.
    payload: bool,
}

impl Judge for Whim {
    fn judge(&self, frame: &mut [u8], metadata: &mut u64) -> Verdict {
        let mut hasher = DefaultHasher::new();
        (self.salt, &*frame, *metadata).hash(&mut hasher);
        let mut dice = Dice(hasher.finish());
        *metadata = dice.throw() % 8;
        if dice.once_in(3) {
            let place = dice.below(frame.len());
            frame[place] = dice.byte();
        }
        let port = u16::try_from(dice.below(6)).unwrap();
        match dice.below(8) {
            0 => Verdict::Drop(ReasonId(100 + port)),
            1 => Verdict::Output(PortId(port)),
            2 | 3 => Verdict::Goto(TableId(dice.pick(&[0, 1, 2, 3, 4, 250]))),
            _ => Verdict::Next,
        }
    }

    fn classify(&self, key: &FlowKey, frame: Option<&[u8]>) -> Result<u64, DropReason> {
        let answer = self.answer(key, frame);
        answer.drop.map_or(Ok(answer.metadata), Err)
    }
}

impl Whim {
    /// What it says of a packet, by some fields of the key or by all bytes.
    fn answer(&self, key: &FlowKey, frame: Option<&[u8]>) -> Answer {
        let mut dice = Dice(self.salt.into());
        let seen = universe::field(&mut dice).union(&universe::field(&mut dice));
        let mut hasher = DefaultHasher::new();
        match frame {
            Some(frame) => (self.salt, frame).hash(&mut hasher),
            None => (self.salt, key & &seen).hash(&mut hasher),
        }
        let mut dice = Dice(hasher.finish());
        Answer {
            metadata: dice.pick(&[0, 1, 2, 0x0100, 0xff01]),
            seen,
            makeshift: dice.once_in(4),
            drop: dice.once_in(8).then_some(DropReason::StageTrap),
        }
    }
}

impl Stage<Buffer> for Whim {
    fn run(&mut self, batch: &mut Batch<'_, Buffer>) {
        for index in 0..batch.len() {
            let (packet, context) = batch.get_mut(index);
            let known = model::read(context.in_port, packet.bytes()).unwrap();
            assert_eq!(context.headers, known.headers, "what a stage is told is true");
            context.verdict = self.judge(packet.bytes_mut(), &mut context.metadata);
            context.rewritten = true;
        }
    }

    fn classify(&mut self, questions: Questions<'_, Buffer>, answers: &mut [Answer]) {
        for (index, answer) in answers.iter_mut().enumerate() {
            let (parsed, packet) = questions.get(index);
            let Some(known) = model::read(PortId(parsed.key.in_port), packet.bytes()) else {
                continue;
            };
            assert_eq!(parsed.headers, known.headers, "what a classifier is told is true");
            *answer = self.answer(&parsed.key, self.payload.then_some(packet.bytes()));
        }
    }
}

/// Both of them, and what they are to be told alike.
struct Twins {
    seed: u64,
    rig: Rig,
    slow: Interpreter<Whim>,
    /// In the order in which they are polled.
    polled: Vec<PortId>,
    /// The names of the rules that there are.
    named: Vec<(u8, u8)>,
}

impl Twins {
    fn new(seed: u64) -> Self {
        let ports: Vec<PortId> = (0..PORTS).map(PortId).collect();
        let equipment = universe::equipment(&mut Dice(seed));
        let slow = Interpreter::new(&ports, equipment);
        // Flows of a small cache give way to others within a burst.
        let flow_limit = Dice(seed).pick(&[1, 3, 40, 200]);
        let rig = Rig::with(Settings { flow_limit, ..support::settings() }, PORTS);
        let mut twins = Self { seed, rig, slow, polled: ports, named: Vec::new() };
        (0..2).for_each(|id| twins.take(&Event::Stage(id, Some(id))));
        twins.equip();
        twins
    }

    /// Gives the engine the meters and groups that its twin has.
    fn equip(&mut self) {
        let equipment = &self.slow.equipment;
        for id in equipment.treatments.keys() {
            self.rig.change(Change::Meter(*id, Some(equipment.meter(*id))));
        }
        for id in equipment.groups.keys() {
            self.rig.change(Change::Group(*id, Some(equipment.group(*id))));
        }
    }

    /// Chance that is the same for what has one name.
    fn dice(&self, name: impl Hash) -> Dice {
        let mut hasher = DefaultHasher::new();
        (self.seed, name).hash(&mut hasher);
        Dice(hasher.finish())
    }

    fn take(&mut self, event: &Event) {
        match event {
            Event::Rules(names) => {
                self.named.clear();
                names.iter().for_each(|name| self.name(*name));
                self.take_rules();
            }
            Event::Rule(name) => {
                let before = self.named.len();
                self.named.retain(|(id, _)| *id != name.0);
                if self.named.len() == before {
                    self.name(*name);
                }
                self.take_rules();
            }
            Event::Stage(id, salt) => {
                let whim = salt.map(|salt| Whim { salt, payload: false });
                self.take_stage(StageId((*id).into()), whim);
            }
            Event::Classifier(table, classifier) => self.take_classifier(*table, *classifier),
            Event::Port(id) => self.toggle(PortId((*id).into())),
            Event::Packets(names) => {
                self.take_packets(names);
                self.compare();
            }
        }
    }

    fn name(&mut self, name: (u8, u8)) {
        if self.named.iter().all(|(id, _)| *id != name.0) {
            self.named.push(name);
        }
    }

    fn take_rules(&mut self) {
        let rules: Vec<(TableId, Rule)> = self
            .named
            .iter()
            .map(|name| universe::rule(name.0.into(), &mut self.dice(name)))
            .collect();
        self.rig.rules(rules.clone());
        self.slow.replace(rules);
    }

    fn take_classifier(&mut self, table: u8, classifier: Option<(u8, bool)>) {
        let (table, stage) = (TableId(table), StageId(10 + u16::from(table)));
        let classification = classifier.map(|(_, payload)| Classification { stage, payload });
        // Of some there is no stage.
        let there = classifier.filter(|(salt, _)| salt % 8 > 0);
        self.take_stage(stage, there.map(|(salt, payload)| Whim { salt, payload }));
        self.rig.classify(table, classification);
        self.slow.classifications.remove(&table);
        self.slow.classifications.extend(classification.map(|it| (table, it)));
    }

    fn take_stage(&mut self, id: StageId, whim: Option<Whim>) {
        let stage = whim.clone().map(|whim| Box::new(whim) as Box<dyn Stage<Buffer>>);
        self.rig.change(Change::Stage(id, stage));
        self.slow.stages.remove(&id);
        self.slow.stages.extend(whim.map(|whim| (id, whim)));
    }

    fn toggle(&mut self, id: PortId) {
        let queues = if self.slow.ports.remove(&id).is_some() {
            self.polled.retain(|it| *it != id);
            None
        } else {
            self.slow.ports.insert(id, Counted::default());
            self.polled.push(id);
            Some(self.rig.queues(id))
        };
        self.rig.change(Change::Port(id, queues));
    }

    fn take_packets(&mut self, names: &[(u8, u16)]) {
        let mut arrived: BTreeMap<PortId, Vec<Vec<u8>>> = BTreeMap::new();
        for (port, number) in names {
            let port = PortId((*port).into());
            if self.polled.contains(&port) {
                arrived.entry(port).or_default().push(universe::frame(&mut self.dice(number)));
            }
        }
        arrived.iter().for_each(|(port, frames)| self.rig.push(*port, frames));
        let most = arrived.values().map(Vec::len).max().unwrap_or(0);
        for round in 0..most.div_ceil(BURST) {
            self.rig.poll();
            for port in &self.polled {
                let frames = arrived.get(port).into_iter().flatten();
                for frame in frames.skip(round * BURST).take(BURST) {
                    self.slow.receive(*port, frame);
                }
            }
        }
    }

    fn compare(&mut self) {
        let mut sent: BTreeMap<PortId, Vec<Vec<u8>>> = BTreeMap::new();
        for (port, frame) in self.slow.sent.drain(..) {
            sent.entry(port).or_default().push(frame);
        }
        for port in (0..PORTS).map(PortId) {
            assert_eq!(self.rig.sent(port), sent.remove(&port).unwrap_or_default(), "by {port:?}");
        }
        let report = self.rig.report();
        assert_eq!(self.rig.tallies(), self.slow.counted);
        let ports: BTreeMap<PortId, Counted> =
            report.ports.iter().map(|(port, counters)| (*port, told(counters))).collect();
        assert_eq!(ports, self.slow.ports);
    }
}

/// An engine's counters as the interpreter has them.
fn told(counters: &PortCounters) -> Counted {
    let drops = (0..).zip(counters.drops.iter().copied()).filter(|(_, count)| *count > 0);
    let fates = counters.forwarded + counters.dropped() + counters.in_flight;
    assert_eq!(counters.rx.packets + counters.copied, fates, "every packet has one fate");
    Counted {
        rx: counters.rx,
        tx: counters.tx,
        copied: counters.copied,
        mirrored: counters.mirrored,
        forwarded: counters.forwarded,
        drops: drops.collect(),
    }
}

proptest! {
    #![proptest_config(support::tries(700))]

    #[test]
    fn the_engine_does_what_its_slow_twin_does(
        seed in any::<u64>(),
        rules in vec((0_u8..30, 0_u8..4), 8..24),
        events in vec(event(), 1..16),
    ) {
        let mut twins = Twins::new(seed);
        twins.take(&Event::Rules(rules));
        events.iter().for_each(|event| twins.take(event));
    }
}
