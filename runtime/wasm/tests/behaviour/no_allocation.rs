//! The packet path does not allocate.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use dataplane::stage::{Batch, Stage, Verdict};
use wasm::FaultTotals;

use crate::{
    guest::Act,
    harness::{Frame, context, deploy},
};

thread_local!(static CALLS: Cell<usize> = const { Cell::new(0) });

struct Counting;

// SAFETY: every call goes to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.set(CALLS.get() + 1);
        // SAFETY: the caller's promise, handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        CALLS.set(CALLS.get() + 1);
        // SAFETY: the caller's promise, handed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_batch_of_every_verdict_with_lines_of_log_and_lies_neither_allocates_nor_frees() {
    wasm::Host::prepare_thread();
    let mut deployed = deploy(1);
    let acts = [
        Act::Pass,
        Act::Drop(1),
        Act::Output(3),
        Act::Goto(2),
        Act::Rewrite,
        Act::Metadata(9),
        Act::Log(20),
        Act::LogFlood(1000),
        Act::Count(3),
        Act::Silent,
        Act::Drop(77),
    ];
    let mut frames: Vec<Frame> =
        (0..100).map(|place| acts[place % acts.len()].frame(64 + place)).collect();
    let mut contexts = vec![context(); frames.len()];
    let members: Vec<u16> = (0..).take(frames.len()).collect();

    let before = CALLS.get();
    for _ in 0..10 {
        deployed.stages[0].run(&mut Batch::new(&mut frames, &mut contexts, &members));
    }
    let calls = CALLS.get() - before;
    let FaultTotals { trap, deadline, .. } = deployed.stats.totals().faults;
    assert_eq!((calls, trap, deadline), (0, 0, 0));
    assert_eq!(contexts[0].verdict, Verdict::Next);
    assert_eq!(deployed.stats.totals().packets, 1000);
}
