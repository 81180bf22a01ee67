//! HTTP/1.1 to the daemon: one connection for each request, all within one time limit.

use std::{io, time::Duration};

use http_body_util::BodyExt;
use hyper::{
    Method, StatusCode,
    body::Bytes,
    client::conn::http1,
    header::{ACCEPT, CONTENT_TYPE, HOST, USER_AGENT},
};
use hyper_util::rt::TokioIo;
use serde::{Serialize, de::DeserializeOwned};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UnixStream},
    time::timeout,
};

use crate::{
    body::{Body, with_body},
    error::Error,
    path::ApiPath,
    server::Server,
};

const JSON: &str = "application/json, application/problem+json";

/// Asks one daemon.
#[derive(Debug)]
pub(crate) struct Client {
    /// Where it is.
    pub(crate) server: Server,
    /// How long one request may take, from connecting to the last byte of the answer.
    pub(crate) timeout: Duration,
}

/// What is sent along with a request.
#[derive(Debug)]
pub(crate) enum Payload {
    /// Nothing.
    Empty,
    /// A resource.
    Json(String),
    /// A module.
    Wasm(Vec<u8>),
}

impl Payload {
    /// A resource as JSON.
    pub(crate) fn json<T: Serialize>(resource: &T) -> Self {
        Self::Json(serde_json::to_string(resource).expect("a resource is plain data"))
    }
}

/// What the daemon answered, whatever it was.
#[derive(Debug)]
pub(crate) struct Answer {
    /// What was asked, such as `GET /v1/ports`, for messages.
    request: String,
    /// The status.
    pub(crate) status: StatusCode,
    /// The body.
    pub(crate) body: Bytes,
}

impl Answer {
    /// Reads the body as the resource that it should be.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_slice(&self.body)
            .map_err(|source| Error::Answer { request: self.request.clone(), source })
    }

    /// The answer itself, if the daemon did as it was asked.
    pub(crate) fn accepted(self) -> Result<Self, Error> {
        if self.status.is_success() {
            Ok(self)
        } else {
            Err(Error::refused(self.request, self.status, &self.body))
        }
    }
}

impl Client {
    /// Reads a resource.
    pub(crate) async fn get(&self, path: &ApiPath) -> Result<Answer, Error> {
        self.ask(Method::GET, path, Payload::Empty).await?.accepted()
    }

    /// Creates or replaces a resource.
    pub(crate) async fn put(&self, path: &ApiPath, payload: Payload) -> Result<Answer, Error> {
        self.ask(Method::PUT, path, payload).await?.accepted()
    }

    /// Creates a resource that the daemon names.
    pub(crate) async fn post(&self, path: &ApiPath, payload: Payload) -> Result<Answer, Error> {
        self.ask(Method::POST, path, payload).await?.accepted()
    }

    /// Deletes a resource.
    pub(crate) async fn delete(&self, path: &ApiPath) -> Result<Answer, Error> {
        self.ask(Method::DELETE, path, Payload::Empty).await?.accepted()
    }

    /// Asks, and hands back the answer whatever its status is.
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &ApiPath,
        payload: Payload,
    ) -> Result<Answer, Error> {
        timeout(self.timeout, self.exchange(method, path, payload))
            .await
            .map_err(|_| Error::Timeout { server: self.server.clone(), limit: self.timeout })?
    }

    async fn exchange(
        &self,
        method: Method,
        path: &ApiPath,
        payload: Payload,
    ) -> Result<Answer, Error> {
        let unreachable = |source| Error::Unreachable { server: self.server.clone(), source };
        match &self.server {
            Server::Unix(socket) => {
                let stream = UnixStream::connect(socket).await.map_err(unreachable)?;
                self.send(stream, method, path, payload).await
            }
            Server::Tcp { host, port } => {
                let address = (host.as_str(), *port);
                let stream = TcpStream::connect(address).await.map_err(unreachable)?;
                self.send(stream, method, path, payload).await
            }
        }
    }

    async fn send<S>(
        &self,
        stream: S,
        method: Method,
        path: &ApiPath,
        payload: Payload,
    ) -> Result<Answer, Error>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let broken = |source| Error::Broken { server: self.server.clone(), source };
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
        // Whatever ends the connection is told to the request that waits on it.
        drop(tokio::spawn(connection));

        let described = format!("{method} {path}");
        let request = request(&self.server, method, path, payload);
        let (head, body) = sender.send_request(request).await.map_err(broken)?.into_parts();
        let body = body.collect().await.map_err(broken)?.to_bytes();
        Ok(Answer { request: described, status: head.status, body })
    }
}

fn request(
    server: &Server,
    method: Method,
    path: &ApiPath,
    payload: Payload,
) -> hyper::Request<Body> {
    let host = match server {
        Server::Unix(_) => "localhost".to_owned(),
        Server::Tcp { .. } => server.to_string().trim_start_matches("http://").to_owned(),
    };
    let (kind, bytes): (_, Bytes) = match payload {
        Payload::Empty => (None, Bytes::new()),
        Payload::Json(text) => (Some("application/json"), text.into()),
        Payload::Wasm(bytes) => (Some("application/wasm"), bytes.into()),
    };
    let request = hyper::Request::builder()
        .method(method)
        .uri(path.as_uri())
        .header(HOST, host)
        .header(USER_AGENT, concat!("weft/", env!("CARGO_PKG_VERSION")))
        .header(ACCEPT, JSON);
    let request =
        kind.into_iter().fold(request, |request, kind| request.header(CONTENT_TYPE, kind));
    let request = request.body(()).expect("a parsed server and path make a valid request");
    with_body(request, bytes)
}

/// Whether a failure to connect means that nobody listens, rather than that access is denied.
pub(crate) fn nobody_listens(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}
