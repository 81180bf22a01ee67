use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use api_model::ApiConfig;
use tokio::net::{TcpListener, UnixListener};

use super::socket_file::SocketFile;

/// The open sockets that the API is served on.
#[derive(Debug)]
pub struct Listeners {
    pub(super) unix: UnixListener,
    pub(super) tcp: Option<TcpListener>,
    pub(super) socket_file: SocketFile,
}

/// Why a socket could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// A process answers on the Unix socket.
    #[error(
        "another process listens on {}: stop it, or give this one another socket", .0.display()
    )]
    InUse(PathBuf),
    /// The file is something else, and perhaps somebody's.
    #[error("{} is there and is not a socket: remove it, or name another path", .0.display())]
    NotASocket(PathBuf),
    /// The Unix socket cannot be made or looked at.
    #[error("cannot listen on {}: {source}", .path.display())]
    Socket {
        /// The path of the socket.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The address can be reached from outside.
    #[error(
        "cannot listen on {0}: it is not a loopback address, and the API has no TLS; listen on \
         127.0.0.1 or [::1] and forward to it"
    )]
    NotLoopback(SocketAddr),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Address {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
}

impl Listeners {
    /// Opens what the configuration asks for. A socket that a process left behind is replaced.
    ///
    /// # Errors
    ///
    /// If a socket is in use or cannot be made, or the address is not a loopback one.
    pub async fn open(config: &ApiConfig) -> Result<Self, ListenError> {
        let tcp = match config.listen {
            Some(address) => Some(open_tcp(address).await?),
            None => None,
        };
        let (unix, socket_file) = SocketFile::listen(&config.socket).await?;
        Ok(Self { unix, tcp, socket_file })
    }

    /// The path of the Unix socket.
    #[must_use]
    pub fn socket(&self) -> &Path {
        self.socket_file.path()
    }

    /// The address that is listened on, with the port that the system chose if it was to.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.tcp.as_ref()?.local_addr().ok()
    }
}

async fn open_tcp(address: SocketAddr) -> Result<TcpListener, ListenError> {
    if !address.ip().is_loopback() {
        return Err(ListenError::NotLoopback(address));
    }
    let listener = TcpListener::bind(address).await;
    listener.map_err(|source| ListenError::Address { address, source })
}
