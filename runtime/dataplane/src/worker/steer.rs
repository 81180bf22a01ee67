//! Where packets go beside a single port: where a switch would send them, everywhere, or to a
//! mirror too.

use super::{burst::Burst, equipment::Equipment, ports::Ports};
use crate::{DropReason, Packet, PortId, Receive, Transmit, stage::Verdict, switching::Station};

/// What a switch does with a packet.
enum Way {
    To(PortId),
    Everywhere,
    Nowhere(DropReason),
}

impl<P: Packet> Burst<P> {
    /// Sends each member where a learning switch would.
    pub(super) fn switch_all<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        last: bool,
        equipment: &mut Equipment,
        ports: &mut Ports<P, R, T>,
    ) {
        for index in 0..self.members.len() {
            let member = self.members[index];
            let place = usize::from(member);
            self.parse_if_rewritten(place);
            let verdict = match self.way(place, equipment) {
                Way::To(port) if last => Verdict::Output(port),
                Way::To(port) => {
                    self.copy_one(member, port, ports);
                    continue;
                }
                Way::Everywhere => {
                    self.flood(member, last, equipment, ports);
                    continue;
                }
                Way::Nowhere(_) if !last => continue,
                Way::Nowhere(reason) => reason.into(),
            };
            self.contexts[place].verdict = verdict;
        }
    }

    /// Learns where a packet comes from, and tells where it goes.
    fn way(&self, place: usize, equipment: &Equipment) -> Way {
        let frame = self.packets[place].bytes();
        let tags = self.parsed[place].headers.vlan_tags;
        let (Some(source), Some(destination)) =
            (Station::source(frame, tags), Station::destination(frame, tags))
        else {
            return Way::Nowhere(DropReason::Runt);
        };
        let in_port = self.contexts[place].in_port;
        let addresses = equipment.addresses.as_ref();
        if let Some(addresses) = addresses {
            addresses.learn(source, in_port, equipment.now);
        }
        if destination.is_reserved() {
            return Way::Nowhere(DropReason::ReservedAddress);
        }
        if destination.is_group() {
            return Way::Everywhere;
        }
        match addresses.and_then(|it| it.port_of(destination, equipment.now)) {
            Some(port) if port == in_port => Way::Nowhere(DropReason::SamePort),
            Some(port) => Way::To(port),
            None => Way::Everywhere,
        }
    }

    /// Sends each member by all ports but its own.
    pub(super) fn flood_all<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        last: bool,
        equipment: &mut Equipment,
        ports: &mut Ports<P, R, T>,
    ) {
        for index in 0..self.members.len() {
            self.flood(self.members[index], last, equipment, ports);
        }
    }

    fn flood<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        member: u16,
        last: bool,
        equipment: &mut Equipment,
        ports: &mut Ports<P, R, T>,
    ) {
        let context = &mut self.contexts[usize::from(member)];
        let targets = &mut equipment.targets;
        targets.clear();
        ports.others(context.in_port, targets);
        if last && let Some(port) = targets.pop() {
            context.verdict = Verdict::Output(port);
        }
        for &port in targets.iter() {
            self.copy_one(member, port, ports);
        }
    }

    /// Sends a copy of each member to a mirror.
    pub(super) fn mirror_all<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        port: PortId,
        ports: &mut Ports<P, R, T>,
    ) {
        for index in 0..self.members.len() {
            self.mirror(self.members[index], port, ports);
        }
    }

    /// Sends a copy of one member in so many.
    pub(super) fn sample_all<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        rate: u32,
        port: PortId,
        equipment: &mut Equipment,
        ports: &mut Ports<P, R, T>,
    ) {
        for index in 0..self.members.len() {
            if equipment.once_in(rate) {
                self.mirror(self.members[index], port, ports);
            }
        }
    }

    fn mirror<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        member: u16,
        port: PortId,
        ports: &mut Ports<P, R, T>,
    ) {
        ports.count_mirrored(self.contexts[usize::from(member)].in_port);
        self.copy_one(member, port, ports);
    }
}
