//! A call that does not return costs the packet that it was at, and nothing else.

use std::{sync::Arc, time::Duration};

use dataplane::{DropReason, stage::Verdict};
use wasm::{FaultKind, FaultTotals, Host, HostOptions, OnFault, StageStats};

use crate::{
    guest::{Act, Guest},
    harness::{
        Frame, GUEST, HOST, REASONS, act, compile, deploy, deploy_with, deploy_with_one_spare,
        deployment, run, wait_for,
    },
};

/// What a batch of 32 is when the module fails on packet `k` and drops every third of the others.
fn batch_with(fault: Act, k: usize) -> Vec<Act> {
    let mut acts: Vec<Act> =
        (0..32).map(|place| if place % 3 == 0 { Act::Drop(0) } else { Act::Rewrite }).collect();
    acts[k] = fault;
    acts
}

/// The verdicts on such a batch.
fn verdicts_with(at_fault: Verdict, k: usize) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> = (0..32)
        .map(|place| if place % 3 == 0 { Verdict::Drop(REASONS[0]) } else { Verdict::Next })
        .collect();
    verdicts[k] = at_fault;
    verdicts
}

/// The packets of such a batch afterwards.
fn frames_after(before: &[Frame], k: usize) -> Vec<Frame> {
    let mut after = before.to_vec();
    for (place, frame) in after.iter_mut().enumerate() {
        if place % 3 != 0 && place != k {
            frame.0[8..12].copy_from_slice(&Act::MARK);
        }
    }
    after
}

fn fails_on_each_place(fault: Act, reason: DropReason, faults: FaultTotals) {
    for policy in [OnFault::Drop, OnFault::Bypass] {
        let at_fault = match policy {
            OnFault::Drop | OnFault::LastGood => reason.into(),
            OnFault::Bypass => Verdict::Next,
        };
        for k in 0..32 {
            let (mut stage, deployed) = deploy_with(policy, Duration::from_millis(5));
            let mut frames: Vec<Frame> =
                batch_with(fault, k).iter().map(|act| act.frame(64)).collect();
            let expected = frames_after(&frames, k);
            let verdicts = run(&mut stage, &mut frames);
            assert_eq!(verdicts, verdicts_with(at_fault, k), "{fault:?} on packet {k}");
            assert_eq!(frames, expected, "{fault:?} on packet {k}");

            let totals = deployed.stats.totals();
            assert_eq!((totals.packets, totals.faults), (32, faults), "{fault:?} on packet {k}");
            // The packet after the last is nobody's: no call is made for it.
            let batches = if k == 31 { 1 } else { 2 };
            assert_eq!((totals.batches, totals.unavailable_packets), (batches, 0));
        }
    }
}

#[test]
fn a_trap_on_any_packet_of_a_batch_costs_that_packet() {
    let faults = FaultTotals { trap: 1, ..FaultTotals::default() };
    fails_on_each_place(Act::RewriteAndTrap, DropReason::StageTrap, faults);
}

#[test]
fn an_endless_loop_on_any_packet_of_a_batch_costs_that_packet() {
    let faults = FaultTotals { deadline: 1, ..FaultTotals::default() };
    fails_on_each_place(Act::Spin, DropReason::StageDeadline, faults);
}

#[test]
fn every_kind_of_trap_is_contained_and_explained() {
    for (fault, message) in [
        (Act::Unreachable, "wasm trap: wasm `unreachable` instruction executed"),
        (Act::LoadOutside, "wasm trap: out of bounds memory access"),
        (Act::DivideByZero, "wasm trap: integer divide by zero"),
        (Act::FloatOverflow, "wasm trap: integer overflow"),
        (Act::NullCall, "wasm trap: uninitialized element"),
        (Act::WrongCall, "wasm trap: indirect call type mismatch"),
        (Act::Recurse, "wasm trap: call stack exhausted"),
        (Act::Log(u32::MAX), "weft.log: the line lies outside of the memory"),
        (Act::LogOutside, "weft.log: the line lies outside of the memory"),
    ] {
        let mut deployed = deploy(1);
        let verdicts = act(&mut deployed.stages[0], &[Act::Pass, fault, Act::Drop(1)]);
        let trapped = DropReason::StageTrap.into();
        let expected = [Verdict::Next, trapped, Verdict::Drop(REASONS[1])];
        assert_eq!(verdicts, expected, "{fault:?}");
        let report = wait_for("the report", || deployed.stats.last_fault());
        assert_eq!((report.kind, report.worker, &*report.message), (FaultKind::Trap, 0, message));
        let innermost = if fault == Act::Recurse { "guest!recurse" } else { "guest!packet" };
        let found = report.backtrace.iter().any(|line| line.ends_with(innermost));
        assert!(found, "{fault:?}: {:?}", report.backtrace);
    }
}

#[test]
fn a_deadline_is_reported_as_one() {
    let (mut stage, deployed) = deploy_with(OnFault::Drop, Duration::from_millis(1));
    assert_eq!(act(&mut stage, &[Act::Spin]), [DropReason::StageDeadline.into()]);
    let report = wait_for("the report", || deployed.stats.last_fault());
    assert_eq!((report.kind, &*report.message), (FaultKind::Deadline, "wasm trap: interrupt"));
}

#[test]
fn without_a_spare_the_rest_has_the_fate_of_the_policy() {
    let acts = [Act::Pass, Act::Unreachable, Act::Pass, Act::Unreachable, Act::Pass, Act::Rewrite];
    let unavailable = DropReason::StageUnavailable.into();
    let trapped = DropReason::StageTrap.into();

    let (mut stage, deployed) = deploy_with_one_spare(OnFault::Drop);
    let expected = [Verdict::Next, trapped, Verdict::Next, trapped, unavailable, unavailable];
    assert_eq!(act(&mut stage, &acts), expected);
    let totals = deployed.stats.totals();
    assert_eq!((totals.unavailable_packets, totals.faults.trap, totals.packets), (2, 2, 6));
    assert_eq!((totals.verdicts.next, totals.verdicts.drop), (2, 4));

    let (mut stage, deployed) = deploy_with_one_spare(OnFault::Bypass);
    let mut frames: Vec<Frame> = acts.iter().map(|act| act.frame(64)).collect();
    let before = frames.clone();
    assert_eq!(run(&mut stage, &mut frames), [Verdict::Next; 6]);
    assert_eq!(frames, before);
    assert_eq!(deployed.stats.totals().unavailable_packets, 2);
}

#[test]
fn a_stage_comes_back_by_itself_ever_again() {
    let mut deployed = deploy(1);
    let stage = &mut deployed.stages[0];
    for round in 0..6 {
        act(stage, &[Act::Unreachable, Act::Unreachable]);
        let back = || (act(stage, &[Act::Drop(1)]) == [Verdict::Drop(REASONS[1])]).then_some(());
        wait_for("an instance", back);
        assert!(deployed.stats.totals().faults.trap > round);
    }
}

#[test]
fn a_trap_after_the_last_verdict_costs_no_packet() {
    let mut deployed = deploy(1);
    let stage = &mut deployed.stages[0];
    assert_eq!(act(stage, &[Act::Pass, Act::DecideAndTrap]), [Verdict::Next; 2]);
    assert_eq!(act(stage, &[Act::Drop(0)]), [Verdict::Drop(REASONS[0])], "the spare");
    assert_eq!(deployed.stats.totals().faults.trap, 1);
}

#[test]
fn a_verdict_said_before_its_turn_does_not_stand() {
    let mut deployed = deploy(1);
    let acts = [Act::Pass, Act::ForestallAndTrap, Act::Drop(1)];
    let trapped = DropReason::StageTrap.into();
    let expected = [Verdict::Next, trapped, Verdict::Drop(REASONS[1])];
    assert_eq!(act(&mut deployed.stages[0], &acts), expected);
}

#[test]
fn the_next_instance_knows_nothing_of_the_last() {
    let mut deployed = deploy(1);
    let stage = &mut deployed.stages[0];
    let remembered = [Verdict::Next, Verdict::Drop(REASONS[0])];
    assert_eq!(act(stage, &[Act::Remember, Act::Recall]), remembered);
    let trapped = DropReason::StageTrap.into();
    assert_eq!(act(stage, &[Act::Unreachable, Act::Recall]), [trapped, Verdict::Next]);
}

#[test]
fn a_fault_on_one_worker_is_not_seen_on_another() {
    let mut deployed = deploy(2);
    act(&mut deployed.stages[1], &[Act::Unreachable, Act::Unreachable]);
    assert_eq!(act(&mut deployed.stages[0], &[Act::Pass; 32]), [Verdict::Next; 32]);
    assert_eq!(wait_for("the report", || deployed.stats.last_fault()).worker, 1);
}

#[test]
fn deadlines_are_kept_when_the_host_is_gone() {
    let host = Host::new(HostOptions::default()).unwrap();
    let module = wasm::Module::compile(&host, &Guest::new().bytes()).unwrap();
    let mut deployed = deployment(module).deploy(&host, 1).unwrap();
    drop(host);
    let verdicts = act(&mut deployed.stages[0], &[Act::Spin, Act::Pass]);
    assert_eq!(verdicts, [DropReason::StageDeadline.into(), Verdict::Next]);
}

#[test]
fn with_its_last_stage_a_deployment_is_freed_but_its_numbers_stay() {
    let module = compile(&Guest::new());
    let mut deployed = deployment(Arc::clone(&module)).deploy(&HOST, 2).unwrap();
    act(&mut deployed.stages[0], &[Act::Pass, Act::Unreachable, Act::Unreachable]);
    let stats: Arc<StageStats> = deployed.stats;
    drop(deployed.stages);
    // The nursery may be at it just now.
    wait_for("the instances to be freed", || (Arc::strong_count(&module) == 1).then_some(()));
    assert_eq!(stats.totals().packets, 3);
}

#[test]
fn stages_run_on_other_threads_than_they_were_made_on() {
    let mut deployed = deployment(GUEST.clone()).deploy(&HOST, 2).unwrap();
    std::thread::scope(|scope| {
        for stage in &mut deployed.stages {
            scope.spawn(|| {
                Host::prepare_thread();
                let verdicts = act(stage, &[Act::LoadOutside, Act::Pass]);
                assert_eq!(verdicts, [DropReason::StageTrap.into(), Verdict::Next]);
            });
        }
    });
    assert_eq!(deployed.stats.totals().faults.trap, 2);
}
