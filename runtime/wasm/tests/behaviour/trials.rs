//! A new deployment decides on a share of the flows beside the old one.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use dataplane::stage::{Batch, Context, Stage, Verdict};
use wasm::{Deployed, Reading, Share, Trial, WasmStage};

use crate::{
    guest::{Act, Guest},
    harness::{Frame, HOST, REASONS, compile, context, deploy, deployment, wait_for},
};

/// Goes on by one at each look.
fn clock() -> u64 {
    static LOOKS: AtomicU64 = AtomicU64::new(0);
    LOOKS.fetch_add(1, Ordering::Relaxed)
}

/// A guest that drops each packet that the guest lets pass.
fn other() -> Guest {
    let mut guest = Guest::new();
    guest.process = guest.process.replace(
        "(func $pass (call $decide (i32.const 0)",
        "(func $pass (call $decide (i32.const 1)",
    );
    guest
}

fn begin(old: &Deployed, percent: u8) -> Trial {
    let new = deployment(compile(&other())).deploy(&HOST, old.stages.len()).unwrap();
    old.in_service.lend(new, Share::percent(percent), clock).expect("there is no other trial")
}

/// Runs a batch in which each packet is of a flow of its own; returns the verdicts.
fn run_flows(stage: &mut WasmStage, act: Act, flows: std::ops::Range<u32>) -> Vec<Verdict> {
    let mut frames: Vec<Frame> = flows.clone().map(|_| act.frame(64)).collect();
    let mut contexts: Vec<Context> = flows
        .map(|flow_hash| Context {
            flow_hash,
            verdict: Verdict::Output(dataplane::PortId(0xdead)),
            ..context()
        })
        .collect();
    let members: Vec<u16> = (0..).take(frames.len()).collect();
    stage.run(&mut Batch::new(&mut frames, &mut contexts, &members));
    contexts.into_iter().map(|context| context.verdict).collect()
}

const BY_THE_NEW: Verdict = Verdict::Drop(REASONS[0]);

#[test]
fn a_share_of_the_flows_goes_to_the_new_one_and_always_the_same() {
    let mut old = deploy(1);
    let trial = begin(&old, 10);
    let stage = &mut old.stages[0];
    let mut by_the_new = 0;
    for batch in 0..100 {
        let flows = batch * 32..(batch + 1) * 32;
        let verdicts = run_flows(stage, Act::Pass, flows.clone());
        assert!(verdicts.iter().all(|it| [Verdict::Next, BY_THE_NEW].contains(it)));
        assert_eq!(verdicts, run_flows(stage, Act::Pass, flows));
        by_the_new += verdicts.iter().filter(|it| **it == BY_THE_NEW).count() as u64;
    }
    assert!((250..390).contains(&by_the_new), "{by_the_new} of 3,200");
    assert_eq!(trial.stats().totals().packets, 2 * by_the_new);
    assert_eq!(old.stats.totals().packets, 6400 - 2 * by_the_new);
    let [of_the_old, of_the_new] = trial.readings();
    assert_eq!(of_the_old.packets, 6400 - 2 * by_the_new);
    assert_eq!(of_the_new.packets, 2 * by_the_new);
    assert!(of_the_old.time >= 200 && of_the_new.time > 0, "a look at each batch");
    let reading = Reading { packets: 8, time: 20 };
    assert_eq!(reading.time_per_packet(), Some(2.5));
    assert_eq!(Reading::default().time_per_packet(), None);
}

#[test]
fn none_and_all_are_shares_too() {
    for (percent, expected) in [(0, Verdict::Next), (100, BY_THE_NEW)] {
        let mut old = deploy(1);
        let _trial = begin(&old, percent);
        assert_eq!(run_flows(&mut old.stages[0], Act::Pass, 0..32), [expected; 32]);
    }
}

#[test]
fn what_the_new_one_fails_on_the_old_one_decides() {
    let mut old = deploy(1);
    // The new one traps on what the old one drops for its second reason.
    let mut new = other();
    new.process = new.process.replace(
        "(func $drop (call $decide (i32.const 1) (global.get $argument)))",
        "(func $drop unreachable)",
    );
    let new = deployment(compile(&new)).deploy(&HOST, 1).unwrap();
    let trial = old.in_service.lend(new, Share::percent(100), clock).unwrap();
    let stage = &mut old.stages[0];
    assert_eq!(run_flows(stage, Act::Pass, 0..5), [BY_THE_NEW; 5]);
    let by_the_old = Verdict::Drop(REASONS[1]);
    assert_eq!(run_flows(stage, Act::Drop(1), 0..32), [by_the_old; 32]);
    let (lent, kept) = (trial.stats().totals(), old.stats.totals());
    assert!(lent.faults.trap >= 2, "{lent:?}");
    assert_eq!((lent.packets, kept.packets), (5, 32), "each is counted once");
    let fault = wait_for("the report", || trial.stats().last_fault());
    assert_eq!(fault.packet.unwrap().bytes, Act::Drop(1).frame(64).0);
}

#[test]
fn with_its_end_all_flows_are_the_old_ones_again_which_kept_what_it_knew() {
    let mut old = deploy(2);
    let stage = &mut old.stages[0];
    run_flows(stage, Act::Remember, 0..1);
    let module = compile(&other());
    let new = deployment(Arc::clone(&module)).deploy(&HOST, 2).unwrap();
    let trial = old.in_service.lend(new, Share::percent(100), clock).unwrap();
    assert_eq!(run_flows(stage, Act::Pass, 0..32), [BY_THE_NEW; 32]);
    assert!(old.in_service.lend(deploy(2), Share::percent(1), clock).is_none(), "one at a time");
    drop(trial);
    assert_eq!(run_flows(stage, Act::Pass, 0..32), [Verdict::Next; 32]);
    let remembered = Verdict::Drop(REASONS[0]);
    assert_eq!(run_flows(stage, Act::Recall, 0..1), [remembered]);
    wait_for("the new one to be freed", || (Arc::strong_count(&module) == 1).then_some(()));

    let next = begin(&old, 100);
    for stage in &mut old.stages {
        assert_eq!(run_flows(stage, Act::Pass, 0..3), [BY_THE_NEW; 3], "another trial");
    }
    drop(next);
    assert!(old.in_service.lend(deploy(1), Share::percent(1), clock).is_none(), "of other workers");
    let in_service = old.in_service.clone();
    drop(old);
    assert!(in_service.lend(deploy(2), Share::percent(1), clock).is_none(), "it is gone");
}
