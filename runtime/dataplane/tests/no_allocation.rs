//! The packet path does not allocate.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    sync::Arc,
};

use dataplane::{
    GroupId, Links, MeterId, PortId, SharedTally, StageId, TableId,
    classify::Pattern,
    flow::FlowKey,
    group::{Bucket, Group, Kind},
    meter::{Algorithm, Meter, Rate, Settings, Treatment, Unit},
    packet::Buffer,
    program::{Action, Field, PushMpls, SetField, Tag},
    stage::{Batch, Stage, Verdict},
    worker::{self, Change},
};
use support::{Rig, any, from_port, rule, settings, udp};

thread_local!(static ALLOCATIONS: Cell<usize> = const { Cell::new(0) });
thread_local!(static LARGEST: Cell<usize> = const { Cell::new(0) });

struct Counting;

// SAFETY: every call goes to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        LARGEST.set(LARGEST.get().max(layout.size()));
        // SAFETY: the caller's promise, handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise, handed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Sends each packet to another table.
struct Onwards;

impl Stage<Buffer> for Onwards {
    fn run(&mut self, batch: &mut Batch<'_, Buffer>) {
        for index in 0..batch.len() {
            let context = batch.get_mut(index).1;
            (context.verdict, context.rewritten) = (Verdict::Goto(TableId(1)), true);
        }
    }
}

/// A meter that lets everything pass.
fn pass() -> Arc<Meter> {
    let none = Rate { per_second: 0, burst: 0 };
    Arc::new(Meter::new(
        Settings {
            algorithm: Algorithm::TwoRate,
            unit: Unit::Bits,
            committed: none,
            second: none,
            yellow: Treatment::Pass,
            red: Treatment::Pass,
            ticks: 1,
        },
        1,
    ))
}

/// A group whose one bucket changes packets and sends them by a port.
fn to(port: PortId) -> Arc<Group> {
    let actions = vec![Action::DecrementTtl, Action::Output(port)];
    let bucket = Bucket { actions, weight: 1, watch: None, counted: SharedTally::new(1) };
    Arc::new(Group::new(Kind::Select, vec![bucket], Arc::<Links>::default()))
}

#[test]
fn a_round_of_polling_does_not_allocate_once_its_flows_are_known() {
    let (a, b) = (PortId(0), PortId(1));
    let every_change = [
        Action::Set(SetField::EthDst([2, 0, 0, 0, 0, 9])),
        Action::Set(SetField::IpDst("10.9.9.9".parse().unwrap())),
        Action::Set(SetField::L4Src(9)),
        Action::DecrementTtl,
        Action::PushVlan(Tag { tpid: 0x8100, tci: 5 }),
        Action::Set(SetField::VlanVid(6)),
        Action::PopVlan,
        Action::PushMpls(PushMpls { ethertype: 0x8847, label: 16, traffic_class: 0, ttl: None }),
        Action::DecrementMplsTtl,
        Action::PopMpls { ethertype: 0x0800 },
        Action::Copy { from: Field::EthSrc, to: Field::Metadata },
        Action::Meter(MeterId(0)),
        Action::Stage(StageId(0)),
    ];
    let mut rig = Rig::new(2);
    rig.stage(0, Onwards);
    rig.change(Change::Meter(MeterId(0), Some(pass())));
    rig.change(Change::Group(GroupId(0), Some(to(a))));
    rig.rules(vec![
        rule(1, 1, from_port(0), &every_change),
        rule(2, 1, from_port(1), &[Action::Meter(MeterId(0)), Action::Group(GroupId(0))]),
        (TableId(1), rule(3, 1, any(), &[Action::Output(b)]).1),
    ]);
    let frames: Vec<Vec<u8>> =
        (0..96).map(|port| udp([10, 0, 0, 1], [10, 0, 0, 2], (port, 53), 9)).collect();
    for expected in [96, 192] {
        rig.push(a, &frames);
        rig.push(b, &frames);
        let before = ALLOCATIONS.get();
        (0..3).for_each(|_| assert!(rig.poll()));
        let allocated = ALLOCATIONS.get() - before;
        // The first time, flows are looked up, and the wire itself grows.
        assert!(expected == 96 || allocated == 0, "{allocated} allocations");
        assert_eq!(rig.sent(b).len(), 96);
        assert_eq!(rig.sent(a).len(), 96);
        assert_eq!(rig.counters(a).forwarded, expected);
    }
}

#[test]
fn a_new_flow_does_not_wait_for_a_list_of_all_flows_to_grow() {
    let many = worker::Settings { flow_limit: 4000, exact_entries: 8192, ..settings() };
    let mut rig = Rig::with(many, 2);
    let port = |l4_src| FlowKey { l4_src, ..FlowKey::NONE };
    let out = Action::Output(PortId(1));
    let its_own = |n: u16| {
        let actions = [Action::Set(SetField::L4Dst(n)), out];
        rule(n.into(), 1, Pattern::new(&port(n), &port(u16::MAX)), &actions)
    };
    rig.rules((0..6000).map(its_own).collect());
    let frames: Vec<Vec<u8>> =
        (0..6000).map(|port| udp([10, 0, 0, 1], [10, 0, 0, 2], (port, 53), 9)).collect();
    let mut largest = 0;
    for burst in frames.chunks(32) {
        rig.push(PortId(0), burst);
        LARGEST.set(0);
        assert!(rig.poll());
        largest = largest.max(LARGEST.get());
        assert_eq!(rig.sent(PortId(1)).len(), burst.len());
    }
    assert!(largest <= 4096, "{largest} bytes at once");
}
