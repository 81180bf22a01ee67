//! Packets that stages make: where they go, in which order, and that all of them are counted.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::collections::BTreeMap;

use dataplane::{
    DropReason, PortId, StageId, TableId,
    classify::Pattern,
    flow::FlowKey,
    packet::Buffer,
    program::Action,
    stage::{Batch, Destination, Stage, Verdict},
};
use support::{Rig, any, new_rule, reason, rule, udp};

const A: PortId = PortId(0);
const B: PortId = PortId(1);
const METADATA: u64 = 77;

fn frame(port: u16) -> Vec<u8> {
    udp([10, 0, 0, 1], [10, 0, 0, 2], (port, 53), 64)
}

/// Makes so many packets for each that it sees, all to one place, and passes those on.
struct Makes(usize, Destination);

impl Stage<Buffer> for Makes {
    fn run(&mut self, batch: &mut Batch<'_, Buffer>) {
        for index in 0..batch.len() {
            for turn in 0..self.0 {
                let packet = Buffer::new(&frame(1000 + u16::try_from(turn).unwrap()));
                // What finds no room is gone.
                drop(batch.emit(index, self.1, METADATA, packet));
            }
            batch.get_mut(index).1.verdict = Verdict::Next;
        }
    }
}

fn rig(stage: Makes) -> Rig {
    let mut rig = Rig::new(2);
    rig.stage(0, stage);
    rig.rules(vec![rule(1, 1, any(), &[Action::Stage(StageId(0)), Action::Output(B)])]);
    rig
}

#[test]
fn what_is_sent_by_a_port_leaves_before_its_packet_and_behind_those_before() {
    let mut rig = rig(Makes(2, Destination::Output(B)));
    rig.push(A, &[frame(1), frame(2)]);
    rig.poll();
    let expected = [1000, 1001, 1, 1000, 1001, 2].map(frame);
    assert_eq!(rig.sent(B), expected);
    let counters = rig.counters(A);
    assert_eq!((counters.rx.packets, counters.copied, counters.forwarded), (2, 4, 6));
}

#[test]
fn what_is_sent_to_a_table_is_looked_up_there_with_its_metadata() {
    let mut rig = Rig::new(2);
    rig.stage(0, Makes(1, Destination::Goto(TableId(5))));
    let marked = FlowKey { metadata: METADATA, ..FlowKey::default() };
    let all = FlowKey { metadata: u64::MAX, ..FlowKey::default() };
    let marked = new_rule(2, 1, vec![Pattern::new(&marked, &all)], vec![Action::Output(B)]);
    rig.rules(vec![
        rule(1, 1, any(), &[Action::Stage(StageId(0)), Action::Drop(DropReason::NoOutput)]),
        (TableId(5), marked),
    ]);
    rig.push(A, &[frame(1), frame(2)]);
    rig.poll();
    assert_eq!(rig.sent(B), [1000, 1000].map(frame));
    let counters = rig.counters(A);
    assert_eq!((counters.rx.packets, counters.copied, counters.forwarded), (2, 2, 2));
}

#[test]
fn what_finds_no_port_or_table_is_dropped_and_counted() {
    for (to, why) in [
        (Destination::Output(PortId(9)), DropReason::NoSuchPort),
        (Destination::Goto(TableId(9)), DropReason::NoSuchTable),
    ] {
        let mut rig = rig(Makes(1, to));
        rig.push(A, &[frame(1)]);
        rig.poll();
        rig.poll();
        assert_eq!(rig.sent(B), [frame(1)]);
        assert_eq!(rig.drops(A), BTreeMap::from([(reason(why), 1)]), "{to:?}");
    }
}

#[test]
fn a_stage_that_feeds_itself_is_held_to_a_bound_and_others_still_have_their_turn() {
    let mut rig = rig(Makes(20, Destination::Goto(TableId(0))));
    rig.push(A, &[frame(1)]);
    for _ in 0..50 {
        assert!(rig.poll());
    }
    rig.push(A, &[frame(2)]);
    rig.poll();
    assert!(rig.sent(B).contains(&frame(2)));
    let drops = rig.drops(A);
    let limit = reason(DropReason::RecirculationLimit);
    assert_eq!(drops.keys().copied().collect::<Vec<_>>(), [limit]);
}
