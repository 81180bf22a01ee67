//! What would become of a packet: the engine's own tables and actions, run over a copy of it here.

use std::ops::ControlFlow;

use api_model::{
    Action as Written, Code, Decision, ExplainRequest, ExplainStep, Explanation, Fields, Invalid,
    TableNumber, TableSpec,
};
use dataplane::{
    DropReason, GroupId, PortId, StageId, TableId,
    classify::{Classification, Step},
    flow::FlowKey,
    packet::{Buffer, Packet, Parsed, parse},
    program::{Action, apply},
    switching::Station,
    worker::MOST_LOOKUPS,
};

use super::{
    Daemon,
    refusal::{self, Answer},
    state::{RuleKey, State},
};
use crate::describe::{self, Directory};

impl Daemon {
    /// Follows a packet through the tables, up to the first stage.
    pub(super) fn explain_packet(&self, request: &ExplainRequest) -> Answer<Explanation> {
        let state = self.state();
        let port = state.ports.get(&request.in_port).ok_or_else(|| {
            let reason = format!("there is no port {}", request.in_port);
            refusal::invalid(Code::ExplainInvalid, Invalid::at(&["in_port"], reason))
        })?;
        let mut walk = Walk::new(&state, port.id, request.packet.as_bytes());
        let key = walk.key();
        let end = walk.run(TableId(request.table.get()));
        Ok(walk.explanation(key, &end))
    }
}

/// A packet on its way.
struct Walk<'a> {
    state: &'a State,
    directory: Directory,
    in_port: PortId,
    packet: Buffer,
    /// What its headers say, if it is long enough for any.
    parsed: Option<Parsed>,
    metadata: u64,
    /// The ports that copies left by.
    copies: Vec<PortId>,
    steps: Vec<ExplainStep>,
    lines: Vec<String>,
}

/// How a packet ends.
#[derive(Debug)]
enum End {
    Sent(PortId),
    Dropped(DropReason),
    /// A stage decides, and what is done if it lets the packet go on.
    Decided(StageId, Vec<Action>),
    /// What comes next hangs on what a classifier says of it.
    Classified(StageId),
    /// The buckets of a group go on with it.
    Shared(GroupId),
}

/// Whether a packet goes on to another table, or ends.
type Turn = ControlFlow<End, TableId>;

impl<'a> Walk<'a> {
    fn new(state: &'a State, in_port: PortId, frame: &[u8]) -> Self {
        Self {
            state,
            directory: state.directory(),
            in_port,
            packet: Buffer::new(frame),
            parsed: parse(in_port, frame),
            metadata: 0,
            copies: Vec::new(),
            steps: Vec::new(),
            lines: Vec::new(),
        }
    }

    fn key(&self) -> Fields {
        if let Some(parsed) = &self.parsed {
            return describe::packet(&parsed.key, &self.directory);
        }
        let bare = FlowKey { in_port: self.in_port.0, ..FlowKey::NONE };
        let mask = FlowKey { in_port: u16::MAX, ..FlowKey::NONE };
        describe::matched(&bare, &mask, &self.directory)
    }

    /// Looks it up, and again where the actions say so, as often as the engine does.
    fn run(&mut self, first: TableId) -> End {
        let mut table = first;
        for _ in 0..MOST_LOOKUPS {
            match self.look_up(table) {
                Turn::Break(end) => return end,
                Turn::Continue(next) if !self.state.tables.has(next) => {
                    return End::Dropped(DropReason::NoSuchTable);
                }
                Turn::Continue(next) => {
                    self.lines.push(format!("so changed, it is looked up in table {}", next.0));
                    table = next;
                }
            }
        }
        End::Dropped(DropReason::RecirculationLimit)
    }

    fn look_up(&mut self, table: TableId) -> Turn {
        let Some(parsed) = self.parsed else { return Turn::Break(DropReason::Runt.into()) };
        let key = FlowKey { table: table.0.into(), metadata: self.metadata, ..parsed.key };
        let of_each = self.state.tables.classification(table).filter(|it| it.payload);
        if let Some(Classification { stage, .. }) = of_each {
            return Turn::Break(End::Classified(stage));
        }
        let mut asked = None;
        let steps = self.state.tables.explain(table, &key, &mut |stage, _| {
            asked = Some(stage);
            None
        });
        steps.iter().for_each(|step| self.note(step, &key));
        let actions: Vec<Action> = steps.into_iter().flat_map(|step| step.actions).collect();
        let turn = self.act(&actions);
        asked.map_or(turn, |stage| Turn::Break(End::Classified(stage)))
    }

    /// Does to the packet what the engine would.
    fn act(&mut self, actions: &[Action]) -> Turn {
        for (place, &action) in actions.iter().enumerate() {
            let rest = &actions[place + 1..];
            match action {
                Action::Output(port) if rest.is_empty() => return Turn::Break(End::Sent(port)),
                Action::Output(port) | Action::Mirror(port) => self.copies.push(port),
                Action::Sample { rate, port } => {
                    let port = self.directory.port(port);
                    self.lines.push(format!("a copy of one packet in {rate} leaves by {port}"));
                }
                Action::Normal | Action::Flood => {
                    if let Some(end) = self.switch(action, rest.is_empty()) {
                        return Turn::Break(end);
                    }
                }
                Action::Meter(id) => {
                    let meter = self.directory.meter(id);
                    self.lines
                        .push(format!("meter {meter} may mark or drop it; say that it passes"));
                }
                Action::Group(id) if rest.is_empty() => return Turn::Break(End::Shared(id)),
                Action::Group(id) => {
                    let group = self.directory.group(id);
                    self.lines.push(format!("group {group} does with copies what its buckets say"));
                }
                Action::Drop(reason) => return Turn::Break(reason.into()),
                Action::Goto(table) => return Turn::Continue(table),
                Action::Stage(stage) => return Turn::Break(End::Decided(stage, rest.to_vec())),
                change => {
                    if let Err(reason) = self.change(change) {
                        return Turn::Break(reason.into());
                    }
                }
            }
        }
        Turn::Break(DropReason::NoOutput.into())
    }

    /// Sends it where a switch would. Returns its end if nothing follows and there is one.
    fn switch(&mut self, action: Action, last: bool) -> Option<End> {
        let known = if action == Action::Normal { self.known_port() } else { Ok(None) };
        let mut ports: Vec<PortId> = match known {
            Err(reason) => return last.then_some(End::Dropped(reason)),
            Ok(Some(port)) => vec![port],
            Ok(None) => {
                let ids = self.state.ports.values().map(|entry| entry.id);
                ids.filter(|id| *id != self.in_port).collect()
            }
        };
        ports.sort_unstable();
        let end = if last { ports.pop().map(End::Sent) } else { None };
        self.copies.append(&mut ports);
        end
    }

    /// The port that the packet's destination was last seen on, if it is known.
    fn known_port(&self) -> Result<Option<PortId>, DropReason> {
        let (frame, tags) =
            (self.packet.bytes(), self.parsed.map_or(0, |parsed| parsed.headers.vlan_tags));
        let Some(station) = Station::destination(frame, tags) else { return Ok(None) };
        if station.is_reserved() {
            return Err(DropReason::ReservedAddress);
        }
        let Some((_, table)) = &self.state.addresses else { return Ok(None) };
        match table.port_of(station, dpdk::tsc()) {
            Some(port) if port == self.in_port => Err(DropReason::SamePort),
            known => Ok(known),
        }
    }

    fn change(&mut self, action: Action) -> Result<(), DropReason> {
        let headers = self.parsed.ok_or(DropReason::Runt)?.headers;
        apply(action, &mut self.packet, &headers, &mut self.metadata)?;
        self.parsed = parse(self.in_port, self.packet.bytes());
        Ok(())
    }

    /// Writes down what one table said.
    fn note(&mut self, step: &Step, key: &FlowKey) {
        let table = TableNumber::new(step.table.0).unwrap_or_default();
        let rule = step.rule.and_then(|(id, _)| self.state.rule_keys.get(&id));
        let actions = self.said(table, rule);
        let said = describe::words(&actions);
        let alike = describe::matched(&(key & &step.seen), &step.seen, &self.directory);
        let who = match (rule, step.rule) {
            (Some((_, name)), Some((_, priority))) => {
                format!("rule {name} of priority {priority} says")
            }
            _ => "no rule matches, and the table's miss says".to_owned(),
        };
        self.lines.push(format!("table {table}: {who} {said}; the same for all with {alike}"));
        self.steps.push(ExplainStep {
            table,
            rule: rule.map(|(_, name)| name.clone()),
            priority: step.rule.map(|(_, priority)| priority),
            actions,
            looked_at: describe::looked_at(key, &step.seen),
        });
    }

    /// The actions of a rule, or of a table's miss, as the client wrote them.
    fn said(&self, table: TableNumber, rule: Option<&RuleKey>) -> Vec<Written> {
        match rule.and_then(|key| self.state.rules.get(key)) {
            Some(entry) => entry.spec.read().actions,
            None => self
                .state
                .misses
                .get(&table)
                .map_or_else(|| TableSpec::default().miss, |spec| spec.miss.clone()),
        }
    }

    fn explanation(mut self, key: Fields, end: &End) -> Explanation {
        for port in &self.copies {
            self.lines.push(format!("a copy leaves by {}", self.directory.port(*port)));
        }
        let (decision, last) = match end {
            End::Sent(port) => {
                (Decision::Output, format!("it leaves by {}", self.directory.port(*port)))
            }
            End::Decided(stage, rest) => (Decision::Stage, self.decided(*stage, rest)),
            End::Classified(stage) => {
                let stage = self.directory.stage(*stage);
                let text =
                    format!("what comes next hangs on what the classifier {stage} says of it");
                (Decision::Stage, text)
            }
            End::Shared(group) => {
                let group = self.directory.group(*group);
                (Decision::Output, format!("it goes on as group {group} says"))
            }
            End::Dropped(reason) if self.copies.is_empty() => (Decision::Drop, dropped(*reason)),
            End::Dropped(reason) => (Decision::Output, dropped(*reason)),
        };
        self.lines.push(last);
        Explanation { key, steps: self.steps, decision, text: self.lines.join("\n") }
    }

    fn decided(&self, stage: StageId, rest: &[Action]) -> String {
        let stage = self.directory.stage(stage);
        match describe::actions(rest, &self.directory) {
            Some(rest) if !rest.is_empty() => {
                format!("stage {stage} decides; what it lets go on: {}", describe::words(&rest))
            }
            _ => format!("stage {stage} decides; what it lets go on is dropped: no-output"),
        }
    }
}

impl From<DropReason> for End {
    fn from(reason: DropReason) -> Self {
        Self::Dropped(reason)
    }
}

fn dropped(reason: DropReason) -> String {
    format!("it is dropped: {}", reason.name())
}
