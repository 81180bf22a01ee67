//! What becomes of packets, seen from outside the worker.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::collections::BTreeMap;

use dataplane::{
    DropReason, PortId, ReasonId, Received, StageId, TableId, Tally,
    classify::{Pattern, RuleId},
    flow::FlowKey,
    packet::Buffer,
    program::{Action, Tag},
    stage::{Batch, Stage, Verdict},
    worker::{Change, Lookups, Request},
};
use support::{Rig, any, from_port, reason, rule, udp};

const A: PortId = PortId(0);
const B: PortId = PortId(1);

fn frame(port: u16) -> Vec<u8> {
    udp([10, 0, 0, 1], [10, 0, 0, 2], (port, 53), 64)
}

fn frames(count: u16) -> Vec<Vec<u8>> {
    (0..count).map(frame).collect()
}

/// Gives the verdicts in turn, each to one packet.
struct Says(Vec<Verdict>);

impl Stage<Buffer> for Says {
    fn run(&mut self, batch: &mut Batch<'_, Buffer>) {
        for index in 0..batch.len() {
            batch.get_mut(index).1.verdict = self.0.remove(0);
        }
    }
}

#[test]
fn packets_are_sent_in_order_and_counted_on_both_sides() {
    let mut rig = Rig::new(2);
    rig.rules(vec![rule(7, 1, from_port(0), &[Action::Output(B)])]);
    rig.push(A, &frames(70));
    for _ in 0..4 {
        rig.poll();
    }
    assert_eq!(rig.sent(B), frames(70));
    let bytes = 70 * frame(0).len() as u64;
    let (a, b) = (rig.counters(A), rig.counters(B));
    assert_eq!((a.rx.packets, a.rx.bytes, a.forwarded), (70, bytes, 70));
    assert_eq!((b.tx.packets, b.tx.bytes, b.rx.packets), (70, bytes, 0));
    let report = rig.report();
    assert_eq!(rig.tallies(), BTreeMap::from([(RuleId(7), Tally { packets: 70, bytes })]));
    let lookups = Lookups { exact_hits: 69, wildcard_hits: 0, misses: 1 };
    assert_eq!(report.worker.lookups, lookups);
}

#[test]
fn what_no_rule_wants_is_dropped_for_a_reason() {
    let mut rig = Rig::new(2);
    rig.push(A, &[frame(1), vec![0; 13], vec![]]);
    rig.poll();
    let expected = [(reason(DropReason::Runt), 2), (reason(DropReason::TableMiss), 1)];
    assert_eq!(rig.drops(A), BTreeMap::from(expected));
}

#[test]
fn packets_that_fit_no_buffer_are_dropped_though_no_others_come() {
    let mut rig = Rig::new(2);
    rig.rules(vec![rule(1, 1, any(), &[Action::Output(B)])]);
    rig.push_oversize(A, Received { oversize_packets: 3, oversize_bytes: 27_000 });
    rig.poll();
    let counters = rig.counters(A);
    assert_eq!(counters.rx, Tally { packets: 3, bytes: 27_000 });
    assert_eq!(rig.drops(A), BTreeMap::from([(reason(DropReason::Oversize), 3)]));
    assert_eq!(rig.report().worker.lookups, Lookups::default());
}

#[test]
fn what_the_device_does_not_take_is_dropped_on_the_port_that_it_came_by() {
    let mut rig = Rig::new(2);
    rig.rules(vec![rule(1, 1, any(), &[Action::Output(B)])]);
    rig.limit(B, 5);
    rig.push(A, &frames(32));
    rig.poll();
    assert_eq!(rig.sent(B), frames(5));
    assert_eq!(rig.drops(A), BTreeMap::from([(reason(DropReason::TransmitFull), 27)]));
    assert_eq!((rig.counters(A).forwarded, rig.counters(B).tx.packets), (5, 5));
}

#[test]
fn a_port_that_fills_inside_a_burst_takes_what_it_has_room_for_each_time() {
    let mut rig = Rig::new(2);
    rig.rules(vec![rule(1, 1, any(), &[Action::Output(B); 3])]);
    for round in 1..=2 {
        rig.limit(B, 10);
        rig.push(A, &frames(32));
        rig.poll();
        let thrice: Vec<_> = frames(32).iter().flat_map(|frame| vec![frame.clone(); 3]).collect();
        let taken: Vec<_> = thrice.chunks(32).flat_map(|batch| batch[..10].to_vec()).collect();
        assert_eq!(rig.sent(B), taken);
        let full = BTreeMap::from([(reason(DropReason::TransmitFull), round * 66)]);
        assert_eq!((rig.drops(A), rig.counters(A).forwarded), (full, round * 30));
    }
}

#[test]
fn a_packet_for_two_ports_is_copied_once() {
    let mut rig = Rig::new(3);
    rig.rules(vec![rule(1, 1, any(), &[Action::Output(B), Action::Output(PortId(2))])]);
    rig.push(A, &frames(3));
    rig.poll();
    assert_eq!((rig.sent(B), rig.sent(PortId(2))), (frames(3), frames(3)));
    let a = rig.counters(A);
    assert_eq!((a.rx.packets, a.copied, a.forwarded), (3, 3, 6));
}

#[test]
fn a_copy_does_not_overtake_what_came_before_it() {
    let mut rig = Rig::new(3);
    let marked = Pattern::new(
        &FlowKey { traffic_class: 4, ..FlowKey::default() },
        &FlowKey { traffic_class: u8::MAX, ..FlowKey::default() },
    );
    rig.rules(vec![
        rule(1, 2, marked, &[Action::Output(B), Action::Output(PortId(2))]),
        rule(2, 1, any(), &[Action::Output(B)]),
    ]);
    let mut frames = frames(3);
    frames[1][15] = 4;
    rig.push(A, &frames);
    rig.poll();
    assert_eq!((rig.sent(B), rig.sent(PortId(2))), (frames.clone(), vec![frames[1].clone()]));
}

#[test]
fn output_to_a_port_that_is_gone_is_a_drop() {
    let mut rig = Rig::new(2);
    rig.rules(vec![rule(1, 1, any(), &[Action::Output(B)])]);
    let Change::Port(_, Some(_)) = rig.change(Change::Port(B, None)) else { panic!("no queues") };
    rig.push(A, &frames(2));
    rig.poll();
    assert_eq!(rig.drops(A), BTreeMap::from([(reason(DropReason::NoSuchPort), 2)]));
}

#[test]
fn each_verdict_of_a_stage_is_carried_out() {
    let mut rig = Rig::new(3);
    let stage = Action::Stage(StageId(4));
    rig.rules(vec![
        rule(1, 1, any(), &[stage, Action::Output(B)]),
        (TableId(9), rule(2, 1, any(), &[Action::DecrementTtl, Action::Output(B)]).1),
    ]);
    rig.stage(
        4,
        Says(vec![
            Verdict::Next,
            Verdict::Drop(ReasonId(300)),
            Verdict::Output(PortId(2)),
            Verdict::Goto(TableId(9)),
            Verdict::Goto(TableId(200)),
        ]),
    );
    rig.push(A, &frames(5));
    rig.poll();
    let routed = udp([10, 0, 0, 1], [10, 0, 0, 2], (3, 53), 63);
    assert_eq!(rig.sent(B), [frame(0), routed]);
    assert_eq!(rig.sent(PortId(2)), [frame(2)]);
    let expected = [(300, 1), (reason(DropReason::NoSuchTable), 1)];
    assert_eq!(rig.drops(A), BTreeMap::from(expected));
}

#[test]
fn a_stage_that_is_not_there_drops_and_one_that_comes_is_used_from_the_next_burst_on() {
    let mut rig = Rig::new(2);
    rig.rules(vec![rule(1, 1, any(), &[Action::Stage(StageId(0)), Action::Output(B)])]);
    rig.push(A, &frames(1));
    rig.poll();
    assert_eq!(rig.drops(A), BTreeMap::from([(reason(DropReason::NoSuchStage), 1)]));
    rig.stage(0, Says(vec![Verdict::Next]));
    rig.push(A, &frames(1));
    rig.poll();
    assert_eq!(rig.sent(B), frames(1));
}

#[test]
fn a_loop_of_lookups_ends_in_a_drop_with_a_name() {
    let mut rig = Rig::new(1);
    rig.rules(vec![rule(1, 1, any(), &[Action::Stage(StageId(0))])]);
    rig.stage(0, Says(vec![Verdict::Goto(TableId(0)); 100]));
    rig.push(A, &frames(1));
    rig.poll();
    assert_eq!(rig.drops(A), BTreeMap::from([(reason(DropReason::RecirculationLimit), 1)]));
}

#[test]
fn a_tag_goes_on_and_comes_off_again() {
    let mut rig = Rig::new(2);
    let tag = Tag { tpid: 0x8100, tci: 0x6005 };
    let there_and_back = [
        Action::PushVlan(tag),
        Action::Output(B),
        Action::PopVlan,
        Action::DecrementTtl,
        Action::Output(PortId(0)),
    ];
    rig.rules(vec![rule(1, 1, any(), &there_and_back)]);
    rig.push(A, &[frame(1)]);
    rig.poll();
    let plain = frame(1);
    let tagged = [&plain[..12], &[0x81, 0, 0x60, 5], &plain[12..]].concat();
    assert_eq!(rig.sent(B), [tagged]);
    assert_eq!(rig.sent(A), [udp([10, 0, 0, 1], [10, 0, 0, 2], (1, 53), 63)]);
}

#[test]
fn headers_behind_a_third_tag_come_into_sight_when_one_is_taken_off() {
    let mut rig = Rig::new(1);
    let actions = [Action::PopVlan, Action::DecrementTtl, Action::Output(A)];
    rig.rules(vec![rule(1, 1, any(), &actions)]);
    let tags = |count, ttl| {
        let plain = udp([10, 0, 0, 1], [10, 0, 0, 2], (1, 2), ttl);
        [&plain[..12], &[0x81, 0, 0, 5].repeat(count), &plain[12..]].concat()
    };
    rig.push(A, &[tags(3, 9), tags(4, 9)]);
    rig.poll();
    assert_eq!(rig.sent(A), [tags(2, 8)]);
    assert_eq!(rig.drops(A), BTreeMap::from([(reason(DropReason::NotApplicable), 1)]));
}

#[test]
fn a_tag_for_which_there_is_no_room_drops_the_packet() {
    let mut rig = Rig::new(1);
    let push = Action::PushVlan(Tag { tpid: 0x8100, tci: 1 });
    let tags = Buffer::HEADROOM / 4;
    rig.rules(vec![rule(1, 1, any(), &[vec![push; tags], vec![Action::Output(A)]].concat())]);
    rig.push(A, &frames(1));
    rig.poll();
    assert_eq!(rig.sent(A)[0].len(), frame(0).len() + Buffer::HEADROOM);
    rig.rules(vec![rule(1, 1, any(), &[vec![push; tags + 1], vec![Action::Output(A)]].concat())]);
    rig.push(A, &frames(1));
    rig.poll();
    assert_eq!(rig.drops(A), BTreeMap::from([(reason(DropReason::NoHeadroom), 1)]));
}

#[test]
fn actions_that_do_not_apply_drop_for_that_reason() {
    let mut rig = Rig::new(1);
    rig.rules(vec![rule(1, 1, any(), &[Action::PopVlan, Action::Output(A)])]);
    rig.push(A, &[frame(1)]);
    rig.poll();
    rig.rules(vec![rule(1, 1, any(), &[Action::DecrementTtl, Action::Output(A)])]);
    rig.push(A, &[vec![0; 60], udp([1; 4], [2; 4], (1, 1), 1)]);
    rig.poll();
    let expected = [(reason(DropReason::NotApplicable), 2), (reason(DropReason::TtlExpired), 1)];
    assert_eq!(rig.drops(A), BTreeMap::from(expected));
}

#[test]
fn rule_counters_outlive_a_change_of_rules_but_not_the_rule() {
    let mut rig = Rig::new(2);
    let first = rule(1, 1, from_port(0), &[Action::Output(B)]);
    rig.rules(vec![first.clone()]);
    rig.push(A, &frames(3));
    rig.poll();
    rig.rules(vec![first, rule(2, 0, any(), &[])]);
    rig.push(A, &frames(2));
    rig.poll();
    let counted = Tally { packets: 5, bytes: 5 * frame(0).len() as u64 };
    assert_eq!(rig.tallies(), BTreeMap::from([(RuleId(1), counted)]));
    rig.rules(vec![]);
    assert_eq!(rig.tallies(), BTreeMap::new());
}

#[test]
fn port_counters_outlive_other_queues_but_not_the_port() {
    let mut rig = Rig::new(1);
    rig.push(A, &frames(3));
    rig.poll();
    let Change::Port(_, queues) = rig.change(Change::Port(A, Some(rig.queues(A)))) else {
        unreachable!("a change comes back as what it is")
    };
    assert_eq!(rig.drops(A), BTreeMap::from([(reason(DropReason::TableMiss), 3)]));
    rig.change(Change::Port(A, None));
    rig.change(Change::Port(A, queues));
    assert_eq!(rig.drops(A), BTreeMap::new());
}

#[test]
fn a_reason_out_of_range_is_a_bad_verdict() {
    let mut rig = Rig::new(1);
    rig.rules(vec![rule(1, 1, any(), &[Action::Stage(StageId(0))])]);
    let limit = u16::try_from(ReasonId::LIMIT).unwrap();
    rig.stage(0, Says([limit - 1, limit].map(|it| Verdict::Drop(ReasonId(it))).to_vec()));
    rig.push(A, &frames(2));
    rig.poll();
    let expected = [(limit - 1, 1), (reason(DropReason::BadVerdict), 1)];
    assert_eq!(rig.drops(A), BTreeMap::from(expected));
}

#[test]
fn a_configuration_comes_back_as_the_one_before() {
    let mut rig = Rig::new(0);
    let ask = |rig: &mut Rig, revision| match rig
        .ask(Request::Configure { revision, changes: Vec::new() })
    {
        Request::Configure { revision, .. } => revision,
        _ => unreachable!("a request comes back as what it is"),
    };
    assert_eq!((ask(&mut rig, 8), ask(&mut rig, 9)), (0, 8));
    assert_eq!(rig.report().revision, 9);
}

#[test]
fn a_stopped_worker_says_so_and_does_no_more() {
    let mut rig = Rig::new(1);
    assert!(rig.poll());
    assert!(matches!(rig.ask(Request::Stop), Request::Stop));
    rig.push(A, &frames(1));
}

#[test]
fn time_is_counted_as_busy_or_idle() {
    let mut rig = Rig::new(1);
    rig.push(A, &frames(1));
    for _ in 0..3 {
        rig.poll();
    }
    let work = rig.report().worker;
    assert_eq!((work.busy_iterations, work.busy_cycles, work.longest_iteration), (1, 100, 100));
    assert_eq!(work.iterations * 100, work.busy_cycles + work.idle_cycles);
}

#[test]
fn a_port_of_new_flows_leaves_most_of_a_busy_worker_to_the_others() {
    let mut rig = Rig::new(3);
    let exact = FlowKey { l4_src: u16::MAX, ipv4_src: [255; 4], ..FlowKey::NONE };
    let nobody = FlowKey { ipv4_src: [1; 4], ..FlowKey::NONE };
    rig.rules(vec![rule(1, 1, Pattern::new(&nobody, &exact), &[]), rule(2, 0, any(), &[])]);
    let new = |n: u16| udp([10, 1, 1, 1], [10, 0, 0, 2], (n, 53), 64);
    rig.push(A, &(0..3200).map(new).collect::<Vec<_>>());
    rig.push(B, &vec![frame(2); 12_800]);
    // A round with a burst of new flows takes ten times as long.
    while rig.waiting(B) > 0 {
        let before = rig.waiting(A);
        rig.poll();
        rig.now += if rig.waiting(A) < before { 900 } else { 0 };
    }
    assert!(rig.report().worker.deferred_polls > 300);
    assert!((900..1200).contains(&rig.waiting(A)), "{} wait", rig.waiting(A));
    while rig.counters(A).rx.packets < 3200 {
        assert!(rig.poll(), "an idle worker has time for them");
    }
}
