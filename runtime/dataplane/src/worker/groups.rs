//! Groups over a burst. What a bucket does to a packet, nothing behind the group sees.

use super::{burst::Burst, equipment::Equipment, ports::Ports};
use crate::{
    DropReason, GroupId, Packet, ReasonId, Receive, Tally, Transmit,
    flow::Seed,
    group::{Bucket, Group, Kind},
    packet::{Headers, parse},
    program::{Action, apply},
    stage::Verdict,
};

/// How the members of a burst come to a group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    /// Whether no step follows: then the last bucket has the packet itself.
    pub(super) last: bool,
    /// Whether steps before it may have changed the packets.
    pub(super) changed: bool,
    /// What flows are told apart by.
    pub(super) seed: Seed,
}

impl<P: Packet> Burst<P> {
    /// Has each member take its buckets of a group.
    pub(super) fn group_all<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        id: GroupId,
        arrival: Arrival,
        equipment: &Equipment,
        ports: &mut Ports<P, R, T>,
    ) {
        let Some(group) = equipment.group(id) else {
            if arrival.last {
                self.decide_all(DropReason::NoSuchGroup.into());
                self.members.clear();
            }
            return;
        };
        for index in 0..self.members.len() {
            let member = self.members[index];
            let buckets = self.buckets(member, group, arrival);
            for (place, bucket) in buckets.iter().enumerate() {
                let bytes = self.packets[usize::from(member)].bytes().len() as u64;
                bucket.counted.add(equipment.worker, Tally { packets: 1, bytes });
                if arrival.last && place + 1 == buckets.len() {
                    self.take(member, bucket, ports);
                } else {
                    self.take_copy(member, bucket, ports);
                }
            }
            if buckets.is_empty() && arrival.last {
                self.contexts[usize::from(member)].verdict = DropReason::NoLiveBucket.into();
            }
        }
        self.keep_undecided();
    }

    /// The buckets that a packet takes.
    fn buckets<'a>(&mut self, member: u16, group: &'a Group, arrival: Arrival) -> &'a [Bucket] {
        if group.kind() == Kind::All {
            return group.buckets();
        }
        let place = usize::from(member);
        if arrival.changed || self.contexts[place].rewritten {
            self.parse_again(place);
        }
        let chosen = group.choose(arrival.seed.flow(&self.parsed[place].key));
        chosen.map_or(&[], std::slice::from_ref)
    }

    /// Does with a packet what a bucket says.
    fn take<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        member: u16,
        bucket: &Bucket,
        ports: &mut Ports<P, R, T>,
    ) {
        let place = usize::from(member);
        for (step, &action) in bucket.actions.iter().enumerate() {
            match action {
                Action::Output(port) if step + 1 == bucket.actions.len() => {
                    self.contexts[place].verdict = Verdict::Output(port);
                    return;
                }
                Action::Output(port) => self.copy_one(member, port, ports),
                change => {
                    if !self.change(place, change) {
                        return;
                    }
                }
            }
        }
        self.contexts[place].verdict = DropReason::NoOutput.into();
    }

    /// Does with a copy of a packet what a bucket says.
    fn take_copy<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        member: u16,
        bucket: &Bucket,
        ports: &mut Ports<P, R, T>,
    ) {
        let in_port = self.contexts[usize::from(member)].in_port;
        ports.count_copy(in_port);
        if let Err(reason) = self.send_copy(member, bucket, ports) {
            ports.count_drop(in_port, reason);
        }
    }

    /// The same; or why the copy is dropped.
    fn send_copy<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        member: u16,
        bucket: &Bucket,
        ports: &mut Ports<P, R, T>,
    ) -> Result<(), ReasonId> {
        let place = usize::from(member);
        let mut copy = self.packets[place].duplicate().ok_or(DropReason::NoBuffer)?;
        let mut metadata = self.contexts[place].metadata;
        let in_port = self.contexts[place].in_port;
        let headers = |copy: &P| -> Result<Headers, ReasonId> {
            Ok(parse(in_port, copy.bytes()).ok_or(DropReason::Runt)?.headers)
        };
        let mut known = headers(&copy)?;
        for (step, &action) in bucket.actions.iter().enumerate() {
            if let Action::Output(port) = action {
                if step + 1 == bucket.actions.len() {
                    self.add_copy(member, port, copy);
                    return Ok(());
                }
                ports.count_copy(in_port);
                match copy.duplicate() {
                    Some(second) => self.add_copy(member, port, second),
                    None => ports.count_drop(in_port, DropReason::NoBuffer.into()),
                }
            }
            apply(action, &mut copy, &known, &mut metadata)?;
            if action.moves_headers() {
                known = headers(&copy)?;
            }
        }
        Err(DropReason::NoOutput.into())
    }
}
