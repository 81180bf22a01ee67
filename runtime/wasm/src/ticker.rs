use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use wasmtime::Engine;

use crate::bell::Bell;

/// The thread by which overdue modules are interrupted, and a clock that costs a load to read.
///
/// Every stage holds it, so that deadlines are kept for as long as there is a stage.
#[derive(Debug)]
pub(crate) struct Ticker {
    tick: Duration,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    nanoseconds: AtomicU64,
    stopped: AtomicBool,
}

impl Ticker {
    /// Starts the thread, which also passes on the marks of `bell`.
    pub(crate) fn start(engine: Engine, tick: Duration, bell: Arc<Bell>) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let its = Arc::clone(&shared);
        let step = u64::try_from(tick.as_nanos()).unwrap_or(u64::MAX);
        let thread = thread::Builder::new().name("wasm-ticker".into()).spawn(move || {
            while !its.stopped.load(Ordering::Relaxed) {
                thread::sleep(tick);
                engine.increment_epoch();
                its.nanoseconds.fetch_add(step, Ordering::Relaxed);
                bell.pass_on();
            }
        })?;
        Ok(Self { tick, shared, thread: Some(thread) })
    }

    /// The time since the start, as far as it was seen.
    pub(crate) fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.shared.nanoseconds.load(Ordering::Relaxed))
    }

    /// The ticks after which `deadline` has surely passed: the running one counts for nothing.
    pub(crate) fn ticks_in(&self, deadline: Duration) -> u64 {
        let ticks = deadline.as_nanos().div_ceil(self.tick.as_nanos());
        u64::try_from(ticks).map_or(u64::MAX / 2, |ticks| ticks.saturating_add(1))
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It cannot have panicked, and if it had, there would be nobody to tell.
            drop(thread.join());
        }
    }
}
