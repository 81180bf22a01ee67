//! The end of a server.

use std::time::Duration;

use api_server::Limits;
use tokio::{io::AsyncWriteExt, net::UnixStream};

use crate::{
    fake::Fake,
    running::{Running, status, to_end},
};

const REQUEST: &str = "GET /v1/ports/lan HTTP/1.1\r\nhost: localhost\r\n\r\n";

#[tokio::test]
async fn a_request_in_progress_is_answered_and_no_other_is_taken() {
    let (fake, keeper) = Fake::gated();
    let server = Running::with(fake, Limits::default()).await;
    let (socket, mut stream) = (server.socket.clone(), server.unix().await);
    stream.write_all(REQUEST.as_bytes()).await.unwrap();
    let keeper = keeper.reached().await;
    let stopping = tokio::spawn(server.stop());
    while UnixStream::connect(&socket).await.is_ok() {
        tokio::task::yield_now().await;
    }
    keeper.open();
    let answer = to_end(stream).await;
    assert_eq!(status(&answer), "404", "{answer}");
    stopping.await.unwrap();
}

#[tokio::test]
async fn it_does_not_wait_for_ever_for_a_request() {
    let (fake, keeper) = Fake::gated();
    let limits = Limits { drain_time: Duration::from_millis(20), ..Limits::default() };
    let server = Running::with(fake, limits).await;
    let mut stream = server.unix().await;
    stream.write_all(REQUEST.as_bytes()).await.unwrap();
    let keeper = keeper.reached().await;
    server.stop().await;
    assert_eq!(to_end(stream).await, "");
    keeper.open();
}

#[tokio::test]
async fn idle_connections_do_not_hold_it_up() {
    let limits = Limits { head_time: Duration::from_secs(60), ..Limits::default() };
    let server = Running::start(limits).await;
    let idle = (server.unix().await, server.tcp().await);
    tokio::time::timeout(Duration::from_secs(4), server.stop()).await.unwrap();
    drop(idle);
}
