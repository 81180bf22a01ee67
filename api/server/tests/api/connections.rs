//! Connections that are slow, large or many.

use std::time::{Duration, Instant};

use api_server::Limits;
use tokio::io::AsyncWriteExt;

use crate::running::{Running, exchange, status, to_end};

const REQUEST: &str = "GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
const SHORT: Duration = Duration::from_millis(100);
/// Far more than anything that is cut after `SHORT` takes.
const LONG: Duration = Duration::from_secs(5);

async fn impatient() -> Running {
    Running::start(Limits { head_time: SHORT, ..Limits::default() }).await
}

#[tokio::test]
async fn a_connection_that_sends_nothing_or_half_a_head_is_cut() {
    let server = impatient().await;
    for sent in ["", "GET /healthz HTTP/1.1\r\nhost: loc"] {
        let begun = Instant::now();
        let answer = exchange(server.unix().await, sent).await;
        assert!(["none", "408"].contains(&status(&answer)), "{answer}");
        assert!(begun.elapsed() >= SHORT && begun.elapsed() < LONG, "{:?}", begun.elapsed());
    }
    server.stop().await;
}

#[tokio::test]
async fn a_head_that_drips_in_is_cut_all_the_same() {
    let server = impatient().await;
    let mut stream = server.unix().await;
    let begun = Instant::now();
    let mut sent = "GET /healthz HTTP/1.1\r\n";
    while stream.write_all(sent.as_bytes()).await.is_ok() {
        assert!(begun.elapsed() < LONG, "it still reads");
        tokio::time::sleep(SHORT / 10).await;
        sent = "x: y\r\n";
    }
    assert!(begun.elapsed() >= SHORT, "{:?}", begun.elapsed());
    assert!(["none", "408"].contains(&status(&to_end(stream).await)));
    server.stop().await;
}

#[tokio::test]
async fn an_idle_connection_is_closed_after_its_answer() {
    let server = impatient().await;
    let answer = exchange(server.unix().await, &REQUEST.replace("close", "keep-alive")).await;
    assert_eq!(status(&answer), "200", "{answer}");
    server.stop().await;
}

#[tokio::test]
async fn a_large_head_is_refused() {
    let server = Running::start(Limits::default()).await;
    let long = format!("GET /healthz HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(17 << 10));
    let many = format!("GET /healthz HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(65));
    for request in [long, many] {
        let answer = exchange(server.unix().await, &request).await;
        assert_eq!(status(&answer), "431", "{answer}");
    }
    server.stop().await;
}

#[tokio::test]
async fn one_connection_more_than_there_may_be_waits_for_its_turn() {
    let server =
        Running::start(Limits { connections: 1, head_time: SHORT, ..Limits::default() }).await;
    let silent = server.unix().await;
    let begun = Instant::now();
    let answer = exchange(server.unix().await, REQUEST).await;
    assert_eq!(status(&answer), "200", "{answer}");
    assert!(begun.elapsed() >= SHORT / 2, "it did not wait: {:?}", begun.elapsed());
    // The other listener has room of its own.
    let silent_too = server.tcp().await;
    let answer = exchange(server.unix().await, REQUEST).await;
    assert_eq!(status(&answer), "200", "{answer}");
    drop((silent, silent_too));
    server.stop().await;
}

#[tokio::test]
async fn a_connection_is_not_open_for_ever() {
    let limits = Limits { connection_time: SHORT, ..Limits::default() };
    let server = Running::start(limits).await;
    let begun = Instant::now();
    let answer = exchange(server.unix().await, &REQUEST.replace("close", "keep-alive")).await;
    assert_eq!(status(&answer), "200", "{answer}");
    assert!(begun.elapsed() < LONG, "{:?}", begun.elapsed());
    server.stop().await;
}

#[tokio::test]
async fn a_huge_upload_is_refused_after_what_fits_and_some_buffers() {
    let limit = 64 << 10;
    let server = Running::start(Limits { module_bytes: limit, ..Limits::default() }).await;
    let mut stream = server.unix().await;
    let head = "POST /v1/modules HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(4096));
    let mut sent = 0;
    while sent < 1 << 30 && stream.write_all(chunk.as_bytes()).await.is_ok() {
        sent += 4096;
    }
    assert!(sent < limit + (1 << 20), "{sent}");
    let answer = to_end(stream).await;
    assert_eq!(status(&answer), "413", "{answer}");
    server.stop().await;
}
