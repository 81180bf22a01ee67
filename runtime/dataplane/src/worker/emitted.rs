//! Packets that stages make: sent like copies, or looked up in a later burst.

use super::{
    BURST, Stages, burst::Burst, classifier::Classifier, equipment::Equipment, ports::Ports,
    run::MOST_LOOKUPS,
};
use crate::{
    DropReason, Packet, PortId, Receive, TableId, Transmit,
    packet::Headers,
    stage::{Context, Destination, Emitted, Verdict},
};

/// The most packets that stages make while a program runs over a burst once.
pub(super) const MOST_EMITTED: usize = 256;

/// The most that wait to be looked up.
pub(super) const MOST_LATER: usize = 256;

/// A packet that waits to be looked up. It is counted when that begins, so that until then it
/// stands in no account.
#[derive(Debug)]
pub(super) struct Later<P> {
    in_port: PortId,
    table: TableId,
    metadata: u64,
    packet: P,
}

impl<P: Packet> Burst<P> {
    /// Sends on what a stage has made.
    #[inline]
    pub(super) fn post<R: Receive<P>, T: Transmit<P>>(&mut self, ports: &mut Ports<P, R, T>) {
        if !self.outbox.is_empty() {
            self.post_all(ports);
        }
    }

    #[inline(never)]
    fn post_all<R: Receive<P>, T: Transmit<P>>(&mut self, ports: &mut Ports<P, R, T>) {
        let mut outbox = std::mem::take(&mut self.outbox);
        for Emitted { place, to, metadata, packet } in outbox.drain() {
            let in_port = self.contexts[usize::from(place)].in_port;
            match to {
                Destination::Output(port) => {
                    ports.count_copy(in_port);
                    self.add_copy(place, port, packet);
                }
                Destination::Goto(table) if self.later.len() < MOST_LATER => {
                    self.later.push_back(Later { in_port, table, metadata, packet });
                }
                Destination::Goto(_) => {
                    ports.count_copy(in_port);
                    ports.count_drop(in_port, DropReason::RecirculationLimit.into());
                }
            }
        }
        self.outbox = outbox;
    }

    /// Looks one burst of those packets up that wait for it, and sees it through.
    #[inline]
    pub(super) fn run_emitted<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        classifier: &mut Classifier,
        stages: &mut Stages<P>,
        equipment: &mut Equipment,
        ports: &mut Ports<P, R, T>,
    ) {
        if self.later.is_empty() {
            return;
        }
        self.take_up(ports);
        self.run_on(MOST_LOOKUPS, classifier, stages, equipment, ports);
        ports.flush();
    }

    /// Makes the next that came by one port a burst.
    fn take_up<R: Receive<P>, T: Transmit<P>>(&mut self, ports: &mut Ports<P, R, T>) {
        let Some(first) = self.later.front() else { return };
        self.in_port = first.in_port;
        self.common = None;
        while self.packets.len() < BURST
            && let Some(next) = self.later.pop_front_if(|next| next.in_port == self.in_port)
        {
            ports.count_copy(next.in_port);
            self.packets.push(next.packet);
            self.contexts.push(Context {
                in_port: next.in_port,
                headers: Headers::default(),
                flow_hash: 0,
                metadata: next.metadata,
                rewritten: true,
                verdict: Verdict::Goto(next.table),
            });
        }
        self.programs[..self.packets.len()].fill(None);
    }
}
