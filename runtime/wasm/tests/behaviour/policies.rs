//! What becomes of packets when a module fails again and again, and of the module.

use std::{collections::BTreeSet, time::Instant};

use dataplane::{DropReason, PortId, stage::Verdict};
use wasm::{
    Deployed, Deployment, FaultKind, FaultPacket, OnFault, StageState, StageTotals, WasmStage,
};

use crate::{
    guest::{Act, Guest},
    harness::{GUEST, HOST, REASONS, act, compile, deploy, deployment, run, wait_for},
};

/// The faults that are not yet too many.
const FAULTS: u32 = 4;

fn strict(on_fault: OnFault) -> Deployment {
    let mut deployment = deployment(GUEST.clone());
    deployment.on_fault = on_fault;
    deployment.limits.faults = FAULTS;
    deployment
}

fn alone(on_fault: OnFault) -> (WasmStage, Deployed) {
    let mut deployed = strict(on_fault).deploy(&HOST, 1).unwrap();
    (deployed.stages.remove(0), deployed)
}

/// The guest, over an older one that drops each packet that the guest lets pass.
fn over_the_last_good() -> (WasmStage, Deployed) {
    let mut old = Guest::new();
    old.process = old.process.replace(
        "(func $pass (call $decide (i32.const 0)",
        "(func $pass (call $decide (i32.const 1)",
    );
    let old = deployment(compile(&old));
    let mut deployed = strict(OnFault::LastGood).deploy_over(old, &HOST, 1).unwrap();
    (deployed.stages.remove(0), deployed)
}

/// Has the module fail until it is quarantined, each time by one packet; returns how many.
fn fail_for_good(stage: &mut WasmStage, deployed: &Deployed) -> u64 {
    wait_for("the quarantine", || {
        act(stage, &[Act::Unreachable]);
        let state = deployed.stats.condition().state;
        matches!(state, StageState::Quarantined | StageState::LastGood).then_some(())
    });
    deployed.stats.totals().packets
}

const PASSED_BY_THE_OLD: Verdict = Verdict::Drop(REASONS[0]);

#[test]
fn one_fault_too_many_is_the_end_until_the_stage_is_resumed() {
    let (mut stage, deployed) = alone(OnFault::Bypass);
    let start = Instant::now();
    fail_for_good(&mut stage, &deployed);
    eprintln!("quarantined after {:?}", start.elapsed());
    let faults = deployed.stats.totals().faults.trap;
    // A spare may fail before the last fault but one is seen.
    assert!((u64::from(FAULTS) + 1..=u64::from(FAULTS) + 2).contains(&faults), "{faults}");
    let quarantined = deployed.stats.condition();
    assert_eq!((quarantined.state, quarantined.next_restart), (StageState::Quarantined, None));

    assert_eq!(act(&mut stage, &[Act::Drop(0); 3]), [Verdict::Next; 3], "nobody is asked");
    assert_eq!(deployed.stats.condition(), quarantined);
    assert_eq!(deployed.stats.totals().faults.trap, faults);

    deployed.stats.resume();
    wait_for("an instance", || {
        (act(&mut stage, &[Act::Drop(1)]) == [Verdict::Drop(REASONS[1])]).then_some(())
    });
    wait_for("the spare", || {
        (deployed.stats.condition().state == StageState::Running).then_some(())
    });
    let told: Vec<_> = deployed.stats.drain_transitions().map(|it| (it.from, it.to)).collect();
    let (running, quarantined) = (StageState::Running, StageState::Quarantined);
    assert!(told.contains(&(quarantined, running)), "{told:?}");
    assert!(told.windows(2).all(|pair| pair[0].1 == pair[1].0), "{told:?}");
    assert_eq!(deployed.stats.drain_transitions().count(), 0);
}

#[test]
fn as_many_faults_as_are_allowed_are_no_quarantine() {
    let (mut stage, deployed) = alone(OnFault::Drop);
    for fault in 1..=u64::from(FAULTS) {
        wait_for("a fault", || {
            act(&mut stage, &[Act::Unreachable]);
            (deployed.stats.totals().faults.trap == fault).then_some(())
        });
    }
    wait_for("it to be back", || (act(&mut stage, &[Act::Pass]) == [Verdict::Next]).then_some(()));
    wait_for("the spare", || {
        (deployed.stats.condition().state == StageState::Running).then_some(())
    });
    let restarts = || deployed.stats.condition().restarts;
    wait_for("the spare", || (restarts() == u64::from(FAULTS)).then_some(()));
}

#[test]
fn a_stage_that_waits_for_an_instance_says_so_and_until_when() {
    let mut deployed = deploy(1);
    // The nursery may be quick and have a spare ready, so that the stage is never without.
    let told = wait_for("the news", || {
        act(&mut deployed.stages[0], &[Act::Unreachable, Act::Unreachable]);
        let mut told = deployed.stats.drain_transitions();
        told.find(|it| it.to == StageState::Restarting)
    });
    assert_eq!(told.from, StageState::Running);
}

#[test]
fn a_dead_module_has_its_packets_meet_the_fate_of_the_policy() {
    let trapped = Verdict::from(DropReason::StageTrap);
    let absent = Verdict::from(DropReason::StageUnavailable);
    for (on_fault, at_fault, later) in [
        (OnFault::Drop, trapped, absent),
        (OnFault::Bypass, Verdict::Next, Verdict::Next),
        // There is none.
        (OnFault::LastGood, trapped, absent),
    ] {
        let (mut stage, deployed) = alone(on_fault);
        assert_eq!(act(&mut stage, &[Act::Unreachable]), [at_fault], "{on_fault:?}");
        let before = fail_for_good(&mut stage, &deployed);
        assert_eq!(act(&mut stage, &[Act::Pass; 100]), [later; 100], "{on_fault:?}");
        let totals = deployed.stats.totals();
        assert_eq!(totals.packets, before + 100);
        assert_eq!(totals.verdicts.packets(), totals.packets);
        assert!(totals.unavailable_packets >= 100);
        assert_eq!(totals.last_good_packets, 0);
    }
}

#[test]
fn the_last_good_one_decides_on_what_the_new_one_fails_on_and_alone_in_the_end() {
    let (mut stage, deployed) = over_the_last_good();
    let acts = [Act::Pass, Act::Unreachable, Act::Pass];
    // The old one fails on that packet too.
    let trapped = Verdict::from(DropReason::StageTrap);
    assert_eq!(act(&mut stage, &acts), [Verdict::Next, trapped, Verdict::Next]);
    let before = fail_for_good(&mut stage, &deployed);
    assert_eq!(deployed.stats.condition().state, StageState::LastGood);

    let acts = [Act::Pass, Act::Drop(1), Act::Rewrite, Act::Pass];
    let mut frames: Vec<_> = acts.iter().map(|act| act.frame(64)).collect();
    let expected =
        [PASSED_BY_THE_OLD, Verdict::Drop(REASONS[1]), PASSED_BY_THE_OLD, PASSED_BY_THE_OLD];
    wait_for("the old one to have an instance", || {
        (run(&mut stage, &mut frames) == expected).then_some(())
    });
    assert_eq!(&frames[2].0[8..12], &Act::MARK, "it may write too");
    let totals = deployed.stats.totals();
    assert!(totals.last_good_packets > before.min(4), "{totals:?}");
    assert_eq!(totals.verdicts.packets(), totals.packets);

    deployed.stats.resume();
    wait_for("the new one", || (act(&mut stage, &[Act::Pass]) == [Verdict::Next]).then_some(()));
}

#[test]
fn the_last_packets_that_a_module_failed_on_are_kept_for_replay() {
    let mut deployed = deployment(GUEST.clone()).deploy(&HOST, 2).unwrap();
    let mut frame = Act::RewriteAndTrap.frame(3000);
    let packet = FaultPacket { in_port: PortId(7), length: 3000, bytes: frame.0[..2048].to_vec() };
    run(&mut deployed.stages[1], std::slice::from_mut(&mut frame));
    let fault = wait_for("the report", || deployed.stats.last_fault());
    assert_eq!((fault.kind, fault.worker, &*fault.module), (FaultKind::Trap, 1, GUEST.digest()));
    assert_eq!(fault.packet, Some(packet));

    // After its last verdict it fails on no packet.
    act(&mut deployed.stages[0], &[Act::DecideAndTrap]);
    let last = || deployed.stats.last_fault().filter(|fault| fault.worker == 0);
    assert_eq!(wait_for("the report", last).packet, None);

    let seen: BTreeSet<u8> = wait_for("more faults than are kept", || {
        for length in 64..80 {
            run(&mut deployed.stages[0], &mut [Act::Unreachable.frame(length)]);
        }
        (deployed.stats.totals().faults.trap > 20).then(|| {
            let faults = deployed.stats.faults();
            assert_eq!(faults.len(), 8);
            faults.iter().filter_map(|it| it.packet.as_ref()).map(|it| it.bytes[0]).collect()
        })
    });
    assert_eq!(seen.len(), 1, "they are all of the trapping kind");
}

#[test]
fn a_quarantined_stage_of_several_workers_rests_on_all_of_them() {
    let mut deployed = strict(OnFault::Drop).deploy(&HOST, 2).unwrap();
    let [one, other] = &mut deployed.stages[..] else { panic!("there are two") };
    wait_for("the quarantine", || {
        act(one, &[Act::Unreachable]);
        (deployed.stats.condition().state == StageState::Quarantined).then_some(())
    });
    assert_eq!(act(other, &[Act::Pass]), [DropReason::StageUnavailable.into()]);
    deployed.stats.resume();
    for stage in [one, other] {
        wait_for("an instance", || (act(stage, &[Act::Pass]) == [Verdict::Next]).then_some(()));
    }
    let StageTotals { packets, verdicts, .. } = deployed.stats.totals();
    assert_eq!(verdicts.packets(), packets);
}
