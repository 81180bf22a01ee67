//! The engine's slow twin: one packet after another, every rule of a table for every lookup. It
//! remembers nothing but counters.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use dataplane::{
    DropReason, GroupId, PortId, ReasonId, StageId, TableId, Tally,
    classify::{Classification, Rule, RuleId},
    flow::FlowKey,
    program::Action,
    stage::Verdict,
};

use super::{equipment::Equipment, model, walker::Walker};

/// What a packet came by and went by.
pub type Sent = (PortId, Vec<u8>);

/// What the interpreter has counted of a port.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    pub rx: Tally,
    pub tx: Tally,
    pub copied: u64,
    pub mirrored: u64,
    pub forwarded: u64,
    pub drops: BTreeMap<u16, u64>,
}

/// A stage: what it says of a frame, and the metadata that it leaves. It may rewrite the frame.
pub trait Judge {
    fn judge(&self, frame: &mut [u8], metadata: &mut u64) -> Verdict;

    /// What it says that a packet is, or why the packet is dropped; by the key alone, or by all
    /// bytes.
    fn classify(&self, key: &FlowKey, frame: Option<&[u8]>) -> Result<u64, DropReason>;
}

pub struct Interpreter<J> {
    pub rules: Vec<(TableId, Rule)>,
    pub stages: BTreeMap<StageId, J>,
    pub classifications: BTreeMap<TableId, Classification>,
    pub equipment: Equipment,
    pub ports: BTreeMap<PortId, Counted>,
    pub counted: BTreeMap<RuleId, Tally>,
    pub sent: Vec<Sent>,
}

impl<J: Judge> Interpreter<J> {
    pub fn new(ports: &[PortId], equipment: Equipment) -> Self {
        let ports = ports.iter().map(|port| (*port, Counted::default())).collect();
        let (rules, stages, classifications, counted, sent) = Default::default();
        Self { rules, stages, classifications, equipment, ports, counted, sent }
    }

    /// Takes up other rules; the counters of those that are gone are forgotten.
    pub fn replace(&mut self, rules: Vec<(TableId, Rule)>) {
        let ids: BTreeSet<RuleId> = rules.iter().map(|(_, rule)| rule.id).collect();
        self.counted.retain(|id, _| ids.contains(id));
        self.rules = rules;
    }

    pub fn receive(&mut self, in_port: PortId, frame: &[u8]) {
        add(&mut self.port(in_port).rx, frame.len());
        let mut walker = Walker::new(in_port, frame);
        let verdict = match model::read(in_port, frame) {
            Some(_) => self.walk(&mut walker),
            None => DropReason::Runt.into(),
        };
        match verdict {
            Verdict::Output(port) => self.send(port, walker.frame, in_port),
            Verdict::Drop(reason) => self.drop(in_port, reason),
            Verdict::Next | Verdict::Goto(_) => unreachable!("a walk ends"),
        }
    }

    fn walk(&mut self, walker: &mut Walker) -> Verdict {
        let mut table = TableId(0);
        loop {
            let next = match self.run(table, walker) {
                Verdict::Goto(next) => next,
                verdict => return verdict,
            };
            let classification = self.classifications.get(&next);
            if walker.changed || next <= table || classification.is_some_and(|it| it.payload) {
                walker.lookups += 1;
                walker.changed = false;
            }
            let has_rules = self.rules.iter().any(|(table, _)| *table == next);
            if !has_rules && classification.is_none() {
                return DropReason::NoSuchTable.into();
            }
            if walker.lookups > 16 {
                return DropReason::RecirculationLimit.into();
            }
            table = next;
        }
    }

    /// Looks a packet up in one table and does what its rule says.
    fn run(&mut self, table: TableId, walker: &mut Walker) -> Verdict {
        let mut key = model::read(walker.in_port, &walker.frame).unwrap().key;
        key.metadata = walker.metadata;
        if let Some(&Classification { stage, payload }) = self.classifications.get(&table) {
            let frame = payload.then_some(&walker.frame[..]);
            let Some(stage) = self.stages.get(&stage) else {
                return DropReason::NoSuchStage.into();
            };
            match stage.classify(&key, frame) {
                Ok(metadata) => (key.metadata, walker.metadata) = (metadata, metadata),
                Err(reason) => return reason.into(),
            }
        }
        let matching = self.rules.iter().filter(|(it, rule)| {
            *it == table && rule.patterns.iter().any(|pattern| pattern.matches(&key))
        });
        // Of those with the highest priority, the one with the lowest id.
        let best = matching.max_by_key(|(_, rule)| (rule.priority, Reverse(rule.id)));
        let Some((_, rule)) = best else {
            return DropReason::TableMiss.into();
        };
        let (id, actions) = (rule.id, rule.actions.clone());
        add(self.counted.entry(id).or_default(), walker.frame.len());
        if actions.is_empty() {
            return DropReason::RuleDrop.into();
        }
        for (place, action) in actions.iter().enumerate() {
            walker.changed |= action.changes_key();
            let last = place + 1 == actions.len();
            let verdict = match *action {
                Action::Output(port) if last => Verdict::Output(port),
                Action::Output(port) => {
                    self.port(walker.in_port).copied += 1;
                    self.send(port, walker.frame.clone(), walker.in_port);
                    Verdict::Next
                }
                Action::Drop(reason) => reason.into(),
                Action::Normal if is_reserved(&walker.frame) => {
                    if last {
                        DropReason::ReservedAddress.into()
                    } else {
                        Verdict::Next
                    }
                }
                // What a switch learns is another test's matter; here it knows nobody.
                Action::Normal | Action::Flood => self.flood(walker, last),
                Action::Mirror(port) | Action::Sample { rate: 1, port } => {
                    self.port(walker.in_port).mirrored += 1;
                    self.port(walker.in_port).copied += 1;
                    self.send(port, walker.frame.clone(), walker.in_port);
                    Verdict::Next
                }
                Action::Meter(id) => walker.treat(self.equipment.treatments.get(&id).copied()),
                Action::Group(id) => self.take_buckets(id, walker, last),
                Action::Goto(next) => Verdict::Goto(next),
                Action::Stage(id) => match self.stages.get(&id) {
                    Some(stage) => stage.judge(&mut walker.frame, &mut walker.metadata),
                    None => DropReason::NoSuchStage.into(),
                },
                change => walker.change(change).map_or_else(Verdict::from, |()| Verdict::Next),
            };
            if verdict != Verdict::Next {
                return verdict;
            }
        }
        DropReason::NoOutput.into()
    }

    fn flood(&mut self, walker: &Walker, last: bool) -> Verdict {
        let others: Vec<PortId> =
            self.ports.keys().copied().filter(|port| *port != walker.in_port).collect();
        let (copies, own) = match others.split_last() {
            Some((own, copies)) if last => (copies, Verdict::Output(*own)),
            _ => (&others[..], Verdict::Next),
        };
        for port in copies {
            self.port(walker.in_port).copied += 1;
            self.send(*port, walker.frame.clone(), walker.in_port);
        }
        own
    }

    fn take_buckets(&mut self, id: GroupId, walker: &mut Walker, last: bool) -> Verdict {
        let Some(buckets) = self.equipment.buckets_for(id, walker) else {
            return if last { DropReason::NoSuchGroup.into() } else { Verdict::Next };
        };
        let Some((own, copies)) = buckets.split_last() else {
            return if last { DropReason::NoLiveBucket.into() } else { Verdict::Next };
        };
        let copies = if last { copies } else { &buckets[..] };
        for bucket in copies {
            self.port(walker.in_port).copied += 1;
            let mut copy = walker.clone();
            match self.take_bucket(bucket, &mut copy) {
                Verdict::Output(port) => self.send(port, copy.frame, copy.in_port),
                Verdict::Drop(reason) => self.drop(copy.in_port, reason),
                Verdict::Next | Verdict::Goto(_) => unreachable!("a bucket ends"),
            }
        }
        if last { self.take_bucket(own, walker) } else { Verdict::Next }
    }

    fn take_bucket(&mut self, actions: &[Action], walker: &mut Walker) -> Verdict {
        for (place, action) in actions.iter().enumerate() {
            match *action {
                Action::Output(port) if place + 1 == actions.len() => {
                    return Verdict::Output(port);
                }
                Action::Output(port) => {
                    self.port(walker.in_port).copied += 1;
                    self.send(port, walker.frame.clone(), walker.in_port);
                }
                Action::Drop(reason) => return reason.into(),
                change => {
                    if let Err(reason) = walker.change(change) {
                        return reason.into();
                    }
                }
            }
        }
        DropReason::NoOutput.into()
    }

    fn send(&mut self, port: PortId, frame: Vec<u8>, in_port: PortId) {
        let Some(out) = self.ports.get_mut(&port) else {
            return self.drop(in_port, DropReason::NoSuchPort.into());
        };
        add(&mut out.tx, frame.len());
        self.port(in_port).forwarded += 1;
        self.sent.push((port, frame));
    }

    fn drop(&mut self, in_port: PortId, reason: ReasonId) {
        *self.port(in_port).drops.entry(reason.0).or_default() += 1;
    }

    fn port(&mut self, port: PortId) -> &mut Counted {
        self.ports.get_mut(&port).unwrap()
    }
}

fn is_reserved(frame: &[u8]) -> bool {
    frame[..5] == [1, 0x80, 0xc2, 0, 0] && frame[5] < 16
}

fn add(tally: &mut Tally, bytes: usize) {
    tally.merge(Tally { packets: 1, bytes: bytes as u64 });
}
