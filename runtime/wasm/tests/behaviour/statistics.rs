//! The numbers are exact, and those of a module survive its instances.

use wasm::{FaultTotals, OnFault, StageTotals, VerdictTotals};

use crate::{
    guest::Act,
    harness::{act, deploy, deploy_with, deploy_without_host},
};

fn counters(packets: u64, set: u64) -> [(String, u64); 2] {
    [("packets".into(), packets), ("set".into(), set)]
}

#[test]
fn all_numbers_of_all_workers_are_added_up() {
    // One whose host is gone: how many spares there are does not hang on a thread.
    let mut deployed = deploy_without_host(OnFault::Drop, 2);
    let acts = [
        Act::Pass,
        Act::Drop(0),
        Act::Drop(1),
        Act::Output(1),
        Act::Goto(1),
        Act::Goto(2),
        Act::Count(40),
        Act::Silent,
    ];
    act(&mut deployed.stages[0], &acts);
    act(&mut deployed.stages[1], &[Act::Pass, Act::Count(2)]);
    act(&mut deployed.stages[1], &[Act::Pass, Act::Unreachable, Act::Unreachable, Act::Pass]);
    let expected = StageTotals {
        packets: 14,
        batches: 4,
        verdicts: VerdictTotals { next: 5, drop: 6, output: 1, goto: 2 },
        faults: FaultTotals { trap: 2, deadline: 0, bad_verdict: 1 },
        unavailable_packets: 1,
        last_good_packets: 0,
        log_lines_lost: 0,
        // The guest counts a packet before it traps on it.
        counters: counters(13, 42).into(),
    };
    assert_eq!(deployed.stats.totals(), expected);
}

#[test]
fn a_modules_counters_never_go_backwards() {
    let (mut stage, deployed) = deploy_with(OnFault::Drop, std::time::Duration::from_secs(1));
    let now = || deployed.stats.totals().counters;
    act(&mut stage, &[Act::Count(100)]);
    assert_eq!(now(), counters(1, 100).into());
    act(&mut stage, &[Act::Count(7)]);
    assert_eq!(now(), counters(2, 100).into(), "though the module lies");
    act(&mut stage, &[Act::Unreachable]);
    assert_eq!(now(), counters(3, 100).into(), "though the instance is gone");
    act(&mut stage, &[Act::Count(5)]);
    assert_eq!(now(), counters(4, 105).into(), "its successor adds to that");
}

#[test]
fn a_swap_carries_numbers_on_by_name() {
    let (mut old, mut new) = (deploy(1), deploy(1));
    act(&mut old.stages[0], &[Act::Pass, Act::Count(3)]);
    act(&mut new.stages[0], &[Act::Pass]);
    let mut totals = new.stats.totals();
    totals.add(&old.stats.totals());
    assert_eq!((totals.packets, totals.counters), (3, counters(3, 3).into()));
}
