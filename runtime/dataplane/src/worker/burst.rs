use std::{cmp::Reverse, collections::VecDeque};

use super::{
    BURST, Stages,
    asking::ask_one,
    classifier::{AskOf, Classifier},
    emitted::{Later, MOST_EMITTED, MOST_LATER},
    ports::Ports,
};
use crate::{
    DropReason, Packet, PortId, Receive, StageId, TableId, Tally, Transmit,
    flow::FlowKey,
    packet::{Headers, Parsed},
    program::ProgramId,
    stage::{Answer, Context, Outbox, Verdict},
};

/// What was received at once, and what is known of it. A packet stands at one place in all lists,
/// from receive to transmit, and its copies wait for it, so that order is kept.
#[derive(Debug)]
pub(super) struct Burst<P> {
    pub(super) packets: Vec<P>,
    /// The port that they came by.
    pub(super) in_port: PortId,
    /// How long each was when it was last measured.
    pub(super) lengths: [u32; BURST],
    pub(super) contexts: Vec<Context>,
    /// What the headers say, of those that were read. It is written over by the next burst.
    pub(super) parsed: Vec<Parsed>,
    pub(super) hashes: [u64; BURST],
    /// Those that are dropped before they are looked up, and why.
    pub(super) refused: Vec<(usize, DropReason)>,
    /// Whether the headers were read.
    headers_known: bool,
    /// The program that is to run over all packets, if it is one.
    pub(super) common: Option<ProgramId>,
    /// Else the programs that are to run over them.
    pub(super) programs: Vec<Option<ProgramId>>,
    /// The packets that a program runs over.
    pub(super) members: Vec<u16>,
    copies: Vec<Twin<P>>,
    /// What a stage made.
    pub(super) outbox: Outbox<P>,
    /// What stages made that is still to be looked up.
    pub(super) later: VecDeque<Later<P>>,
}

/// Where a packet is looked up first.
const FIRST: TableId = TableId(0);

/// An Ethernet header's length; what is shorter is no frame.
const SHORTEST: u32 = 14;

/// A copy of a packet.
#[derive(Debug)]
struct Twin<P> {
    /// The place of what it is a copy of, and how many copies were made before it.
    turn: (u16, usize),
    port: PortId,
    packet: P,
}

impl<P> Burst<P> {
    pub(super) fn new() -> Self {
        Self {
            packets: Vec::with_capacity(BURST),
            in_port: PortId(0),
            lengths: [0; BURST],
            contexts: Vec::with_capacity(BURST),
            parsed: vec![Parsed::default(); BURST],
            hashes: [0; BURST],
            refused: Vec::with_capacity(BURST),
            headers_known: false,
            common: None,
            programs: vec![None; BURST],
            members: Vec::with_capacity(BURST),
            copies: Vec::with_capacity(BURST + MOST_EMITTED),
            outbox: Outbox::new(MOST_EMITTED),
            later: VecDeque::with_capacity(MOST_LATER),
        }
    }

    /// Where packets are received into.
    pub(super) fn packets(&mut self) -> &mut Vec<P> {
        &mut self.packets
    }

    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// The lengths of all packets together.
    pub(super) fn bytes(&self) -> u64 {
        self.lengths[..self.len()].iter().map(|&length| u64::from(length)).sum()
    }
}

impl<P: Packet> Burst<P> {
    /// Finds the programs of all packets, which came by one port. Their headers are read if any rule
    /// asks for more than the port.
    #[inline]
    pub(super) fn look_up(
        &mut self,
        in_port: PortId,
        classifier: &mut Classifier,
        stages: &mut Stages<P>,
    ) {
        self.in_port = in_port;
        self.headers_known = !classifier.sees_ports_alone() || self.measure() < SHORTEST;
        if self.headers_known {
            self.look_up_each(classifier, stages);
        } else {
            let key = FlowKey { in_port: in_port.0, ..FlowKey::NONE };
            let tally = Tally { packets: self.len() as u64, bytes: self.bytes() };
            let nobody: &mut AskOf<'_> = &mut |_, _, _| Answer::none(DropReason::NoSuchStage);
            self.common = Some(classifier.classify(FIRST, &key, tally, 0, nobody));
        }
    }

    /// Notes the packets' lengths. Returns the least.
    #[inline]
    fn measure(&mut self) -> u32 {
        let mut shortest = u32::MAX;
        for (packet, noted) in self.packets.iter().zip(&mut self.lengths) {
            *noted = length(packet.bytes());
            shortest = shortest.min(*noted);
        }
        shortest
    }

    fn look_up_each(&mut self, classifier: &mut Classifier, stages: &mut Stages<P>) {
        self.packets.iter().for_each(P::prefetch);
        let count = self.packets.len();
        let mut alive = 0_u32;
        for (place, packet) in self.packets.iter().enumerate() {
            let (frame, parsed) = (packet.bytes(), &mut self.parsed[place]);
            self.lengths[place] = length(frame);
            alive |= u32::from(parsed.read(self.in_port, frame)) << place;
            self.hashes[place] = classifier.hash(&parsed.key);
        }
        if let Some(stage) = classifier.asked_of_each(FIRST) {
            alive &= !self.ask_all(stage, alive, classifier, stages);
        }
        let programs = &mut self.programs[..count];
        let (parsed, hashes) = (&self.parsed[..count], &self.hashes[..count]);
        let packets = &self.packets;
        let mut ask = |place: usize, id: StageId, key: &FlowKey| {
            ask_one(stages, id, &packets[place], &parsed[place], key)
        };
        classifier.classify_burst(parsed, hashes, &self.lengths, alive, programs, &mut ask);
        let first = programs.first().copied().flatten();
        self.common = first.filter(|_| programs.iter().all(|program| *program == first));
    }

    /// Opens the packets' contexts, for what looks at them one by one.
    pub(super) fn open(&mut self) {
        let lengths = &self.lengths[..self.packets.len()];
        for (&length, parsed) in lengths.iter().zip(&self.parsed) {
            let verdict = if length < SHORTEST { DropReason::Runt.into() } else { Verdict::Next };
            self.contexts.push(Context {
                in_port: self.in_port,
                headers: Headers::default(),
                flow_hash: 0,
                metadata: if self.headers_known { parsed.key.metadata } else { 0 },
                rewritten: !self.headers_known,
                verdict,
            });
        }
        for (place, reason) in self.refused.drain(..) {
            self.contexts[place].verdict = reason.into();
        }
    }

    /// Reads the headers of one packet again, after its bytes were changed.
    pub(super) fn parse_again(&mut self, place: usize) {
        let context = &mut self.contexts[place];
        context.rewritten = false;
        if !self.parsed[place].read(context.in_port, self.packets[place].bytes()) {
            context.verdict = DropReason::Runt.into();
        }
        self.parsed[place].key.metadata = context.metadata;
    }

    /// Reads the headers of one packet again, if they are elsewhere by now.
    #[inline]
    pub(super) fn parse_if_rewritten(&mut self, place: usize) {
        if self.contexts[place].rewritten {
            self.parse_again(place);
        }
    }

    /// Copies a packet as it is now, to be sent before it. Returns whether there was a buffer.
    pub(super) fn copy(&mut self, place: u16, port: PortId) -> bool {
        let Some(packet) = self.packets[usize::from(place)].duplicate() else { return false };
        self.add_copy(place, port, packet);
        true
    }

    /// The port that all packets leave by, if it is one and there is nothing else to be sent.
    fn common_output(&self) -> Option<PortId> {
        let first = self.contexts.first()?.verdict;
        let same = self.copies.is_empty() && self.contexts.iter().all(|it| it.verdict == first);
        match first {
            Verdict::Output(port) if same => Some(port),
            _ => None,
        }
    }

    /// Has a copy of a packet be sent before it, behind the copies that were made before.
    pub(super) fn add_copy(&mut self, place: u16, port: PortId, packet: P) {
        self.copies.push(Twin { turn: (place, self.copies.len()), port, packet });
    }

    /// Sends or frees every packet, as was decided, in the order in which they came.
    #[inline]
    pub(super) fn disperse<R: Receive<P>, T: Transmit<P>>(&mut self, ports: &mut Ports<P, R, T>) {
        if let Some(port) = self.common_output() {
            self.contexts.clear();
            self.measure();
            return ports.send_all(port, &mut self.packets, &self.lengths, self.in_port);
        }
        // The last is taken first.
        self.copies.sort_unstable_by_key(|copy| Reverse(copy.turn));
        for (place, packet) in (0_u16..).zip(self.packets.drain(..)) {
            let context = &self.contexts[usize::from(place)];
            while let Some(copy) = self.copies.pop_if(|copy| copy.turn.0 == place) {
                ports.send(copy.port, copy.packet, context.in_port);
            }
            match context.verdict {
                Verdict::Output(port) => ports.send(port, packet, context.in_port),
                Verdict::Drop(reason) => ports.count_drop(context.in_port, reason),
                Verdict::Next | Verdict::Goto(_) => {
                    unreachable!("a burst runs until each packet is sent or dropped")
                }
            }
        }
        self.contexts.clear();
    }
}

#[inline]
fn length(frame: &[u8]) -> u32 {
    u32::try_from(frame.len()).expect("a packet fits a buffer")
}
