//! The management API, and the signals and conditions that end the daemon.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use api_model::ApiConfig;
use api_server::{Limits, Listeners};
use tokio::{
    runtime::{Builder, Runtime},
    signal::unix::{Signal, SignalKind, signal},
    time::sleep,
};

use crate::control::Daemon;

/// Threads for the API, beside those for what blocks.
const THREADS: usize = 2;
/// How often an idle daemon is looked at.
const GLANCE: Duration = Duration::from_millis(50);

/// The API's sockets, open but not served yet, and the threads that will serve them. A signal that
/// comes in between is acted on as soon as it is served.
pub(crate) struct Api {
    runtime: Runtime,
    listeners: Listeners,
    terminate: Signal,
    interrupt: Signal,
}

impl Api {
    /// Opens the sockets. Its threads run where the caller does.
    pub(crate) fn open(config: &ApiConfig) -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("api")
            .enable_all()
            .build()
            .context("cannot start the threads of the API")?;
        let listeners = runtime.block_on(Listeners::open(config))?;
        let (terminate, interrupt) = {
            let _entered = runtime.enter();
            let await_signal = |kind| signal(kind).context("cannot await signals");
            (await_signal(SignalKind::terminate())?, await_signal(SignalKind::interrupt())?)
        };
        Ok(Self { runtime, listeners, terminate, interrupt })
    }

    /// Serves until a signal comes, or until no packet has come for `idle`.
    pub(crate) fn serve(self, daemon: &Arc<Daemon>, idle: Option<Duration>) {
        let Self { runtime, listeners, mut terminate, mut interrupt } = self;
        let limits = Limits::default();
        let router = api_server::router(Arc::clone(daemon) as _, limits);
        tracing::info!(socket = %listeners.socket().display(), address = ?listeners.address(), "ready");
        let stop = async {
            let reason = tokio::select! {
                _ = terminate.recv() => "SIGTERM",
                _ = interrupt.recv() => "SIGINT",
                () = idle_for(daemon, idle) => "no packets",
            };
            tracing::info!(reason, "ending");
        };
        runtime.block_on(api_server::serve(listeners, router, limits, stop));
    }
}

/// Waits until no packet has come for so long; for ever, if no time is given.
async fn idle_for(daemon: &Arc<Daemon>, idle: Option<Duration>) {
    let Some(idle) = idle else { return std::future::pending().await };
    let (mut last, mut since) = (None, Instant::now());
    while since.elapsed() < idle {
        sleep(GLANCE).await;
        let daemon = Arc::clone(daemon);
        let received = tokio::task::spawn_blocking(move || daemon.received()).await;
        // A worker that does not answer says nothing about packets.
        if let Ok(Ok(received)) = received
            && last != Some(received)
        {
            (last, since) = (Some(received), Instant::now());
        }
    }
}
