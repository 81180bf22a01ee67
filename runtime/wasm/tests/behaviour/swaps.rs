//! Deployments come and go, and leave nothing behind.

use std::{fs, sync::Arc, time::Instant};

use dataplane::stage::Verdict;

use crate::{
    guest::Act,
    harness::{GUEST, HOST, act, deployment, wait_for},
};

/// How often a deployment is exchanged for another.
const SWAPS: u32 = if cfg!(debug_assertions) { 1000 } else { 10_000 };
/// The workers of each.
const WORKERS: usize = 2;

/// The memory that the process has, in bytes.
fn resident() -> i64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: i64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

fn swap(number: u32, times: u32) {
    for _ in 0..times {
        let module = Arc::clone(&GUEST);
        let mut deployed = deployment(module).deploy(&HOST, WORKERS).unwrap();
        // Some fail, so that the nursery has work when they go.
        let first = if number.is_multiple_of(2) { Act::Pass } else { Act::Unreachable };
        act(&mut deployed.stages[0], &[first, Act::Pass]);
        assert_eq!(act(&mut deployed.stages[1], &[Act::Pass]), [Verdict::Next]);
    }
}

#[test]
fn swaps_without_end_take_no_memory() {
    // What is made once is made by then.
    swap(0, SWAPS / 10);
    swap(1, SWAPS / 10);
    let before = resident();
    swap(0, SWAPS / 2);
    swap(1, SWAPS / 2);
    wait_for("the last to be freed", || {
        let grown = resident() - before;
        (grown < 4 << 20).then(|| eprintln!("{SWAPS} swaps: {grown} bytes more"))
    });
}

#[test]
fn an_instance_is_soon_made_from_what_was_compiled() {
    let rounds: u32 = 50;
    swap(0, 3);
    let start = Instant::now();
    for _ in 0..rounds {
        drop(deployment(Arc::clone(&GUEST)).deploy(&HOST, WORKERS).unwrap());
    }
    // Each worker gets one and a spare.
    let each = start.elapsed() / (rounds * u32::try_from(WORKERS).unwrap());
    eprintln!("a worker's instance, and its spare: {each:?}");
    let limit = if cfg!(debug_assertions) { 10 } else { 1 };
    assert!(each.as_millis() < limit, "{each:?}");
}
