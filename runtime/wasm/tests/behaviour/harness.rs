//! Packets that are vectors, and the few steps from a guest to its verdicts.

use std::{
    sync::{Arc, LazyLock},
    time::{Duration, Instant},
};

use dataplane::{
    Packet, PortId, ReasonId,
    packet::Headers,
    stage::{Batch, Context, Stage, Verdict},
};
use serde_json::json;
use wasm::{Deployed, Deployment, Host, HostOptions, Limits, Module, OnFault, WasmStage};

use crate::guest::{Act, Guest};

/// The reasons that the engine has for those of the guest.
pub(crate) const REASONS: [ReasonId; 2] = [ReasonId(100), ReasonId(101)];

/// The most packets of a call.
pub(crate) const BATCH: u32 = 32;

/// The one host of this process.
pub(crate) static HOST: LazyLock<Host> =
    LazyLock::new(|| Host::new(HostOptions::default()).unwrap());

/// A packet that is a vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame(pub(crate) Vec<u8>);

impl Frame {
    /// The most bytes that it grows to at its end.
    pub(crate) const ROOM: usize = 2048;
}

impl Packet for Frame {
    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }

    fn push_front(&mut self, count: usize) -> Option<&mut [u8]> {
        // The content is not defined, and not what a test would expect.
        self.0.splice(..0, std::iter::repeat_n(0xcc, count));
        Some(&mut self.0)
    }

    fn pull_front(&mut self, count: usize) -> Option<&mut [u8]> {
        self.0 = self.0.get(count..)?.to_vec();
        Some(&mut self.0)
    }

    fn push_back(&mut self, count: usize) -> Option<&mut [u8]> {
        let length = self.0.len() + count;
        if length > Self::ROOM {
            return None;
        }
        self.0.resize(length, 0xcc);
        Some(&mut self.0)
    }

    fn pull_back(&mut self, count: usize) -> Option<&mut [u8]> {
        self.0.truncate(self.0.len().checked_sub(count)?);
        Some(&mut self.0)
    }

    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn fresh(&self, length: usize) -> Option<Self> {
        (length <= Self::ROOM).then(|| Self(vec![0xcc; length]))
    }
}

/// What the engine knows of a packet that nothing is known of.
pub(crate) fn context() -> Context {
    Context {
        in_port: PortId(7),
        headers: Headers::default(),
        flow_hash: 0,
        metadata: 0,
        rewritten: false,
        verdict: Verdict::Next,
    }
}

/// A deployment of a module, with little memory and much time.
pub(crate) fn deployment(module: Arc<Module>) -> Deployment {
    let reasons = REASONS[..module.manifest().drop_reasons.len()].to_vec();
    let limits = Limits {
        memory_bytes: 4 << 20,
        deadline: Duration::from_secs(5),
        start_deadline: Duration::from_millis(100),
        // Tests of one thing may fail as often as they like.
        faults: u32::MAX,
        ..Limits::default()
    };
    let (config, on_fault) = (json!({}), OnFault::Drop);
    Deployment { module, config, limits, on_fault, reasons, batch: BATCH }
}

pub(crate) fn compile(guest: &Guest) -> Arc<Module> {
    Module::compile(&HOST, &guest.bytes()).unwrap()
}

/// The guest as it is, on so many workers.
pub(crate) fn deploy(workers: usize) -> Deployed {
    deployment(GUEST.clone()).deploy(&HOST, workers).unwrap()
}

/// The guest as it is, on one worker, with a policy.
pub(crate) fn deploy_with(on_fault: OnFault, deadline: Duration) -> (WasmStage, Deployed) {
    let mut deployment = deployment(GUEST.clone());
    deployment.on_fault = on_fault;
    deployment.limits.deadline = deadline;
    let mut deployed = deployment.deploy(&HOST, 1).unwrap();
    (deployed.stages.remove(0), deployed)
}

/// The guest as it is, on one worker, with one spare and, as its host is gone, no more.
pub(crate) fn deploy_with_one_spare(on_fault: OnFault) -> (WasmStage, Deployed) {
    let mut deployed = deploy_without_host(on_fault, 1);
    (deployed.stages.remove(0), deployed)
}

/// The same on so many workers, each with one spare.
pub(crate) fn deploy_without_host(on_fault: OnFault, workers: usize) -> Deployed {
    let host = Host::new(HostOptions::default()).unwrap();
    let module = Module::compile(&host, &Guest::new().bytes()).unwrap();
    let deployment = Deployment { on_fault, ..deployment(module) };
    deployment.deploy(&host, workers).unwrap()
}

/// The guest as it is.
pub(crate) static GUEST: LazyLock<Arc<Module>> = LazyLock::new(|| compile(&Guest::new()));

/// Runs frames through a stage as one batch; returns the verdicts.
pub(crate) fn run(stage: &mut WasmStage, frames: &mut [Frame]) -> Vec<Verdict> {
    let mut contexts = vec![context(); frames.len()];
    let members: Vec<u16> = (0..).take(frames.len()).collect();
    // What no verdict was written over is seen.
    contexts.iter_mut().for_each(|context| context.verdict = Verdict::Output(PortId(0xdead)));
    stage.run(&mut Batch::new(frames, &mut contexts, &members));
    contexts.into_iter().map(|context| context.verdict).collect()
}

/// Runs one frame of 64 bytes for each act, as one batch; returns the verdicts.
pub(crate) fn act(stage: &mut WasmStage, acts: &[Act]) -> Vec<Verdict> {
    let mut frames: Vec<Frame> = acts.iter().map(|act| act.frame(64)).collect();
    run(stage, &mut frames)
}

/// Waits for something that another thread does soon.
pub(crate) fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "waited too long for {what}");
        std::thread::yield_now();
    }
}
