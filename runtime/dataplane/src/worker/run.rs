//! Programs over a burst: looked up, grouped, run, and looked up again where they say so.

use super::{
    Stages, burst::Burst, classifier::Classifier, equipment::Equipment, groups::Arrival,
    ports::Ports,
};
use crate::{
    DropReason, Packet, PortId, Receive, StageId, TableId, Transmit,
    program::{Action, ProgramId, apply},
    stage::{Batch, Verdict},
};

/// How often a packet may be looked up: once, and again after each stage or change that sends it
/// to another table.
pub const MOST_LOOKUPS: usize = 16;

impl<P: Packet> Burst<P> {
    /// Decides on every packet of the burst, whose programs were found, and sends or frees it.
    #[inline]
    pub(super) fn run<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        classifier: &mut Classifier,
        stages: &mut Stages<P>,
        equipment: &mut Equipment,
        ports: &mut Ports<P, R, T>,
    ) {
        // Most bursts have one fate, and need no look at each packet.
        if let Some(program) = self.common {
            match **classifier.actions(program) {
                [Action::Output(port)] => {
                    return ports.send_all(port, &mut self.packets, &self.lengths, self.in_port);
                }
                [Action::Drop(reason)] => {
                    return ports.drop_all(&mut self.packets, self.in_port, reason);
                }
                _ => {}
            }
        }
        self.open();
        self.run_first(classifier, stages, equipment, ports);
        self.run_on(MOST_LOOKUPS - 1, classifier, stages, equipment, ports);
    }

    /// Looks packets up again as often as they are sent to another table and may be, then sends or
    /// frees all.
    pub(super) fn run_on<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        lookups: usize,
        classifier: &mut Classifier,
        stages: &mut Stages<P>,
        equipment: &mut Equipment,
        ports: &mut Ports<P, R, T>,
    ) {
        for _ in 0..lookups {
            if !self.look_up_again(classifier, stages) {
                break;
            }
            self.run_groups(classifier, stages, equipment, ports);
        }
        for context in &mut self.contexts {
            if let Verdict::Goto(table) = context.verdict {
                context.verdict = end_of_goto(table, classifier).into();
            }
        }
        self.disperse(ports);
    }

    fn run_first<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        classifier: &Classifier,
        stages: &mut Stages<P>,
        equipment: &mut Equipment,
        ports: &mut Ports<P, R, T>,
    ) {
        let Some(program) = self.common else {
            return self.run_groups(classifier, stages, equipment, ports);
        };
        self.members.clear();
        self.members.extend(0..u16::try_from(self.packets.len()).expect("a burst is short"));
        self.run_program(program, classifier, stages, equipment, ports);
        self.programs[..self.packets.len()].fill(None);
    }

    /// Looks the packets up that were sent to another table. Returns whether there were any.
    #[inline]
    fn look_up_again(&mut self, classifier: &mut Classifier, stages: &mut Stages<P>) -> bool {
        let mut any = false;
        for place in 0..self.contexts.len() {
            let Verdict::Goto(table) = self.contexts[place].verdict else { continue };
            if !classifier.has(table) {
                self.contexts[place].verdict = DropReason::NoSuchTable.into();
                continue;
            }
            self.contexts[place].verdict = Verdict::Next;
            self.parse_again(place);
            if self.contexts[place].verdict != Verdict::Next {
                continue;
            }
            match self.look_up_one(place, table, classifier, stages) {
                Ok(()) => any = true,
                Err(reason) => self.contexts[place].verdict = reason.into(),
            }
        }
        any
    }

    /// Runs each program over the packets that have it.
    #[inline]
    fn run_groups<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        classifier: &Classifier,
        stages: &mut Stages<P>,
        equipment: &mut Equipment,
        ports: &mut Ports<P, R, T>,
    ) {
        for first in 0..self.packets.len() {
            if let Some(program) = self.programs[first] {
                self.gather(program, first);
                self.run_program(program, classifier, stages, equipment, ports);
            }
        }
    }

    /// Makes the packets from `first` on that have a program the members.
    #[inline]
    fn gather(&mut self, program: ProgramId, first: usize) {
        self.members.clear();
        for (place, has) in (first..).zip(&mut self.programs[first..self.packets.len()]) {
            if *has == Some(program) {
                *has = None;
                self.members.push(u16::try_from(place).expect("a burst is short"));
            }
        }
    }

    #[inline]
    fn run_program<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        program: ProgramId,
        classifier: &Classifier,
        stages: &mut Stages<P>,
        equipment: &mut Equipment,
        ports: &mut Ports<P, R, T>,
    ) {
        let actions = classifier.actions(program);
        for (place, &action) in actions.iter().enumerate() {
            let last = place + 1 == actions.len();
            match action {
                Action::Output(port) if last => return self.decide_all(Verdict::Output(port)),
                Action::Output(port) => self.copy_to(port, ports),
                Action::Drop(reason) => return self.decide_all(reason.into()),
                Action::Goto(table) => return self.decide_all(Verdict::Goto(table)),
                Action::Stage(id) => self.run_stage(id, classifier, stages, ports),
                Action::Normal
                | Action::Flood
                | Action::Mirror(_)
                | Action::Sample { .. }
                | Action::Meter(_)
                | Action::Group(_) => self.use_equipment(
                    action,
                    Arrival {
                        last,
                        changed: actions[..place].iter().any(|before| before.changes_key()),
                        seed: classifier.seed(),
                    },
                    equipment,
                    ports,
                ),
                change => self.change_all(change),
            }
        }
        self.decide_undecided(DropReason::NoOutput.into());
    }

    /// Does what needs more than the packets themselves. It stands apart so that the way of packets
    /// that do without stays short.
    #[inline(never)]
    fn use_equipment<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        action: Action,
        arrival: Arrival,
        equipment: &mut Equipment,
        ports: &mut Ports<P, R, T>,
    ) {
        match action {
            Action::Normal => self.switch_all(arrival.last, equipment, ports),
            Action::Flood => self.flood_all(arrival.last, equipment, ports),
            Action::Mirror(port) => self.mirror_all(port, ports),
            Action::Sample { rate, port } => self.sample_all(rate, port, equipment, ports),
            Action::Meter(id) => self.measure_all(id, equipment),
            Action::Group(id) => self.group_all(id, arrival, equipment, ports),
            _ => unreachable!("all others need none"),
        }
    }

    /// Decides on the members that the last step did not decide on.
    fn decide_undecided(&mut self, verdict: Verdict) {
        self.keep_undecided();
        self.decide_all(verdict);
    }

    pub(super) fn decide_all(&mut self, verdict: Verdict) {
        for &member in &self.members {
            self.contexts[usize::from(member)].verdict = verdict;
        }
    }

    pub(super) fn copy_to<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        port: PortId,
        ports: &mut Ports<P, R, T>,
    ) {
        for index in 0..self.members.len() {
            self.copy_one(self.members[index], port, ports);
        }
    }

    /// Sends a copy of a packet by a port, if there is a buffer.
    pub(super) fn copy_one<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        member: u16,
        port: PortId,
        ports: &mut Ports<P, R, T>,
    ) {
        let in_port = self.contexts[usize::from(member)].in_port;
        ports.count_copy(in_port);
        if !self.copy(member, port) {
            ports.count_drop(in_port, DropReason::NoBuffer.into());
        }
    }

    pub(super) fn keep_undecided(&mut self) {
        let contexts = &self.contexts;
        self.members.retain(|&member| contexts[usize::from(member)].verdict == Verdict::Next);
    }

    /// Changes the members; those that cannot be changed see no more of the program.
    fn change_all(&mut self, action: Action) {
        let mut all = true;
        for index in 0..self.members.len() {
            all &= self.change_inline(usize::from(self.members[index]), action);
        }
        if !all {
            self.keep_undecided();
        }
    }

    /// Changes a packet. Returns whether it is still undecided.
    #[inline(never)]
    pub(super) fn change(&mut self, place: usize, action: Action) -> bool {
        self.change_inline(place, action)
    }

    /// The same, for the loop that most changes are made in.
    #[inline(always)]
    fn change_inline(&mut self, place: usize, action: Action) -> bool {
        self.parse_if_rewritten(place);
        let context = &mut self.contexts[place];
        let headers = &self.parsed[place].headers;
        match apply(action, &mut self.packets[place], headers, &mut context.metadata) {
            Ok(()) => context.rewritten = action.moves_headers(),
            Err(reason) => context.verdict = reason.into(),
        }
        context.verdict == Verdict::Next
    }

    /// Has a stage decide on the members; those that it does decide on see no more of the program.
    fn run_stage<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        id: StageId,
        classifier: &Classifier,
        stages: &mut Stages<P>,
        ports: &mut Ports<P, R, T>,
    ) {
        let Some(stage) = stages.get_mut(usize::from(id.0)).and_then(Option::as_mut) else {
            self.decide_all(DropReason::NoSuchStage.into());
            return self.members.clear();
        };
        for index in 0..self.members.len() {
            self.parse_if_rewritten(usize::from(self.members[index]));
        }
        // Not in the same round: what was just written in parts cannot be read as a whole yet.
        for &member in &self.members {
            let place = usize::from(member);
            let (parsed, context) = (&self.parsed[place], &mut self.contexts[place]);
            context.headers = parsed.headers;
            context.flow_hash = classifier.seed().flow(&parsed.key);
        }
        let batch = Batch::new(&mut self.packets, &mut self.contexts, &self.members);
        stage.run(&mut batch.with_outbox(&mut self.outbox));
        self.keep_undecided();
        self.post(ports);
    }
}

/// Why a packet that was looked up as often as may be is not looked up in a table.
fn end_of_goto(table: TableId, classifier: &Classifier) -> DropReason {
    if classifier.has(table) { DropReason::RecirculationLimit } else { DropReason::NoSuchTable }
}
