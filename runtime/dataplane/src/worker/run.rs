//! Programs over a burst: looked up, grouped, run, and looked up again where they say so.

use super::{Stages, burst::Burst, classifier::Classifier, ports::Ports};
use crate::{
    DropReason, Packet, PortId, Receive, StageId, TableId, Transmit,
    program::{Action, ProgramId, apply},
    stage::{Batch, Verdict},
};

/// How often a packet may be looked up: once, and again after each stage or change that sends it
/// to another table.
const MOST_LOOKUPS: usize = 16;

impl<P: Packet> Burst<P> {
    /// Decides on every packet of the burst.
    #[inline]
    pub(super) fn run<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        classifier: &mut Classifier,
        stages: &mut Stages<P>,
        ports: &mut Ports<P, R, T>,
    ) {
        self.look_up_first(classifier);
        self.run_groups(classifier, stages, ports);
        for _ in 1..MOST_LOOKUPS {
            if !self.look_up_again(classifier) {
                return;
            }
            self.run_groups(classifier, stages, ports);
        }
        for context in &mut self.contexts {
            if let Verdict::Goto(table) = context.verdict {
                context.verdict = end_of_goto(table, classifier).into();
            }
        }
    }

    /// Looks all packets up that have headers.
    #[inline]
    fn look_up_first(&mut self, classifier: &mut Classifier) {
        for (place, context) in self.contexts.iter().enumerate() {
            if context.verdict == Verdict::Next {
                let bytes = self.packets[place].bytes().len();
                self.outcomes[place] =
                    Some(classifier.classify(TableId::default(), &self.keys[place], bytes));
            }
        }
    }

    /// Looks the packets up that were sent to another table. Returns whether there were any.
    #[inline]
    fn look_up_again(&mut self, classifier: &mut Classifier) -> bool {
        let mut any = false;
        for place in 0..self.contexts.len() {
            let Verdict::Goto(table) = self.contexts[place].verdict else { continue };
            if !classifier.has(table) {
                self.contexts[place].verdict = DropReason::NoSuchTable.into();
                continue;
            }
            self.contexts[place].verdict = Verdict::Next;
            self.parse_again(place);
            if self.contexts[place].verdict == Verdict::Next {
                let bytes = self.packets[place].bytes().len();
                self.outcomes[place] = Some(classifier.classify(table, &self.keys[place], bytes));
                any = true;
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
        ports: &mut Ports<P, R, T>,
    ) {
        while let Some(first) = self.outcomes.iter().position(Option::is_some) {
            let program = self.gather(first, classifier);
            self.run_program(program, classifier, stages, ports);
        }
    }

    /// Makes the members those packets whose program is that of the packet at `first`.
    #[inline]
    fn gather(&mut self, first: usize, classifier: &Classifier) -> ProgramId {
        let leader = self.outcomes[first].expect("the first packet has an outcome");
        let program = classifier.program(leader);
        self.members.clear();
        for (place, outcome) in (0_u16..).zip(&mut self.outcomes).skip(first) {
            if outcome.is_some_and(|it| it == leader || classifier.program(it) == program) {
                *outcome = None;
                self.members.push(place);
            }
        }
        program
    }

    #[inline]
    fn run_program<R: Receive<P>, T: Transmit<P>>(
        &mut self,
        program: ProgramId,
        classifier: &Classifier,
        stages: &mut Stages<P>,
        ports: &mut Ports<P, R, T>,
    ) {
        let actions = classifier.actions(program);
        for (place, &action) in actions.iter().enumerate() {
            let last = place + 1 == actions.len();
            match action {
                Action::Output(port) if last => self.decide_all(Verdict::Output(port)),
                Action::Output(port) => self.copy_to(port, ports),
                Action::Drop(reason) => self.decide_all(reason.into()),
                Action::Goto(table) => self.decide_all(Verdict::Goto(table)),
                Action::Stage(id) => self.run_stage(id, classifier, stages),
                Action::Set(_) | Action::DecrementTtl | Action::PushVlan(_) | Action::PopVlan => {
                    self.change_all(action)
                }
            }
            self.keep_undecided();
        }
        self.decide_all(DropReason::NoOutput.into());
    }

    fn decide_all(&mut self, verdict: Verdict) {
        for &member in &self.members {
            self.contexts[usize::from(member)].verdict = verdict;
        }
    }

    /// The packets that an action decided on see no more of the program.
    fn keep_undecided(&mut self) {
        let contexts = &self.contexts;
        self.members.retain(|&member| contexts[usize::from(member)].verdict == Verdict::Next);
    }

    fn copy_to<R: Receive<P>, T: Transmit<P>>(&mut self, port: PortId, ports: &mut Ports<P, R, T>) {
        for index in 0..self.members.len() {
            let member = self.members[index];
            let in_port = self.contexts[usize::from(member)].in_port;
            ports.count_copy(in_port);
            if !self.copy(member, port) {
                ports.count_drop(in_port, DropReason::NoBuffer.into());
            }
        }
    }

    fn change_all(&mut self, action: Action) {
        for index in 0..self.members.len() {
            let place = usize::from(self.members[index]);
            if self.contexts[place].rewritten {
                self.parse_again(place);
            }
            let context = &mut self.contexts[place];
            if context.verdict != Verdict::Next {
                continue;
            }
            match apply(action, &mut self.packets[place], &context.headers) {
                Ok(()) => context.rewritten = action.moves_headers(),
                Err(reason) => context.verdict = reason.into(),
            }
        }
    }

    fn run_stage(&mut self, id: StageId, classifier: &Classifier, stages: &mut Stages<P>) {
        let Some(stage) = stages.get_mut(usize::from(id.0)).and_then(Option::as_mut) else {
            return self.decide_all(DropReason::NoSuchStage.into());
        };
        for index in 0..self.members.len() {
            let place = usize::from(self.members[index]);
            if self.contexts[place].rewritten {
                self.parse_again(place);
            }
            self.contexts[place].flow_hash = classifier.seed().flow(&self.keys[place]);
        }
        stage.run(&mut Batch::new(&mut self.packets, &mut self.contexts, &self.members));
    }
}

/// Why a packet that was looked up as often as may be is not looked up in a table.
fn end_of_goto(table: TableId, classifier: &Classifier) -> DropReason {
    if classifier.has(table) { DropReason::RecirculationLimit } else { DropReason::NoSuchTable }
}
