//! The flows that a worker remembers, seen from outside.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use dataplane::{
    DropReason, PortId, TableId,
    classify::{Pattern, Rule, RuleId},
    flow::{FlowKey, layers},
    program::Action,
    worker::{FlowCounters, Settings},
};
use support::{Rig, any, new_rule, reason, rule, settings, udp};

const A: PortId = PortId(0);
const B: PortId = PortId(1);
const OUT: Action = Action::Output(B);

fn to_port(port: u16) -> Pattern {
    let value = FlowKey { protocol: 17, l4_dst: port, layers: layers::TRANSPORT, ..FlowKey::NONE };
    let mask =
        FlowKey { protocol: u8::MAX, l4_dst: u16::MAX, layers: layers::TRANSPORT, ..FlowKey::NONE };
    Pattern::new(&value, &mask)
}

fn from_network(address: [u8; 4], mask: [u8; 4]) -> Pattern {
    let value = FlowKey { ipv4_src: address, ..FlowKey::NONE };
    Pattern::new(&value, &FlowKey { ipv4_src: mask, ..FlowKey::NONE })
}

/// A packet of one of 65,536 sources to a port.
fn packet(source: u16, port: u16) -> Vec<u8> {
    let [high, low] = source.to_be_bytes();
    udp([10, 0, high, low], [10, 9, 9, 9], (1024, port), 64)
}

fn poll_all(rig: &mut Rig, frames: &[Vec<u8>]) {
    for burst in frames.chunks(32) {
        rig.push(A, burst);
        rig.poll();
    }
    assert_eq!(rig.counters(A).rx.packets - rig.counters(A).forwarded, dropped(rig));
}

fn dropped(rig: &mut Rig) -> u64 {
    rig.drops(A).values().sum()
}

fn counters(rig: &mut Rig) -> FlowCounters {
    rig.report().worker.flows
}

/// Every source has a rule of its own, so every source has a flow of its own.
fn a_rule_a_source(sources: u16) -> Vec<(TableId, Rule)> {
    let rule = |source: u16| {
        let [high, low] = source.to_be_bytes();
        rule(source.into(), 1, from_network([10, 0, high, low], [255; 4]), &[OUT])
    };
    (0..sources).map(rule).collect()
}

#[test]
fn a_scan_of_ports_makes_few_flows_whose_packets_add_up() {
    let mut rig = Rig::new(2);
    rig.rules(vec![
        rule(1, 2, to_port(80), &[OUT]),
        rule(2, 2, to_port(443), &[OUT]),
        rule(3, 1, any(), &[]),
    ]);
    let scan: Vec<Vec<u8>> = (0..20_000).map(|port| packet(1, port)).collect();
    poll_all(&mut rig, &scan);
    assert_eq!(rig.drops(A), [(reason(DropReason::RuleDrop), 19_998)].into());
    let flows = rig.flows();
    assert!(flows.len() <= 120, "a prefix of the port each, not {} flows", flows.len());
    assert_eq!(flows.iter().map(|flow| flow.tally.packets).sum::<u64>(), 20_000);
    let bytes = flows.iter().map(|flow| flow.tally.bytes).sum::<u64>();
    assert_eq!(bytes, rig.counters(A).rx.bytes);
    let web = flows.iter().find(|flow| flow.rules == [RuleId(1)]).unwrap();
    assert_eq!((web.tally.packets, web.key.l4_dst, web.mask.l4_dst), (1, 80, u16::MAX));
    assert_eq!(web.mask.ipv4_src, [0; 4], "no rule asks for it");
}

#[test]
fn what_no_lookup_needed_stays_wildcarded() {
    let mut rig = Rig::new(2);
    rig.rules(vec![
        rule(1, 2, from_network([192, 168, 0, 0], [255, 255, 0, 0]), &[OUT]),
        rule(2, 1, to_port(80), &[OUT]),
    ]);
    let many: Vec<Vec<u8>> = (0..1000).map(|source| packet(source, 80)).collect();
    poll_all(&mut rig, &many);
    let flows = rig.flows();
    assert_eq!(flows.len(), 1);
    assert_eq!(flows[0].mask.ipv4_src, [0xf0, 0, 0, 0], "0.0.0.0/4 has nothing of 192.168.0.0/16");
}

#[test]
fn flows_go_when_their_time_is_over_and_others_stay() {
    let idle = Settings { idle: 100_000, ..settings() };
    let mut rig = Rig::with(idle, 2);
    rig.rules(a_rule_a_source(3));
    poll_all(&mut rig, &[packet(0, 1), packet(1, 1)]);
    while rig.now < 300_000 {
        rig.push(A, &[packet(1, 1)]);
        rig.poll();
    }
    let flows = rig.flows();
    assert_eq!(flows.iter().map(|flow| flow.rules.clone()).collect::<Vec<_>>(), [[RuleId(1)]]);
    let counted = counters(&mut rig);
    assert_eq!((counted.installed, counted.expired, counted.evicted), (2, 1, 0));

    let mut rig = Rig::with(Settings { hard: 50_000, ..idle }, 2);
    rig.rules(a_rule_a_source(3));
    while rig.now < 300_000 {
        rig.push(A, &[packet(1, 1)]);
        rig.poll();
    }
    let expired = counters(&mut rig).expired;
    assert!((3..=6).contains(&expired), "a hard end comes to busy flows too: {expired}");
}

#[test]
fn there_are_no_more_flows_than_the_limit_and_each_that_goes_is_counted() {
    let few = Settings { flow_limit: 50, exact_entries: 1024, ..settings() };
    let mut rig = Rig::with(few, 2);
    rig.rules(a_rule_a_source(2000));
    let often: Vec<Vec<u8>> = (0..8).map(|source| packet(source, 1)).collect();
    for source in 8..2000 {
        poll_all(&mut rig, &often);
        poll_all(&mut rig, &[packet(source, 1)]);
    }
    let counted = counters(&mut rig);
    assert_eq!((counted.flows, rig.flows().len()), (50, 50));
    assert_eq!(counted.installed, counted.evicted + counted.flows);
    assert_eq!(rig.counters(A).forwarded, rig.counters(A).rx.packets);
    let kept = rig.flows().iter().filter(|flow| flow.rules[0] < RuleId(8)).count();
    assert_eq!(kept, 8, "those that are used stay");
}

#[test]
fn a_change_of_rules_touches_the_flows_that_it_is_about_and_no_others() {
    let mut rig = Rig::new(2);
    let mut rules = a_rule_a_source(20);
    rig.rules(rules.clone());
    let all: Vec<Vec<u8>> = (0..20).map(|source| packet(source, 1)).collect();
    poll_all(&mut rig, &all);
    let before = rig.flows();
    rules[7].1 = new_rule(7, 1, rules[7].1.patterns.clone(), vec![]);
    rig.rules(rules.clone());
    let after = rig.flows();
    assert_eq!(counters(&mut rig).revised, 1);
    for (before, after) in before.iter().zip(&after) {
        let same = before.rules != [RuleId(7)];
        assert_eq!(*before.actions == *after.actions, same);
        assert_eq!((before.key, before.tally), (after.key, after.tally), "counters go on");
    }
    rules.remove(3);
    rig.rules(rules);
    assert_eq!(counters(&mut rig).revised, 2);
    poll_all(&mut rig, &all);
    let drops = [(reason(DropReason::TableMiss), 1), (reason(DropReason::RuleDrop), 1)];
    assert_eq!(rig.drops(A), drops.into());
}

#[test]
fn rules_that_need_a_thousand_masks_get_no_more_than_the_limit() {
    let mut rig = Rig::with(Settings { flow_limit: 10_000, ..settings() }, 2);
    // Of a packet whose sender has a bit, the same bit of its port is looked at too: a mask for each
    // set of bits.
    let bit = |bit: u16| {
        let [high, low] = bit.to_be_bytes();
        let eth_src = [0, 0, 0, 0, high, low];
        let mask = FlowKey { eth_src, l4_src: bit, ..FlowKey::NONE };
        rule(bit.into(), 2, Pattern::new(&mask, &mask), &[])
    };
    let mut rules: Vec<(TableId, Rule)> = (0..10).map(|place| bit(1 << place)).collect();
    rules.push(rule(5000, 1, any(), &[OUT]));
    rig.rules(rules);
    let packet = |sender: u16| {
        let mut packet = udp([10, 0, 0, 1], [10, 9, 9, 9], (0, 53), 64);
        packet[10..12].copy_from_slice(&sender.to_be_bytes());
        packet
    };
    let all: Vec<Vec<u8>> = (0..1024).map(packet).collect();
    poll_all(&mut rig, &all);
    poll_all(&mut rig, &all);
    let counted = counters(&mut rig);
    assert!(counted.masks <= 65 && counted.mask_limit_hits > 500, "{counted:?}");
    assert_eq!(rig.counters(A).forwarded, 2048);
}

#[test]
fn flows_that_all_collide_are_slow_and_nothing_else() {
    let tiny = Settings { flow_limit: 4, exact_entries: 8, ..settings() };
    let mut rig = Rig::with(tiny, 2);
    rig.rules(a_rule_a_source(500));
    let all: Vec<Vec<u8>> = (0..500).map(|source| packet(source, 1)).collect();
    for _ in 0..4 {
        poll_all(&mut rig, &all);
    }
    assert_eq!(rig.counters(A).forwarded, 2000);
    let tallies = rig.tallies();
    assert!(tallies.values().all(|tally| tally.packets == 4) && tallies.len() == 500);
    let counted = counters(&mut rig);
    assert_eq!((counted.flows, counted.installed), (4, counted.evicted + 4));
}

#[test]
fn a_flow_that_gives_way_within_a_burst_still_decides_on_its_packets_there() {
    let one = Settings { flow_limit: 1, exact_entries: 8, ..settings() };
    let mut rig = Rig::with(one, 4);
    let mut rules = a_rule_a_source(3);
    for ((_, rule), port) in rules.iter_mut().zip(1..) {
        rule.actions = vec![Action::DecrementTtl, Action::Output(PortId(port))];
    }
    rig.rules(rules);
    for _ in 0..2 {
        poll_all(&mut rig, &[packet(0, 1), packet(1, 1), packet(0, 2), packet(2, 1)]);
        let sent: Vec<usize> = (1..4).map(|port| rig.sent(PortId(port)).len()).collect();
        assert_eq!(sent, [2, 1, 1]);
    }
}

#[test]
fn a_table_that_comes_or_goes_is_met_by_flows_that_its_rules_are_not_about() {
    let mut rig = Rig::new(2);
    let ttl = |ttl| {
        let of = |ttl| FlowKey { ttl, ..FlowKey::NONE };
        Pattern::new(&of(ttl), &of(u8::MAX))
    };
    let onwards = rule(1, 2, ttl(64), &[Action::DecrementTtl, Action::Goto(TableId(5))]);
    let straight = rule(2, 1, any(), &[Action::Goto(TableId(5))]);
    // It is about neither packet as it comes.
    let (_, later) = rule(3, 1, ttl(63), &[OUT]);
    let first = vec![onwards, straight];
    let second = [first.clone(), vec![(TableId(5), later)]].concat();
    let seen = |rig: &mut Rig| {
        poll_all(rig, &[64, 9].map(|ttl| udp([10; 4], [10; 4], (1, 2), ttl)));
        let drops = [DropReason::NoSuchTable, DropReason::TableMiss].map(reason);
        let counted = rig.drops(A);
        (rig.sent(B).len(), drops.map(|reason| counted.get(&reason).copied().unwrap_or(0)))
    };
    rig.rules(first.clone());
    assert_eq!(seen(&mut rig), (0, [2, 0]));
    rig.rules(second);
    assert_eq!(seen(&mut rig), (1, [2, 1]));
    rig.rules(first);
    assert_eq!(seen(&mut rig), (0, [4, 1]));
}

#[test]
fn packets_that_wait_do_not_wait_for_many_flows_to_be_revised() {
    let mut rig = Rig::new(2);
    rig.rules(a_rule_a_source(150));
    let all: Vec<Vec<u8>> = (0..150).map(|source| packet(source, 1)).collect();
    poll_all(&mut rig, &all);
    (0..100).for_each(|_| rig.push(A, &vec![packet(0, 1); 32]));
    let began = rig.now;
    rig.rules(vec![]);
    assert_eq!(counters(&mut rig).revised, 150);
    let rounds = (rig.now - began) / 100;
    assert!((100 + 50 / 4..150).contains(&rounds), "one in a full round, else a few: {rounds}");
}
