//! Refused requests: the status, the code, and the field.

use std::time::Duration;

use api_server::Limits;
use axum::{body::Body, http::Request};
use serde_json::{Value, json};

use crate::{client::Client, fake::Fake};

#[tokio::test]
async fn a_problem_has_all_that_a_client_needs() {
    let answer = Client::new().put("/v1/ports/lan", json!({"device": "missing"})).await;
    let expected = json!({
        "type": "urn:weft:problem:device-not-found", "title": "Device not found", "status": 422,
        "detail": "there is no device missing", "code": "device-not-found", "pointer": "/device",
        "hint": "see dpdk-devbind --status",
    });
    assert_eq!(answer, (422, expected));
}

#[tokio::test]
async fn every_kind_of_error_has_its_status_and_code() {
    let api = Client::new();
    for (method, path, body, status, code, pointer) in [
        ("GET", "/v1/ports/x", "", 404, "port-not-found", ""),
        ("DELETE", "/v1/ports/x", "", 404, "port-not-found", ""),
        ("GET", "/v1/modules/x", "", 404, "module-not-found", ""),
        ("DELETE", "/v1/modules/x", "", 404, "module-not-found", ""),
        ("GET", "/v1/stages/x", "", 404, "stage-not-found", ""),
        ("DELETE", "/v1/stages/x", "", 404, "stage-not-found", ""),
        ("GET", "/v1/tables/0/rules/x", "", 404, "rule-not-found", ""),
        ("DELETE", "/v1/tables/0/rules/x", "", 404, "rule-not-found", ""),
        ("PUT", "/v1/stages/x", r#"{"module": "x"}"#, 422, "module-not-found", "/module"),
        ("PUT", "/v1/ports/x", r#"{"device": "taken"}"#, 409, "device-in-use", ""),
        ("PUT", "/v1/ports/x", r#"{"device": "one-too-many"}"#, 409, "limit-exceeded", ""),
        ("PUT", "/v1/ports/x", r#"{"device": "stalled"}"#, 503, "worker-stalled", ""),
        ("PUT", "/v1/ports/x", r#"{"device": "broken"}"#, 500, "internal", ""),
        ("PUT", "/v1/ports/x", r#"{"device": "panic"}"#, 500, "internal", ""),
    ] {
        let pointer = if pointer.is_empty() { Value::Null } else { pointer.into() };
        let refused = api.refusal(method, path, body.as_bytes()).await;
        assert_eq!(refused, (status, code.into(), pointer), "{method} {path} {body}");
    }
}

#[tokio::test]
async fn a_spec_that_makes_no_sense_does_not_reach_the_daemon() {
    let api = Client::new();
    for (path, spec, code, pointer) in [
        ("/v1/ports/x", json!({"device": ""}), "port-invalid", "/device"),
        ("/v1/ports/x", json!({"device": "d", "mtu": 1}), "port-invalid", "/mtu"),
        ("/v1/stages/x", json!({"module": "m", "deadline_us": 0}), "stage-invalid", "/deadline_us"),
        (
            "/v1/stages/x",
            json!({"module": "m", "config": {"a/b": [null]}}),
            "stage-invalid",
            "/config/a~1b/0",
        ),
        ("/v1/tables/0/rules/x", json!({"priority": 1, "actions": []}), "rule-invalid", "/actions"),
        (
            "/v1/tables/0/rules/x",
            json!({"priority": 1, "match": {"l4_dst": 80}, "actions": ["drop"]}),
            "rule-invalid",
            "/match/l4_dst",
        ),
        (
            "/v1/tables/3/rules/x",
            json!({"priority": 1, "actions": [{"output": "a"}, {"goto": 3}]}),
            "rule-invalid",
            "/actions/1/goto",
        ),
    ] {
        let refused = api.refusal("PUT", path, spec.to_string().as_bytes()).await;
        assert_eq!(refused, (422, code.into(), pointer.into()), "{path} {spec}");
        assert_eq!(api.get(path).await.0, 404, "{path} {spec}");
    }
}

#[tokio::test]
async fn a_name_or_number_that_cannot_be_is_refused() {
    let api = Client::new();
    let long = format!("/v1/ports/{}", "x".repeat(64));
    for path in [
        "/v1/ports/..%2f..%2fetc",
        "/v1/ports/%00",
        "/v1/ports/%ff",
        "/v1/ports/%E2%80%AE",
        "/v1/ports/%3Cimg%20onerror%3E",
        &long,
        "/v1/tables/254/rules",
        "/v1/tables/-1/rules",
        "/v1/tables/00/rules",
        "/v1/tables/x/rules/a",
        "/v1/tables/0/rules/-a",
    ] {
        let refused = api.refusal("GET", path, b"").await;
        assert_eq!(refused, (422, "path-invalid".into(), Value::Null), "{path}");
    }
    let (_, problem) = api.get("/v1/ports/a%20b").await;
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains(r#""a b" is not a name: a name is 1 to 63 letters"#), "{detail}");
}

#[tokio::test]
async fn an_unknown_path_or_method_is_a_problem_too() {
    let api = Client::new();
    for path in ["/", "/v1", "/v1/port/x", "/v1/ports/", "/v1/ports/a/b", "/v2/ports"] {
        let refused = api.refusal("GET", path, b"").await;
        assert_eq!(refused, (404, "route-not-found".into(), Value::Null), "{path}");
    }
    for (method, path, allowed) in [
        ("POST", "/v1/ports/x", "GET,HEAD,PUT,DELETE"),
        ("PATCH", "/v1/ports/x", "GET,HEAD,PUT,DELETE"),
        ("DELETE", "/v1/modules", "GET,HEAD,POST"),
        ("PUT", "/v1/stats", "GET,HEAD"),
    ] {
        let request = Request::builder().method(method).uri(path);
        let answer = api.send(request, Body::empty()).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.body["code"]),
            (405, &json!("method-not-allowed"))
        );
        let given: Vec<&str> = answer.headers["allow"].to_str().unwrap().split(',').collect();
        for method in allowed.split(',') {
            assert!(given.contains(&method), "{path}: {given:?}");
        }
        assert_eq!(given.len(), allowed.split(',').count(), "{path}: {given:?}");
    }
}

#[tokio::test]
async fn a_daemon_that_does_not_answer_in_time_is_said_to_be_late() {
    let (fake, keeper) = Fake::gated();
    let limits = Limits { answer_time: Duration::from_millis(20), ..Limits::default() };
    let api = Client::with(fake, limits);
    let refused = api.refusal("GET", "/v1/ports/lan", b"").await;
    assert_eq!(refused, (503, "timed-out".into(), Value::Null));
    keeper.open();
}
