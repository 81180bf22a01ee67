//! A server on real sockets.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use api_model::ApiConfig;
use api_server::{Limits, Listeners, router, serve};
use tempfile::TempDir;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpStream, UnixStream},
    sync::oneshot,
    task::JoinHandle,
};

use crate::fake::Fake;

pub(crate) struct Running {
    pub(crate) socket: PathBuf,
    pub(crate) address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
    _folder: TempDir,
}

impl Running {
    pub(crate) async fn start(limits: Limits) -> Self {
        Self::with(Fake::default(), limits).await
    }

    pub(crate) async fn with(fake: Fake, limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("run/api.sock");
        let listen = Some("127.0.0.1:0".parse().unwrap());
        let listeners =
            Listeners::open(&ApiConfig { socket: socket.clone(), listen }).await.unwrap();
        let address = listeners.address().unwrap();
        let (stop, stopped) = oneshot::channel();
        let shutdown = async { stopped.await.unwrap() };
        let task = tokio::spawn(serve(listeners, router(Arc::new(fake), limits), limits, shutdown));
        Self { socket, address, stop, task, _folder: folder }
    }

    pub(crate) async fn unix(&self) -> UnixStream {
        UnixStream::connect(&self.socket).await.unwrap()
    }

    pub(crate) async fn tcp(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Asks it to stop, and waits until it has.
    pub(crate) async fn stop(self) {
        self.stop.send(()).unwrap();
        self.task.await.unwrap();
    }
}

/// Sends bytes and reads until the server closes the connection.
pub(crate) async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    bytes: &str,
) -> String {
    stream.write_all(bytes.as_bytes()).await.unwrap();
    to_end(stream).await
}

/// What the server still sends until it closes the connection.
pub(crate) async fn to_end(mut stream: impl AsyncRead + Unpin) -> String {
    let mut answer = Vec::new();
    // A connection that is closed with bytes unread is reset, which is as good an end.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

pub(crate) fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("none")
}
