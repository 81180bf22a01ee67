//! Bodies: their JSON, type, encoding, size and speed.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use axum::{
    body::{Body, Bytes, HttpBody},
    http::{Request, request::Builder},
};
use hyper::body::Frame;
use serde_json::json;

use crate::client::Client;

const SPEC: &str = r#"{"device": "net_null0"}"#;

fn put() -> Builder {
    Request::put("/v1/ports/lan")
}

#[tokio::test]
async fn what_is_no_json_is_refused_with_line_and_column() {
    let api = Client::new();
    let deep = "[".repeat(100_000);
    for (body, place) in [
        (&b""[..], "line 1 column 0"),
        (b"{\n  \"device\": \"net_null0\",\n}", "line 3 column 1"),
        (b"{\"device\": \"net_null0\"} x", "line 1 column 25"),
        (b"\xef\xbb\xbf{}", "line 1 column 1"),
        (b"{\"device\": NaN}", "line 1 column 12"),
        (b"{\"device\": \"\xff\"}", "line 1 column 13"),
        (deep.as_bytes(), "line 1 column"),
    ] {
        let answer = api.send(put(), body.to_vec()).await;
        let code = answer.body["code"].as_str().unwrap();
        let detail = answer.body["detail"].as_str().unwrap();
        let shown = String::from_utf8_lossy(&body[..body.len().min(40)]);
        assert!(detail.contains(place), "{shown}: {detail}");
        // A list is no spec, however deep: that is found out first.
        let status = if body == deep.as_bytes() { 422 } else { 400 };
        assert_eq!((answer.status.as_u16(), code), (status, "body-invalid"), "{shown}");
    }
}

#[tokio::test]
async fn json_of_another_shape_is_refused_with_the_field() {
    let api = Client::new();
    let rule = "/v1/tables/0/rules/r";
    let deep = format!(r#"{{"module": "m", "config": {{"a": {}"#, "[".repeat(1000));
    for (path, body, status, pointer, detail) in [
        (
            "/v1/ports/p",
            r#"{"device": 7}"#,
            422,
            "/device",
            "invalid type: integer `7`, expected a string",
        ),
        ("/v1/ports/p", r#"{"device": "d", "mtuu": 1}"#, 422, "/mtuu", "unknown field `mtuu`"),
        ("/v1/ports/p", r#"{"device": "d", "device": "d"}"#, 422, "", "duplicate field `device`"),
        ("/v1/ports/p", r#"{"device": "d", "mtu": 65536}"#, 422, "/mtu", "expected u16"),
        ("/v1/ports/p", "{}", 422, "", "missing field `device`"),
        ("/v1/ports/p", "null", 422, "", "invalid type: null"),
        ("/v1/stages/s", r#"{"module": "a b"}"#, 422, "/module", "is not a name"),
        ("/v1/stages/s", &deep, 400, "", "recursion limit exceeded"),
        (rule, r#"{"priority": 1, "actions": ["drop", "dorp"]}"#, 422, "/actions/1", "`dorp`"),
        (
            rule,
            r#"{"priority": 1, "actions": [{"goto": 254}]}"#,
            422,
            "/actions/0/goto",
            "0 to 253",
        ),
        (
            rule,
            r#"{"priority": 1, "actions": [{"set_field": {"eth_src": "2:0"}}]}"#,
            422,
            "/actions/0/set_field/eth_src",
            "six bytes in hexadecimal",
        ),
        (
            rule,
            r#"{"priority": 1, "match": {"ip_src": "10.0.0.1/8"}, "actions": ["drop"]}"#,
            422,
            "/match/ip_src",
            "write 10.0.0.0/8",
        ),
    ] {
        let answer = api.send(Request::put(path), body.to_owned()).await;
        let got = (answer.status.as_u16(), answer.body["pointer"].as_str().unwrap_or(""));
        assert_eq!(got, (status, pointer), "{body}: {}", answer.body);
        let said = answer.body["detail"].as_str().unwrap();
        assert!(said.contains(detail) && said.contains(" at line 1 column "), "{body}: {said}");
    }
}

#[tokio::test]
async fn a_body_of_another_type_or_encoding_is_refused() {
    let api = Client::new();
    for (path, header, value, status) in [
        ("/v1/ports/p", "content-type", "application/json; charset=utf-8", 201),
        ("/v1/ports/p", "content-type", "Application/JSON", 200),
        ("/v1/ports/p", "content-type", "text/plain", 415),
        ("/v1/ports/p", "content-type", "application/x-www-form-urlencoded", 415),
        ("/v1/ports/p", "content-encoding", "gzip", 415),
        ("/v1/modules/m", "content-type", "application/wasm", 422),
        ("/v1/modules/m", "content-type", "application/octet-stream", 422),
        ("/v1/modules/m", "content-type", "application/json", 415),
        ("/v1/modules/m", "content-encoding", "zstd", 415),
    ] {
        let answer = api.send(Request::put(path).header(header, value), SPEC).await;
        assert_eq!(answer.status.as_u16(), status, "{path} {header}: {value}");
        if status == 415 {
            assert_eq!(answer.body["code"], "media-type-unsupported", "{header}: {value}");
        }
    }
}

/// A body that yields spaces as often as it is asked, and counts.
struct Endless(Arc<AtomicUsize>);

impl HttpBody for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.fetch_add(CHUNK.len(), Ordering::Relaxed);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&CHUNK)))))
    }
}

static CHUNK: [u8; 16 << 10] = [b' '; 16 << 10];

#[tokio::test]
async fn reading_stops_where_a_body_becomes_too_large() {
    let api = Client::new();
    for (request, limit) in [
        (Request::put("/v1/ports/p"), 1 << 20),
        (Request::put("/v1/modules/m"), 16 << 20),
        (Request::post("/v1/rules:batch"), 64 << 20),
    ] {
        let read = Arc::new(AtomicUsize::new(0));
        let answer = api.send(request, Body::new(Endless(read.clone()))).await;
        assert_eq!((answer.status.as_u16(), &answer.body["code"]), (413, &json!("body-too-large")));
        let read = read.load(Ordering::Relaxed);
        assert!(read > limit && read <= limit + CHUNK.len(), "{limit}: {read}");
    }
}

#[tokio::test]
async fn a_body_of_the_largest_size_is_taken_and_one_byte_more_is_not() {
    let api = Client::new();
    let fill = |length: usize| format!("{SPEC}{}", " ".repeat(length - SPEC.len()));
    assert_eq!(api.send(put(), fill(1 << 20)).await.status, 201);
    assert_eq!(api.send(put(), fill((1 << 20) + 1)).await.status, 413);
    let wasm = |length: usize| format!("\0asm{}", " ".repeat(length - 4));
    let post = || Request::post("/v1/modules");
    assert_eq!(api.send(post(), wasm(16 << 20)).await.status, 201);
    assert_eq!(api.send(post(), wasm((16 << 20) + 1)).await.status, 413);
}

#[tokio::test]
async fn a_body_that_says_to_be_too_large_is_not_read_at_all() {
    let read = Arc::new(AtomicUsize::new(0));
    let request = put().header("content-length", (1 << 20) + 1);
    let answer = Client::new().send(request, Body::new(Endless(read.clone()))).await;
    assert_eq!((answer.status.as_u16(), read.load(Ordering::Relaxed)), (413, 0));
}

/// A body that never comes.
struct Silent;

impl HttpBody for Silent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Pending
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_arrive_in_time_is_given_up() {
    let api = Client::new();
    for request in [
        Request::put("/v1/ports/p"),
        Request::put("/v1/modules/m"),
        Request::post("/v1/rules:batch"),
    ] {
        let answer = api.send(request, Body::new(Silent)).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.body["code"]),
            (408, &json!("request-timeout"))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn uploads_and_batches_wait_for_their_turn_and_not_for_ever() {
    let limits = api_server::Limits { uploads: 1, batches: 1, ..Default::default() };
    let api = Client::with(Default::default(), limits);
    for (path, method) in [("/v1/modules/m", "PUT"), ("/v1/rules:batch", "POST")] {
        let request = || Request::builder().method(method).uri(path);
        let slow = api.send(request(), Body::new(Silent));
        let waiting = api.send(request(), Body::new(Silent));
        let (slow, waiting) = tokio::join!(slow, waiting);
        assert_eq!((slow.status.as_u16(), waiting.status.as_u16()), (408, 503), "{path}");
        assert_eq!(waiting.body["code"], "unavailable", "{path}");
    }
    let answer = api.send(Request::put("/v1/modules/n"), "\0asm").await;
    assert_eq!(answer.status, 201);
}
