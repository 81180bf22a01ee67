use std::{fmt, future::Future, io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, UnixListener},
    sync::{Semaphore, watch},
    task::JoinSet,
    time::sleep,
};

use super::connection::Server;

/// Who is on the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// A process on the Unix socket, with its user and, if that is known, its number.
    Unix {
        /// The user that it ran as when it connected.
        uid: u32,
        /// The process.
        pid: Option<i32>,
    },
    /// An address on loopback.
    Tcp(SocketAddr),
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix { uid, pid: Some(pid) } => write!(f, "uid {uid}, pid {pid}"),
            Self::Unix { uid, pid: None } => write!(f, "uid {uid}"),
            Self::Tcp(address) => address.fmt(f),
        }
    }
}

/// A listener of either kind.
pub(super) trait Accept {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    fn next(&self) -> impl Future<Output = io::Result<(Self::Stream, Peer)>> + Send;
}

impl Accept for UnixListener {
    type Stream = tokio::net::UnixStream;

    async fn next(&self) -> io::Result<(Self::Stream, Peer)> {
        let (stream, _) = self.accept().await?;
        let process = stream.peer_cred()?;
        Ok((stream, Peer::Unix { uid: process.uid(), pid: process.pid() }))
    }
}

impl Accept for TcpListener {
    type Stream = tokio::net::TcpStream;

    async fn next(&self) -> io::Result<(Self::Stream, Peer)> {
        let (stream, address) = self.accept().await?;
        Ok((stream, Peer::Tcp(address)))
    }
}

/// How long to wait when the process has no descriptor left for a connection.
const EXHAUSTED: Duration = Duration::from_millis(100);

/// Takes connections as long as there is room for more, until `stop` is closed; then waits for those
/// that are open.
pub(super) async fn accept(listener: impl Accept, server: Server, mut stop: watch::Receiver<()>) {
    let room = Arc::new(Semaphore::new(server.limits.connections));
    let mut open = JoinSet::new();
    let stopping = stop.clone();
    loop {
        let next = async {
            let place = room.clone().acquire_owned().await.expect("nobody closes the semaphore");
            (place, listener.next().await)
        };
        let (place, accepted) = tokio::select! {
            next = next => next,
            _ = stop.changed() => break,
            Some(_) = open.join_next() => continue,
        };
        match accepted {
            Ok((stream, peer)) => {
                let served = server.clone().serve(stream, peer, stopping.clone());
                open.spawn(async move {
                    served.await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "no connection could be taken");
                sleep(EXHAUSTED).await;
            }
        }
    }
    drop(listener);
    while open.join_next().await.is_some() {}
}
