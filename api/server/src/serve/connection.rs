use std::pin::pin;

use axum::{Router, body::Body, http::Request};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch,
    time::{sleep, timeout},
};
use tower::ServiceExt;

use super::Peer;
use crate::Limits;

/// What every connection is served with.
#[derive(Clone)]
pub(super) struct Server {
    pub(super) router: Router,
    pub(super) limits: Limits,
}

impl Server {
    /// Answers the requests of one connection, until it is closed, has been open for long enough or
    /// `stop` is closed. HTTP/1.1 only.
    pub(super) async fn serve<S>(self, stream: S, peer: Peer, mut stop: watch::Receiver<()>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Self { router, limits } = self;
        let service = service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(peer);
            router.clone().oneshot(request)
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head_time)
            .max_buf_size(limits.head_bytes)
            .max_headers(limits.headers)
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = pin!(connection);
        let grace = tokio::select! {
            result = connection.as_mut() => return log(result, peer),
            _ = stop.changed() => limits.drain_time,
            () = sleep(limits.connection_time) => limits.request_time(),
        };
        connection.as_mut().graceful_shutdown();
        match timeout(grace, connection).await {
            Ok(result) => log(result, peer),
            Err(_) => tracing::info!(%peer, "connection cut"),
        }
    }
}

fn log(result: hyper::Result<()>, peer: Peer) {
    if let Err(error) = result {
        tracing::debug!(%peer, %error, "connection ended");
    }
}
