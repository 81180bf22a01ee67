//! Where packets go beside a single port, and what meters and groups do to bursts.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::{collections::HashMap, sync::Arc};

use dataplane::{
    DropReason, GroupId, Links, MeterId, PortId, SharedTally, Tally,
    flow::Seed,
    group::{Bucket, Group, Kind},
    meter::{Algorithm, Color, Meter, Rate, Settings, Treatment, Unit},
    program::{Action, SetField},
    switching::MacTable,
    worker::Change,
};
use proptest::{collection::vec, prelude::*};
use support::{Rig, any, frames, reason, rule, udp};

const PORTS: u16 = 4;

/// A worker with some ports whose rule for all packets has these actions.
fn rig(actions: &[Action]) -> Rig {
    let mut rig = Rig::new(PORTS);
    rig.rules(vec![rule(1, 1, any(), actions)]);
    rig
}

fn learning(actions: &[Action]) -> (Rig, Arc<MacTable>) {
    let table = Arc::new(MacTable::new(64, u64::MAX >> 1, Seed(1)));
    let mut rig = rig(actions);
    rig.change(Change::Addresses(Some(Arc::clone(&table))));
    (rig, table)
}

/// A frame between stations, in a VLAN unless it is 0.
fn frame(vlan: u16, source: u8, destination: [u8; 6]) -> Vec<u8> {
    let tags = [[0x8100, vlan]];
    let mut frame = frames::ethernet(&tags[..usize::from(vlan > 0)], 0x88b5, &[source; 50]);
    frame[..6].copy_from_slice(&destination);
    frame[6..12].copy_from_slice(&station(source));
    frame
}

fn station(number: u8) -> [u8; 6] {
    [2, 0, 0, 0, 0, number]
}

/// The ports that a frame leaves by.
fn ways(rig: &mut Rig, from: PortId, frame: &[u8]) -> Vec<u16> {
    rig.push(from, &[frame.to_vec()]);
    rig.poll();
    let sent = |id: &u16| {
        let sent = rig.sent(PortId(*id));
        assert!(sent.iter().all(|sent| sent == frame));
        sent.len() == 1
    };
    (0..PORTS).filter(sent).collect()
}

proptest! {
    #![proptest_config(support::tries(300))]

    #[test]
    fn normal_does_what_a_switch_with_a_perfect_memory_does(
        frames in vec((0_u16..4, 0_u16..2, 0_u8..6, 0_u8..7), 1..60),
    ) {
        let (mut rig, _) = learning(&[Action::Normal]);
        let mut known: HashMap<(u16, [u8; 6]), u16> = HashMap::new();
        for (from, vlan, source, destination) in frames {
            let destination = if destination == 6 { [0xff; 6] } else { station(destination) };
            known.insert((vlan, station(source)), from);
            let expected = match known.get(&(vlan, destination)) {
                Some(port) if *port == from => vec![],
                Some(port) => vec![*port],
                None => (0..PORTS).filter(|port| *port != from).collect(),
            };
            let sent = ways(&mut rig, PortId(from), &frame(vlan, source, destination));
            prop_assert_eq!(sent, expected);
        }
    }
}

#[test]
fn a_switch_forwards_neither_to_where_a_packet_came_from_nor_to_reserved_addresses() {
    let (mut rig, table) = learning(&[Action::Normal]);
    assert_eq!(ways(&mut rig, PortId(0), &frame(0, 1, station(2))), [1, 2, 3]);
    assert_eq!(ways(&mut rig, PortId(0), &frame(0, 2, station(1))), []);
    for last in [0x00, 0x02, 0x0f] {
        let reserved = [0x01, 0x80, 0xc2, 0, 0, last];
        assert_eq!(ways(&mut rig, PortId(1), &frame(0, 3, reserved)), []);
    }
    assert_eq!(ways(&mut rig, PortId(1), &frame(0, 3, [0x01, 0x80, 0xc2, 0, 0, 0x10])), [0, 2, 3]);
    assert_eq!(rig.drops(PortId(0)), [(reason(DropReason::SamePort), 1)].into());
    assert_eq!(rig.drops(PortId(1)), [(reason(DropReason::ReservedAddress), 3)].into());
    assert_eq!(table.stations(0).len(), 3);
}

#[test]
fn what_follows_a_switch_or_a_flood_sees_the_packet_too() {
    for first in [Action::Normal, Action::Flood] {
        let (mut rig, _) = learning(&[first, Action::Output(PortId(1))]);
        assert_eq!(ways(&mut rig, PortId(1), &frame(0, 1, station(9))), [0, 1, 2, 3]);
        let counters = rig.counters(PortId(1));
        assert_eq!((counters.copied, counters.forwarded), (3, 4));
    }
}

#[test]
fn a_mirror_is_no_way_out() {
    let mut rig = rig(&[Action::Mirror(PortId(3))]);
    assert_eq!(ways(&mut rig, PortId(1), &frame(0, 1, station(9))), [3]);
    let counters = rig.counters(PortId(1));
    assert_eq!((counters.copied, counters.mirrored, counters.forwarded), (1, 1, 1));
    assert_eq!(rig.drops(PortId(1)), [(reason(DropReason::NoOutput), 1)].into());
}

#[test]
fn a_sample_is_about_as_large_as_was_asked_for() {
    let actions = [Action::Sample { rate: 10, port: PortId(2) }, Action::Output(PortId(1))];
    let mut rig = rig(&actions);
    let packets: Vec<Vec<u8>> = vec![frame(0, 1, station(9)); 32];
    for _ in 0..1000 {
        rig.push(PortId(0), &packets);
        rig.poll();
    }
    let sampled = rig.sent(PortId(2)).len();
    assert!((2900..3500).contains(&sampled), "{sampled} of 32000");
    assert_eq!(rig.counters(PortId(0)).mirrored, sampled as u64);
    assert_eq!(rig.sent(PortId(1)).len(), 32_000);
}

/// A meter whose bursts are all that ever passes, in packets.
fn meter(committed: u64, second: u64, yellow: Treatment) -> Arc<Meter> {
    Arc::new(Meter::new(settings(committed, second, yellow), 1))
}

fn settings(committed: u64, second: u64, yellow: Treatment) -> Settings {
    let rate = |burst| Rate { per_second: 0, burst };
    Settings {
        algorithm: Algorithm::SingleRate,
        unit: Unit::Packets,
        committed: rate(committed),
        second: rate(second),
        yellow,
        red: Treatment::Drop,
        ticks: 1_000_000,
    }
}

#[test]
fn a_meter_judges_packets_in_order_and_counts_each_colour() {
    let mut rig = rig(&[Action::Meter(MeterId(0)), Action::Output(PortId(1))]);
    let gold = meter(10, 5, Treatment::Remark(46));
    rig.change(Change::Meter(MeterId(0), Some(Arc::clone(&gold))));
    let packet = udp([10, 0, 0, 1], [10, 0, 0, 2], (1, 2), 64);
    rig.push(PortId(0), &vec![packet.clone(); 20]);
    rig.poll();
    let sent = rig.sent(PortId(1));
    assert_eq!(sent[..10], vec![packet.clone(); 10]);
    assert_eq!(sent[10..].iter().map(|sent| sent[15]).collect::<Vec<_>>(), [46 << 2; 5]);
    assert_eq!(rig.drops(PortId(0)), [(reason(DropReason::MeterDrop), 5)].into());
    let bytes = packet.len() as u64;
    let tally = |packets| Tally { packets, bytes: packets * bytes };
    let counted = [Color::Green, Color::Yellow, Color::Red].map(|color| gold.counted(color));
    assert_eq!(counted, [10, 5, 5].map(tally));
}

#[test]
fn what_is_no_ip_packet_is_not_marked_and_goes_on() {
    let mut rig = rig(&[Action::Meter(MeterId(0)), Action::Output(PortId(1))]);
    rig.change(Change::Meter(MeterId(0), Some(meter(0, 5, Treatment::Remark(46)))));
    assert_eq!(ways(&mut rig, PortId(0), &frame(0, 1, station(9))), [1]);
}

#[test]
fn a_meter_that_is_swapped_begins_full_and_goes_on_counting() {
    let mut rig = rig(&[Action::Meter(MeterId(7)), Action::Output(PortId(1))]);
    let first = meter(1, 0, Treatment::Pass);
    rig.change(Change::Meter(MeterId(7), Some(Arc::clone(&first))));
    let packets = vec![frame(0, 1, station(9)); 3];
    rig.push(PortId(0), &packets);
    rig.poll();
    let second = Arc::new(first.successor(settings(2, 0, Treatment::Pass)));
    rig.change(Change::Meter(MeterId(7), Some(Arc::clone(&second))));
    rig.push(PortId(0), &packets);
    rig.poll();
    assert_eq!(second.counted(Color::Green).packets, 3, "one of the first and two of the second");
    assert_eq!(rig.sent(PortId(1)).len(), 3);
}

#[test]
fn a_meter_or_group_that_is_not_there_is_a_drop() {
    for (action, why) in [
        (Action::Meter(MeterId(9)), DropReason::NoSuchMeter),
        (Action::Group(GroupId(9)), DropReason::NoSuchGroup),
    ] {
        let mut rig = rig(&[action]);
        assert_eq!(ways(&mut rig, PortId(0), &frame(0, 1, station(9))), []);
        assert_eq!(rig.drops(PortId(0)), [(reason(why), 1)].into());
    }
}

#[test]
fn what_a_bucket_does_is_not_seen_behind_the_group() {
    let mark = Action::Set(SetField::EthSrc([2, 9, 9, 9, 9, 9]));
    let bucket = |actions: &[Action]| Bucket {
        actions: actions.to_vec(),
        weight: 1,
        watch: None,
        counted: SharedTally::new(1),
    };
    let buckets = vec![
        bucket(&[mark, Action::Output(PortId(1)), Action::Output(PortId(2))]),
        bucket(&[mark, Action::Drop(DropReason::RuleDrop)]),
    ];
    let group = Arc::new(Group::new(Kind::All, buckets, Arc::<Links>::default()));
    let mut rig = rig(&[Action::Group(GroupId(0)), Action::Output(PortId(3))]);
    rig.change(Change::Group(GroupId(0), Some(Arc::clone(&group))));
    let packet = frame(0, 1, station(9));
    rig.push(PortId(0), std::slice::from_ref(&packet));
    rig.poll();
    let mut marked = packet.clone();
    marked[6..12].copy_from_slice(&[2, 9, 9, 9, 9, 9]);
    let sent = [1, 2, 3].map(|port| rig.sent(PortId(port)));
    assert_eq!(sent, [vec![marked.clone()], vec![marked], vec![packet]]);
    let counters = rig.counters(PortId(0));
    assert_eq!((counters.copied, counters.forwarded), (3, 3));
    assert_eq!(rig.drops(PortId(0)), [(reason(DropReason::RuleDrop), 1)].into());
    assert!(group.buckets().iter().all(|bucket| bucket.counted.total().packets == 1));
}
