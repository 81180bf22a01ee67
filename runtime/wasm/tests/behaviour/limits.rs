//! Each limit twice: kept and broken.

use std::time::{Duration, Instant};

use dataplane::{DropReason, stage::Verdict};
use wasm::{Host, HostError, HostOptions, OnFault};

use crate::{
    guest::{Act, Guest},
    harness::{REASONS, act, deploy, deploy_with},
};

const REFUSED: Verdict = Verdict::Drop(REASONS[0]);

#[test]
fn memory_grows_up_to_the_limit_and_not_beyond() {
    let mut deployed = deploy(1);
    let stage = &mut deployed.stages[0];
    // 4 MiB are 64 pages.
    let rest = 64 - u32::try_from(Guest::PAGES).unwrap();
    let acts = [Act::GrowMemory(rest + 1), Act::GrowMemory(65_535), Act::GrowMemory(rest)];
    assert_eq!(act(stage, &acts), [REFUSED, REFUSED, Verdict::Next]);
    assert_eq!(act(stage, &[Act::GrowMemory(1), Act::Rewrite]), [REFUSED, Verdict::Next]);
    assert_eq!(deployed.stats.totals().faults.trap, 0);
}

#[test]
fn tables_grow_up_to_the_limit_and_not_beyond() {
    let mut deployed = deploy(1);
    // The guest's table has 31 elements.
    let rest = 65_536 - 31;
    let acts = [Act::GrowTable(rest + 1), Act::GrowTable(10_000_000), Act::GrowTable(rest)];
    assert_eq!(act(&mut deployed.stages[0], &acts), [REFUSED, REFUSED, Verdict::Next]);
}

#[test]
fn a_call_is_ended_after_its_deadline_and_not_before() {
    let deadline = Duration::from_millis(30);
    let (mut stage, _deployed) = deploy_with(OnFault::Drop, deadline);
    let start = Instant::now();
    assert_eq!(act(&mut stage, &[Act::Spin]), [DropReason::StageDeadline.into()]);
    assert!(start.elapsed() >= deadline, "after {:?}", start.elapsed());
}

#[test]
fn the_time_that_the_host_spends_on_logging_counts() {
    let (mut stage, deployed) = deploy_with(OnFault::Drop, Duration::from_millis(5));
    let verdicts = act(&mut stage, &[Act::LogFlood(u32::MAX), Act::Pass]);
    assert_eq!(verdicts, [DropReason::StageDeadline.into(), Verdict::Next]);
    assert!(deployed.stats.totals().log_lines_lost > 0);
}

#[test]
fn a_host_refuses_a_tick_that_no_thread_can_keep() {
    for tick in [Duration::ZERO, Duration::from_micros(9), Duration::from_secs(2)] {
        let refused = Host::new(HostOptions { tick, ..HostOptions::default() }).err();
        assert!(matches!(refused, Some(HostError::Option { option: "tick", .. })), "{tick:?}");
    }
}
