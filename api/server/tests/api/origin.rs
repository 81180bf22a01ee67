//! What a web page in a browser on this machine could send.

use api_server::Limits;

use crate::running::{Running, exchange, status};

fn request(target: &str, headers: &str) -> String {
    format!("GET {target} HTTP/1.1\r\n{headers}connection: close\r\n\r\n")
}

#[tokio::test]
async fn over_tcp_only_a_loopback_host_without_origin_is_served() {
    let server = Running::start(Limits::default()).await;
    let port = server.address.port();
    let own = format!("host: 127.0.0.1:{port}\r\n");
    for (target, headers, expected) in [
        ("/version", own.as_str(), "200"),
        ("/version", "host: localhost\r\n", "200"),
        ("/version", "host: [::1]:9177\r\n", "200"),
        ("http://localhost/version", "host: localhost\r\n", "200"),
        ("/version", "", "403"),
        ("/version", "host: rebound.test\r\n", "403"),
        ("/version", "host: localhost.rebound.test\r\n", "403"),
        ("/version", "host: localhost\r\nhost: rebound.test\r\n", "403"),
        ("http://rebound.test/version", "host: localhost\r\n", "403"),
        ("/version", "host: localhost\r\norigin: http://evil.test\r\n", "403"),
        ("/version", "host: localhost\r\norigin: null\r\n", "403"),
        ("/version", "host: localhost\r\norigin: http://localhost:8000\r\n", "403"),
        ("/nowhere", "host: rebound.test\r\n", "403"),
    ] {
        let answer = exchange(server.tcp().await, &request(target, headers)).await;
        assert_eq!(status(&answer), expected, "{target} {headers:?}: {answer}");
        assert_eq!(answer.contains(r#""code":"origin-forbidden""#), expected == "403", "{answer}");
    }
    server.stop().await;
}

#[tokio::test]
async fn on_the_socket_the_host_does_not_matter() {
    let server = Running::start(Limits::default()).await;
    let answer = exchange(server.unix().await, &request("/version", "host: weft\r\n")).await;
    assert_eq!(status(&answer), "200", "{answer}");
    server.stop().await;
}
