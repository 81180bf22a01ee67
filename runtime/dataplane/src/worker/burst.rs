use std::cmp::Reverse;

use super::{BURST, ports::Ports};
use crate::{
    DropReason, Packet, PortId, Receive, Transmit,
    packet::{Headers, Parsed},
    program::ProgramId,
    stage::{Context, Verdict},
};

/// What was received at once, and what is known of it. A packet stands at one place in all lists,
/// from receive to transmit, and its copies wait for it, so that order is kept.
#[derive(Debug)]
pub(super) struct Burst<P> {
    pub(super) packets: Vec<P>,
    pub(super) contexts: Vec<Context>,
    /// What the headers say. It is written over by the next burst, not cleared.
    pub(super) parsed: Vec<Parsed>,
    /// The programs that are to run over them.
    pub(super) programs: Vec<Option<ProgramId>>,
    /// The packets that a program runs over.
    pub(super) members: Vec<u16>,
    copies: Vec<Twin<P>>,
}

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
            contexts: Vec::with_capacity(BURST),
            parsed: Vec::with_capacity(BURST),
            programs: Vec::with_capacity(BURST),
            members: Vec::with_capacity(BURST),
            copies: Vec::with_capacity(BURST),
        }
    }

    /// Where packets are received into.
    pub(super) fn packets(&mut self) -> &mut Vec<P> {
        &mut self.packets
    }

    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }
}

impl<P: Packet> Burst<P> {
    /// Reads the headers of all packets, which came by one port.
    #[inline]
    pub(super) fn parse(&mut self, in_port: PortId) {
        self.packets.iter().for_each(P::prefetch);
        self.parsed.resize(self.packets.len(), Parsed::default());
        self.programs.resize(self.packets.len(), None);
        for (packet, parsed) in self.packets.iter().zip(&mut self.parsed) {
            let whole = parsed.read(in_port, packet.bytes());
            let verdict = if whole { Verdict::Next } else { DropReason::Runt.into() };
            self.contexts.push(context(in_port, verdict));
        }
    }

    /// Reads the headers of one packet again, after its bytes were changed.
    pub(super) fn parse_again(&mut self, place: usize) {
        let context = &mut self.contexts[place];
        context.rewritten = false;
        if !self.parsed[place].read(context.in_port, self.packets[place].bytes()) {
            context.verdict = DropReason::Runt.into();
        }
    }

    /// Copies a packet as it is now, to be sent before it. Returns whether there was a buffer.
    pub(super) fn copy(&mut self, place: u16, port: PortId) -> bool {
        let Some(packet) = self.packets[usize::from(place)].duplicate() else { return false };
        self.copies.push(Twin { turn: (place, self.copies.len()), port, packet });
        true
    }

    /// Sends or frees every packet, as was decided, in the order in which they came.
    #[inline]
    pub(super) fn disperse<R: Receive<P>, T: Transmit<P>>(&mut self, ports: &mut Ports<P, R, T>) {
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
        self.programs.clear();
    }
}

/// What is known of a packet at first. Stages are told of its headers when they run.
fn context(in_port: PortId, verdict: Verdict) -> Context {
    let headers = Headers::default();
    Context { in_port, headers, flow_hash: 0, metadata: 0, rewritten: false, verdict }
}
