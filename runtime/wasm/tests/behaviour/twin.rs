//! A module against the same thing in Rust.

use std::cell::RefCell;

use dataplane::stage::Verdict;
use proptest::prelude::*;
use wasm::{Deployed, Module};

use crate::{
    guest::{Act, Guest, answering},
    harness::{Frame, HOST, REASONS, compile, deployment, run},
};

/// Swaps the addresses of what is long enough; drops the others.
fn macswap() -> Guest {
    let mut guest = Guest::new();
    guest.process = r#"
        (func (export "weft_process") (param $n i32) (local $d i32) (local $w i32) (local $a i64)
          (local.set $d (i32.const 4096))
          (local.set $n (i32.add (local.get $d) (i32.mul (local.get $n) (i32.const 48))))
          (block $done (loop $next
            (br_if $done (i32.ge_u (local.get $d) (local.get $n)))
            (if (i32.lt_u (i32.load offset=12 (local.get $d)) (i32.const 12))
              (then (i32.store offset=36 (local.get $d) (i32.const 1))
                    (i32.store offset=40 (local.get $d) (i32.const 0)))
              (else
                (local.set $w (i32.load offset=8 (local.get $d)))
                (local.set $a (i64.load32_u (local.get $w)))
                (local.set $a (i64.or (local.get $a) (i64.shl
                  (i64.load16_u offset=4 (local.get $w)) (i64.const 32))))
                (i32.store (local.get $w) (i32.load offset=6 (local.get $w)))
                (i32.store16 offset=4 (local.get $w) (i32.load16_u offset=10 (local.get $w)))
                (i64.store32 offset=6 (local.get $w) (local.get $a))
                (i64.store16 offset=10 (local.get $w)
                  (i64.shr_u (local.get $a) (i64.const 32)))
                (i32.store offset=44 (local.get $d) (i32.const 1))
                (i32.store offset=36 (local.get $d) (i32.const 0))))
            (local.set $d (i32.add (local.get $d) (i32.const 48)))
            (br $next))))"#
        .into();
    guest
}

fn native(frame: &mut Frame) -> Verdict {
    let Some(addresses) = frame.0.first_chunk_mut::<12>() else {
        return Verdict::Drop(REASONS[0]);
    };
    addresses.rotate_left(6);
    Verdict::Next
}

thread_local!(static MACSWAP: RefCell<Deployed> =
    RefCell::new(deployment(compile(&macswap())).deploy(&HOST, 1).unwrap()));

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn a_module_does_what_its_native_twin_does(
        batch in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..80)
    ) {
        let mut frames: Vec<Frame> = batch.into_iter().map(Frame).collect();
        let mut twins = frames.clone();
        let expected: Vec<Verdict> = twins.iter_mut().map(native).collect();
        MACSWAP.with_borrow_mut(|deployed| {
            prop_assert_eq!(run(&mut deployed.stages[0], &mut frames), expected);
            Ok(())
        })?;
        prop_assert_eq!(frames, twins);
    }

    #[test]
    fn a_module_with_a_byte_changed_is_refused_or_contained(
        place in 8_usize..4096,
        byte in any::<u8>(),
        process in prop::sample::select(vec![0, 1]),
    ) {
        let guest = if process == 0 { Guest::new() } else { macswap() };
        let mut bytes = guest.bytes();
        let place = place % bytes.len();
        bytes[place] = byte;
        if let Ok(module) = Module::compile(&HOST, &bytes) {
            let mut deployment = deployment(module);
            deployment.limits.start_deadline = std::time::Duration::from_millis(20);
            deployment.limits.deadline = std::time::Duration::from_millis(5);
            if let Ok(mut deployed) = deployment.deploy(&HOST, 1) {
                let mut frames =
                    [Act::Pass.frame(64), Act::Rewrite.frame(64), Act::Scribble.frame(64)];
                run(&mut deployed.stages[0], &mut frames);
                let totals = deployed.stats.totals();
                prop_assert_eq!((totals.packets, totals.verdicts.packets()), (3, 3));
            }
        }
    }
}

#[test]
fn a_module_that_does_nothing_gives_no_verdict() {
    let mut guest = Guest::new();
    guest.process = answering("weft_process", "(param i32)", "nop");
    let mut deployed = deployment(compile(&guest)).deploy(&HOST, 1).unwrap();
    let mut frames = [Frame(vec![1; 64])];
    let verdicts = run(&mut deployed.stages[0], &mut frames);
    assert_eq!(verdicts, [dataplane::DropReason::BadVerdict.into()]);
}
