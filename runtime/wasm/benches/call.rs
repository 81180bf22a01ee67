//! What a packet costs in a module, beside the same in Rust: medians, at several sizes of batch.
//!
//! `cargo bench -p wasm`
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed bench")]
#![allow(clippy::print_stdout, reason = "it prints what it measured")]

use std::{hint::black_box, time::Instant};

use dataplane::{
    Packet, PortId,
    packet::Headers,
    stage::{Batch, Context, Stage, Verdict},
};
use serde_json::json;
use wasm::{Deployment, Host, HostOptions, Limits, Module, OnFault, WasmStage};

/// The packets of one measurement.
const PACKETS: usize = 1 << 14;
/// The measurements of which the median is taken.
const ROUNDS: usize = 101;

#[derive(Clone)]
struct Frame([u8; 64]);

impl Packet for Frame {
    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }

    fn push_front(&mut self, _: usize) -> Option<&mut [u8]> {
        None
    }

    fn pull_front(&mut self, _: usize) -> Option<&mut [u8]> {
        None
    }

    fn push_back(&mut self, _: usize) -> Option<&mut [u8]> {
        None
    }

    fn pull_back(&mut self, _: usize) -> Option<&mut [u8]> {
        None
    }

    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn fresh(&self, _: usize) -> Option<Self> {
        None
    }
}

/// Swaps the addresses of a frame.
struct NativeSwap;

impl Stage<Frame> for NativeSwap {
    fn run(&mut self, batch: &mut Batch<'_, Frame>) {
        for index in 0..batch.len() {
            let (packet, context) = batch.get_mut(index);
            let (destination, source) = packet.bytes_mut()[..12].split_at_mut(6);
            destination.swap_with_slice(source);
            context.verdict = Verdict::Next;
        }
    }
}

/// A module whose answer to each packet is `decide`, in which `$d` is the descriptor and `$w` the
/// window.
fn module(writes: bool, decide: &str) -> Vec<u8> {
    let text = format!(
        r#"(module
        (memory (export "memory") 1)
        (func (export "weft_abi_version") (result i32) i32.const 1)
        (func (export "weft_alloc") (param i32) (result i32) i32.const 32768)
        (func (export "weft_init") (param i32 i32) (result i64) i64.const 0)
        (func (export "weft_batch") (param i32 i32) (result i32) i32.const 4096)
        (func (export "weft_process") (param $n i32) (local $d i32) (local $w i32) (local $a i64)
          (local.set $d (i32.const 4096))
          (local.set $n (i32.add (local.get $d) (i32.mul (local.get $n) (i32.const 48))))
          (block $done (loop $next
            (br_if $done (i32.ge_u (local.get $d) (local.get $n)))
            (local.set $w (i32.load offset=8 (local.get $d)))
            {decide}
            (i32.store offset=36 (local.get $d) (i32.const 0))
            (local.set $d (i32.add (local.get $d) (i32.const 48)))
            (br $next))))
        (@custom "weft.manifest"
          "{{\"name\":\"bench\",\"version\":\"1\",\"window\":64,\"writes\":{writes}}}"))"#
    );
    wat::parse_str(text).unwrap()
}

const SWAP: &str = "
    (local.set $a (i64.load (local.get $w)))
    (i32.store (local.get $w) (i32.load offset=6 (local.get $w)))
    (i32.store16 offset=4 (local.get $w) (i32.load16_u offset=10 (local.get $w)))
    (i32.store offset=6 (local.get $w) (i32.wrap_i64 (local.get $a)))
    (i32.store16 offset=10 (local.get $w)
      (i32.wrap_i64 (i64.shr_u (local.get $a) (i64.const 32))))
    (i32.store offset=44 (local.get $d) (i32.const 1))";

fn deploy(host: &Host, bytes: &[u8], batch: usize) -> WasmStage {
    let deployment = Deployment {
        module: Module::compile(host, bytes).unwrap(),
        config: json!({}),
        limits: Limits::default(),
        on_fault: OnFault::Drop,
        reasons: Vec::new(),
        batch: u32::try_from(batch).unwrap(),
    };
    deployment.deploy(host, 1).unwrap().stages.remove(0)
}

/// Nanoseconds for each packet: the median of the rounds.
fn measure(stage: &mut impl Stage<Frame>, batch: usize) -> f64 {
    let mut frames = vec![Frame([7; 64]); batch];
    let context = Context {
        in_port: PortId(0),
        headers: Headers::default(),
        flow_hash: 0,
        metadata: 0,
        rewritten: false,
        verdict: Verdict::Next,
    };
    let mut contexts = vec![context; batch];
    let members: Vec<u16> = (0..).take(batch).collect();
    let mut round = || {
        let start = Instant::now();
        for _ in 0..PACKETS / batch {
            stage.run(&mut Batch::new(black_box(&mut frames), &mut contexts, &members));
        }
        start.elapsed().as_secs_f64() * 1e9 / PACKETS as f64
    };
    let mut times: Vec<f64> = (0..ROUNDS).map(|_| round()).collect();
    times.sort_by(f64::total_cmp);
    times[ROUNDS / 2]
}

fn main() {
    let host = Host::new(HostOptions::default()).unwrap();
    Host::prepare_thread();
    println!("ns a packet of 64 bytes, window 64, median of {ROUNDS} rounds");
    println!("batch  native swap  module swap  (difference)   module that only says next");
    for batch in [1, 8, 32] {
        let native = measure(&mut NativeSwap, batch);
        let swap = measure(&mut deploy(&host, &module(true, SWAP), batch), batch);
        let next = measure(&mut deploy(&host, &module(false, ""), batch), batch);
        let (factor, more) = (swap / native, swap - native);
        println!(
            "{batch:>5}  {native:>11.1}  {swap:>11.1}  ({more:+.1}, x{factor:.1})  {next:>10.1}"
        );
    }
}
