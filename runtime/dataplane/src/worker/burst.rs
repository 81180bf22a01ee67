use super::{BURST, classifier::OutcomeId, ports::Ports};
use crate::{
    DropReason, Packet, PortId, Receive, Transmit,
    flow::FlowKey,
    packet::{Headers, parse},
    stage::{Context, Verdict},
};

/// What was received at once, and what is known of it. A packet stands at one place in all lists,
/// from receive to transmit, and its copies wait for it, so that order is kept.
#[derive(Debug)]
pub(super) struct Burst<P> {
    pub(super) packets: Vec<P>,
    pub(super) contexts: Vec<Context>,
    pub(super) keys: Vec<FlowKey>,
    pub(super) outcomes: Vec<Option<OutcomeId>>,
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
            keys: Vec::with_capacity(BURST),
            outcomes: Vec::with_capacity(BURST),
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
        for packet in &self.packets {
            let parsed = parse(in_port, packet.bytes());
            let (key, headers) =
                parsed.map_or_else(Default::default, |parsed| (parsed.key, parsed.headers));
            let verdict = if parsed.is_some() { Verdict::Next } else { DropReason::Runt.into() };
            self.keys.push(key);
            self.contexts.push(context(in_port, headers, verdict));
            self.outcomes.push(None);
        }
    }

    /// Reads the headers of one packet again, after its bytes were changed.
    pub(super) fn parse_again(&mut self, place: usize) {
        let context = &mut self.contexts[place];
        context.rewritten = false;
        match parse(context.in_port, self.packets[place].bytes()) {
            Some(parsed) => (self.keys[place], context.headers) = (parsed.key, parsed.headers),
            None => context.verdict = DropReason::Runt.into(),
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
        self.copies.sort_unstable_by_key(|copy| copy.turn);
        let mut copies = self.copies.drain(..).peekable();
        let burst = self.packets.drain(..).zip(self.contexts.drain(..));
        for (place, (packet, context)) in (0_u16..).zip(burst) {
            while let Some(copy) = copies.next_if(|copy| copy.turn.0 == place) {
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
        self.keys.clear();
        self.outcomes.clear();
    }
}

fn context(in_port: PortId, headers: Headers, verdict: Verdict) -> Context {
    Context { in_port, headers, flow_hash: 0, metadata: 0, rewritten: false, verdict }
}
