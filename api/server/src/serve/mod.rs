//! The sockets, and what may be open on them at once and for how long.

mod accept;
mod connection;
mod listen;
mod socket_file;

use std::future::Future;

use axum::Router;
use tokio::sync::watch;

use crate::Limits;

pub use accept::Peer;
pub use listen::{ListenError, Listeners};

/// Serves `router` until `shutdown` is ready, then finishes what is in progress and takes the
/// socket's file away.
pub async fn serve(
    listeners: Listeners,
    router: Router,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) {
    let Listeners { unix, tcp, socket_file } = listeners;
    let (stop, stopped) = watch::channel(());
    let server = connection::Server { router, limits };
    let on_unix = accept::accept(unix, server.clone(), stopped.clone());
    let on_tcp = async {
        if let Some(tcp) = tcp {
            accept::accept(tcp, server, stopped).await;
        }
    };
    let until_shutdown = async {
        shutdown.await;
        drop(stop);
    };
    tokio::join!(on_unix, on_tcp, until_shutdown);
    drop(socket_file);
}
