use super::{BURST, PortCounters, Queues, Report};
use crate::{DropReason, Packet, PortId, ReasonId, Receive, Tally, Transmit};

/// A worker's ports, by their ids.
#[derive(Debug)]
pub(super) struct Ports<P, R, T> {
    ports: Vec<Option<Port<P, R, T>>>,
    /// Those that are there: ids grow as long as ports come and go.
    present: Vec<PortId>,
    /// Those with a receive queue here.
    polled: Vec<PortId>,
    /// Those with packets to send.
    waiting: Vec<PortId>,
}

#[derive(Debug)]
struct Port<P, R, T> {
    queues: Queues<R, T>,
    /// What is to be sent.
    packets: Vec<P>,
    /// Where each of those came from.
    origins: Vec<Origin>,
    /// Whether it is on the list of those with packets to send.
    waiting: bool,
    /// For how many rounds it is not polled while other ports have all that a round takes.
    held: u64,
    counters: PortCounters,
}

/// Whose packet waits, and how long it is.
#[derive(Debug, Clone, Copy)]
struct Origin {
    port: PortId,
    bytes: u32,
}

impl<P, R, T> Default for Ports<P, R, T> {
    fn default() -> Self {
        let (ports, present, polled, waiting) = Default::default();
        Self { ports, present, polled, waiting }
    }
}

impl<P, R, T> Ports<P, R, T> {
    /// How many ports are polled here.
    pub(super) fn polled(&self) -> usize {
        self.polled.len()
    }

    /// Whether a polled port is to wait for another round.
    pub(super) fn waits(&mut self, place: usize) -> bool {
        let Some(port) = self.get_mut(self.polled[place]) else { return false };
        let waits = port.held > 0;
        port.held = port.held.saturating_sub(1);
        waits
    }

    /// Has a polled port wait for some rounds.
    #[inline]
    pub(super) fn hold(&mut self, place: usize, rounds: u64) {
        if rounds > 0
            && let Some(port) = self.get_mut(self.polled[place])
        {
            port.held = rounds;
        }
    }

    fn get(&self, id: PortId) -> Option<&Port<P, R, T>> {
        self.ports.get(usize::from(id.0))?.as_ref()
    }

    fn get_mut(&mut self, id: PortId) -> Option<&mut Port<P, R, T>> {
        self.ports.get_mut(usize::from(id.0))?.as_mut()
    }

    /// Counts a packet as dropped; the caller frees it.
    pub(super) fn count_drop(&mut self, in_port: PortId, reason: ReasonId) {
        if let Some(port) = self.get_mut(in_port) {
            port.counters.count_drop(reason);
        }
    }

    /// Drops packets of one port.
    pub(super) fn drop_all(&mut self, packets: &mut Vec<P>, in_port: PortId, reason: DropReason) {
        if let Some(port) = self.get_mut(in_port) {
            port.counters.drops[ReasonId::from(reason).index()] += packets.len() as u64;
        }
        packets.clear();
    }

    /// Counts a copy of a packet that came by a port.
    pub(super) fn count_copy(&mut self, in_port: PortId) {
        if let Some(port) = self.get_mut(in_port) {
            port.counters.copied += 1;
        }
    }

    /// Counts a copy that goes to a mirror.
    pub(super) fn count_mirrored(&mut self, in_port: PortId) {
        if let Some(port) = self.get_mut(in_port) {
            port.counters.mirrored += 1;
        }
    }

    /// Writes down all ports but one.
    pub(super) fn others(&self, in_port: PortId, others: &mut Vec<PortId>) {
        others.extend(self.present.iter().filter(|id| **id != in_port));
    }

    pub(super) fn report(&self, report: &mut Report) {
        let there = self.present.iter().filter_map(|id| Some((*id, self.get(*id)?)));
        report.ports.extend(there.map(|(id, port)| (id, port.counters.clone())));
        let ports = self.present.iter().filter_map(|id| self.get(*id));
        let waiting = ports.flat_map(|port| &port.origins);
        for origin in waiting {
            let of = report.ports.iter_mut().find(|(id, _)| *id == origin.port);
            if let Some((_, counters)) = of {
                counters.in_flight += 1;
            }
        }
    }
}

impl<P: Packet, R: Receive<P>, T: Transmit<P>> Ports<P, R, T> {
    /// Polls one port into an empty burst. `None` if nothing came.
    #[inline]
    pub(super) fn receive(&mut self, place: usize, burst: &mut Vec<P>) -> Option<PortId> {
        let id = self.polled[place];
        let port = self.get_mut(id)?;
        let found = port.queues.rx.as_mut()?.receive(burst);
        if burst.is_empty() && found.oversize_packets == 0 {
            return None;
        }
        let counters = &mut port.counters;
        counters.rx.packets += burst.len() as u64 + found.oversize_packets;
        counters.rx.bytes += burst.iter().map(|packet| packet.bytes().len() as u64).sum::<u64>();
        counters.rx.bytes += found.oversize_bytes;
        counters.drops[ReasonId::from(DropReason::Oversize).index()] += found.oversize_packets;
        (!burst.is_empty()).then_some(id)
    }

    /// Queues a packet for a port, and sends what waits if there is no room for another.
    #[inline]
    pub(super) fn send(&mut self, id: PortId, packet: P, in_port: PortId) {
        let Some(port) = self.get_mut(id) else {
            return self.count_drop(in_port, DropReason::NoSuchPort.into());
        };
        let first = !std::mem::replace(&mut port.waiting, true);
        let bytes = u32::try_from(packet.bytes().len()).expect("a packet fits a buffer");
        port.origins.push(Origin { port: in_port, bytes });
        port.packets.push(packet);
        let full = port.packets.len() == BURST;
        if first {
            self.waiting.push(id);
        }
        if full {
            self.flush_port(id);
        }
    }

    /// Sends packets of one port by another, all at once if none waits there.
    #[inline]
    pub(super) fn send_all(
        &mut self,
        id: PortId,
        packets: &mut Vec<P>,
        lengths: &[u32],
        in_port: PortId,
    ) {
        match self.get_mut(id) {
            Some(port) if port.packets.is_empty() => {
                let all = packets.len();
                let sent = port.queues.tx.transmit(packets);
                packets.clear();
                let bytes = lengths[..sent].iter().map(|&length| u64::from(length)).sum();
                port.counters.tx.merge(Tally { packets: sent as u64, bytes });
                if let Some(from) = self.get_mut(in_port) {
                    from.counters.forwarded += sent as u64;
                    from.counters.drops[ReasonId::from(DropReason::TransmitFull).index()] +=
                        (all - sent) as u64;
                }
            }
            _ => packets.drain(..).for_each(|packet| self.send(id, packet, in_port)),
        }
    }

    /// Sends what waits.
    #[inline]
    pub(super) fn flush(&mut self) {
        while let Some(id) = self.waiting.pop() {
            self.flush_port(id);
            if let Some(port) = self.get_mut(id) {
                port.waiting = false;
            }
        }
    }

    fn flush_port(&mut self, id: PortId) {
        let Some(port) = self.get_mut(id) else { return };
        let sent = port.queues.tx.transmit(&mut port.packets);
        port.packets.clear();
        port.counters.tx.packets += sent as u64;
        port.counters.tx.bytes +=
            port.origins[..sent].iter().map(|it| u64::from(it.bytes)).sum::<u64>();
        let origins = std::mem::take(&mut port.origins);
        let (gone, left) = origins.split_at(sent);
        for run in gone.chunk_by(|a, b| a.port == b.port) {
            if let Some(from) = self.get_mut(run[0].port) {
                from.counters.forwarded += run.len() as u64;
            }
        }
        for origin in left {
            self.count_drop(origin.port, DropReason::TransmitFull.into());
        }
        self.give_back(id, origins);
    }

    /// Puts the emptied list of origins back, so that it need not be made again.
    fn give_back(&mut self, id: PortId, mut origins: Vec<Origin>) {
        origins.clear();
        if let Some(port) = self.get_mut(id) {
            port.origins = origins;
        }
    }

    /// Takes other queues for a port, or none, and leaves the old ones. The counters go on unless
    /// there are none.
    pub(super) fn replace(&mut self, id: PortId, queues: &mut Option<Queues<R, T>>) {
        self.flush();
        let place = usize::from(id.0);
        if self.ports.len() <= place {
            self.ports.resize_with(place + 1, || None);
        }
        self.polled.retain(|polled| *polled != id);
        if queues.as_ref().is_some_and(|queues| queues.rx.is_some()) {
            self.polled.push(id);
        }
        let old = self.ports[place].take().map(|port| (port.queues, port.counters));
        let (old, counters) = old.unzip();
        self.ports[place] =
            queues.take().map(|queues| Port::new(queues, counters.unwrap_or_default()));
        *queues = old;
        self.present.retain(|it| *it != id);
        self.present.extend(self.ports[place].is_some().then_some(id));
        self.present.sort_unstable();
        self.waiting.reserve(self.ports.len());
    }
}

impl<P, R, T> Port<P, R, T> {
    fn new(queues: Queues<R, T>, counters: PortCounters) -> Self {
        Self {
            queues,
            packets: Vec::with_capacity(BURST),
            origins: Vec::with_capacity(BURST),
            waiting: false,
            held: 0,
            counters,
        }
    }
}
