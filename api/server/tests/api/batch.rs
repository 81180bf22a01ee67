//! Many changes of rules as one.

use axum::http::Request;
use serde_json::{Value, json};

use crate::client::Client;

const BATCH: &str = "/v1/rules:batch";

fn spec(priority: u16) -> Value {
    json!({"priority": priority, "match": {}, "actions": ["drop"]})
}

fn put(name: &str, priority: u16) -> Value {
    json!({"put": {"table": 0, "name": name, "spec": spec(priority)}})
}

fn delete(name: &str) -> Value {
    json!({"delete": {"table": 0, "name": name}})
}

async fn rules(api: &Client) -> Vec<(String, Value)> {
    let (_, rules) = api.get("/v1/tables/0/rules").await;
    let rule = |rule: &Value| (rule["name"].as_str().unwrap().to_owned(), rule["spec"].clone());
    rules.as_array().unwrap().iter().map(rule).collect()
}

#[tokio::test]
async fn a_batch_makes_all_of_its_changes_and_counts_them() {
    let api = Client::new();
    let operations = [put("a", 1), put("b", 1), put("c", 1)];
    let changed = json!({"revision": 8, "created": 3, "replaced": 0, "unchanged": 0, "deleted": 0});
    assert_eq!(api.post(BATCH, json!({"operations": operations})).await, (200, changed));

    let operations = [put("a", 1), delete("b"), put("c", 2), put("d", 1), put("e", 1)];
    let changed = json!({"revision": 8, "created": 2, "replaced": 1, "unchanged": 1, "deleted": 1});
    assert_eq!(api.post(BATCH, json!({"operations": operations})).await, (200, changed));
    let expected = [("a", 1), ("c", 2), ("d", 1), ("e", 1)];
    assert_eq!(rules(&api).await, expected.map(|(name, priority)| (name.into(), spec(priority))));

    let changed = json!({"revision": 8, "created": 0, "replaced": 0, "unchanged": 0, "deleted": 0});
    assert_eq!(api.post(BATCH, json!({"operations": []})).await, (200, changed));
}

#[tokio::test]
async fn of_a_batch_with_one_wrong_operation_nothing_is_done() {
    let api = Client::new();
    let with = |spec: Value| json!({"put": {"table": 3, "name": "x", "spec": spec}});
    let l4 = json!({"priority": 1, "match": {"l4_dst": 80}, "actions": ["drop"]});
    let ip = json!({"priority": 1, "match": {"ip_src": "10.0.0.1/33"}, "actions": ["drop"]});
    let goto = json!({"priority": 1, "actions": [{"goto": 3}]});
    let both = json!({"put": put("x", 1)["put"], "delete": delete("x")["delete"]});
    for (wrong, code, pointer) in [
        (with(l4), "rule-invalid", "/operations/1/put/spec/match/l4_dst"),
        (with(goto), "rule-invalid", "/operations/1/put/spec/actions/0/goto"),
        (with(ip), "body-invalid", "/operations/1/put/spec/match/ip_src"),
        (put("-", 1), "body-invalid", "/operations/1/put/name"),
        (json!({"patch": {}}), "body-invalid", "/operations/1/patch"),
        (json!({}), "body-invalid", "/operations/1"),
        (both, "body-invalid", "/operations/1"),
        (delete("x"), "rule-not-found", "/operations/1/delete"),
        (put("a", 1), "batch-invalid", "/operations/1/put"),
        (delete("a"), "batch-invalid", "/operations/1/delete"),
    ] {
        let batch = json!({"operations": [put("a", 1), wrong, put("b", 1)]}).to_string();
        let refused = api.refusal("POST", BATCH, batch.as_bytes()).await;
        assert_eq!(refused, (422, code.into(), pointer.into()), "{batch}");
    }
    assert_eq!(rules(&api).await, []);
}

#[tokio::test]
async fn a_rule_that_is_named_twice_is_refused_with_both_places() {
    let operations = [put("a", 1), put("b", 1), delete("a")];
    let (status, problem) = Client::new().post(BATCH, json!({"operations": operations})).await;
    let expected = json!({
        "type": "urn:weft:problem:batch-invalid", "title": "Batch invalid", "status": 422,
        "detail": "rule a of table 0 stands at /operations/0/put already", "code": "batch-invalid",
        "pointer": "/operations/2/delete", "hint": "name each rule once",
    });
    assert_eq!((status, problem), (422, expected));
}

#[tokio::test]
async fn a_batch_has_as_many_operations_as_it_may_and_not_one_more() {
    let api = Client::new();
    let batch = |count: usize| {
        let operations: Vec<String> = (0..count)
            .map(|n| format!(r#"{{"put":{{"table":0,"name":"{n}","spec":{}}}}}"#, spec(1)))
            .collect();
        format!(r#"{{"operations":[{}]}}"#, operations.join(","))
    };
    let answer = api.send(Request::post(BATCH), batch(200_000)).await;
    assert_eq!((answer.status.as_u16(), &answer.body["created"]), (200, &json!(200_000)));
    let answer = api.send(Request::post(BATCH), batch(200_001)).await;
    assert_eq!((answer.status.as_u16(), &answer.body["code"]), (422, &json!("body-invalid")));
    let detail = answer.body["detail"].as_str().unwrap();
    assert!(detail.contains("there are more than 200000 operations; send several"), "{detail}");
}
