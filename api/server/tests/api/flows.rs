//! What is in the caches, and why packets fare as they do.

use serde_json::{Value, json};

use crate::client::Client;

fn flow(worker: u16) -> Value {
    json!({
        "worker": worker, "match": {"ip_dst": "10.0.0.0/8"}, "start_table": 0, "packets": 3,
        "bytes": 180, "age_ms": 1000, "idle_ms": 7, "cache": "wildcard", "rules": [], "actions": [],
    })
}

#[tokio::test]
async fn flows_are_read_a_page_at_a_time() {
    let api = Client::new();
    for (query, workers, next) in [
        ("", &[0, 1, 2][..], Value::Null),
        ("?limit=2", &[0, 1], "2.0".into()),
        ("?limit=2&cursor=2.0", &[2], Value::Null),
        ("?worker=1", &[1], Value::Null),
        ("?worker=9", &[], Value::Null),
    ] {
        let flows: Vec<Value> = workers.iter().map(|worker| flow(*worker)).collect();
        let answer = api.get(&format!("/v1/flows{query}")).await;
        assert_eq!(answer, (200, json!({"flows": flows, "next": next})), "{query}");
    }
}

#[tokio::test]
async fn a_query_for_flows_that_is_not_taken_is_refused() {
    let api = Client::new();
    for (query, expected) in [
        ("limit=0", "0 is not from 1 to 10000"),
        ("limit=10001", "10001 is not from 1 to 10000"),
        ("cursor=x", "a cursor is what the page before gave as next"),
        ("worker=-1", "worker: invalid digit found in string"),
        ("port=lan", "unknown field `port`"),
    ] {
        let (status, problem) = api.get(&format!("/v1/flows?{query}")).await;
        assert_eq!((status, &problem["code"]), (422, &json!("query-invalid")), "{query}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(expected), "{query}: {detail}");
    }
}

#[tokio::test]
async fn flows_are_flushed() {
    let api = Client::new();
    assert_eq!(api.delete("/v1/flows").await, (204, json!("")));
    assert_eq!(api.get("/v1/flows").await, (200, json!({"flows": [], "next": null})));
}

#[tokio::test]
async fn a_packet_is_explained() {
    let request = json!({"in_port": "lan", "packet": "02:00:00:00:00:01", "table": 7});
    let expected = json!({
        "key": {"in_port": "lan"},
        "steps": [{"table": 7, "rule": null, "priority": null, "actions": ["drop"], "looked_at": {}}],
        "decision": "drop", "text": "6 bytes are dropped",
    });
    assert_eq!(Client::new().post("/v1/explain", request).await, (200, expected));
}

#[tokio::test]
async fn what_cannot_be_explained_is_refused() {
    let api = Client::new();
    for (request, code, pointer) in [
        (json!({"in_port": "missing", "packet": "00"}), "explain-invalid", "/in_port"),
        (json!({"in_port": "lan", "packet": "0"}), "body-invalid", "/packet"),
        (json!({"in_port": "lan", "packet": "00", "table": 254}), "body-invalid", "/table"),
        (json!({"in_port": "lan"}), "body-invalid", ""),
    ] {
        let pointer = if pointer.is_empty() { Value::Null } else { pointer.into() };
        let refused = api.refusal("POST", "/v1/explain", request.to_string().as_bytes()).await;
        assert_eq!(refused, (422, code.into(), pointer), "{request}");
    }
}
