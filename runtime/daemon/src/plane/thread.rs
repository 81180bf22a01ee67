use std::{
    io,
    sync::mpsc::{Sender, channel},
    thread::{self, JoinHandle},
};

use dataplane::worker::{Mailbox, Settings, Worker};
use dpdk::{Mbuf, RxQueue, TxQueue, tsc};

use crate::cores::{Cores, CoresError};

/// Why a worker could not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// The system gives no thread.
    #[error("cannot start a thread for the worker on core {core}: {source}")]
    Thread {
        /// Where it was to run.
        core: u32,
        /// What the system says.
        source: io::Error,
    },
    /// It cannot run where it should.
    #[error(transparent)]
    Cores(#[from] CoresError),
    /// DPDK does not know it.
    #[error("cannot register the worker on core {core} with DPDK: {source}")]
    Register {
        /// Where it runs.
        core: u32,
        /// What DPDK says.
        source: dpdk::Error,
    },
}

/// A worker's thread.
pub(super) struct Thread {
    handle: JoinHandle<()>,
}

impl Thread {
    /// Starts a worker, and returns when it polls.
    pub(super) fn start(
        core: u32,
        cores: &Cores,
        eal: &dpdk::Eal,
        settings: Settings,
        mailbox: Mailbox<Mbuf, RxQueue, TxQueue>,
    ) -> Result<Self, StartError> {
        let (cores, eal) = (cores.clone(), eal.clone());
        let (started, wait) = channel();
        let body = move || {
            let fatal = AbortOnPanic;
            poll(core, &cores, &eal, Worker::new(settings, mailbox), &started);
            std::mem::forget(fatal);
        };
        let handle = thread::Builder::new()
            .name(format!("worker-{core}"))
            .spawn(body)
            .map_err(|source| StartError::Thread { core, source })?;
        wait.recv().expect("a worker says whether it has started")?;
        Ok(Self { handle })
    }

    /// Waits until it has ended.
    pub(super) fn join(self) {
        if self.handle.join().is_err() {
            tracing::error!("a worker ended in a panic");
        }
    }
}

/// The thread's life: to its core, known to DPDK, ready for signals of Wasm, then polling.
fn poll(
    core: u32,
    cores: &Cores,
    eal: &dpdk::Eal,
    mut worker: Worker<Mbuf, RxQueue, TxQueue>,
    started: &Sender<Result<(), StartError>>,
) {
    let settled = cores.enter(core).map_err(StartError::from).and_then(|()| {
        eal.register_thread().map_err(|source| StartError::Register { core, source })
    });
    wasm::Host::prepare_thread();
    let (_registration, report) = match settled {
        Ok(registration) => (Some(registration), Ok(())),
        Err(error) => (None, Err(error)),
    };
    let fit = report.is_ok();
    if started.send(report).is_ok() && fit {
        while worker.iterate(tsc()) {}
    }
}

/// Ends the process if its thread panics: ports that nobody polls are worse than a restart.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        tracing::error!("a worker panicked; the daemon ends, so that it can be started again");
        std::process::abort();
    }
}
