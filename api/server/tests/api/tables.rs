//! Tables: their miss, and their rules a page at a time.

use serde_json::{Value, json};

use crate::client::Client;

fn spec() -> Value {
    json!({"priority": 1, "actions": ["drop"]})
}

#[tokio::test]
async fn tables_are_listed_with_what_is_in_them() {
    let api = Client::new();
    assert_eq!(api.get("/v1/tables").await, (200, json!([])));
    for rule in ["0/rules/a", "0/rules/b", "7/rules/a"] {
        assert_eq!(api.put(&format!("/v1/tables/{rule}"), spec()).await.0, 201);
    }
    let tables = json!([
        {"table": 0, "spec": {"miss": ["drop"]}, "status": {"rules": 2, "masks": 1}},
        {"table": 7, "spec": {"miss": ["drop"]}, "status": {"rules": 1, "masks": 1}},
    ]);
    assert_eq!(api.get("/v1/tables").await, (200, tables));
}

#[tokio::test]
async fn a_miss_is_put_read_and_set_back() {
    let api = Client::new();
    let table = |miss: Value| json!({"table": 3, "spec": {"miss": miss}, "status": {"rules": 0, "masks": 0}});
    let at_first = table(json!(["drop"]));
    assert_eq!(api.get("/v1/tables/3").await, (200, at_first.clone()));
    let miss = json!(["decrement_ttl", {"goto": 4}]);
    let put = table(miss.clone());
    for _ in 0..2 {
        let answer = api.put("/v1/tables/3", json!({"miss": miss})).await;
        assert_eq!(answer, (200, put.clone()));
    }
    assert_eq!(api.get("/v1/tables").await, (200, json!([put])));
    assert_eq!(api.delete("/v1/tables/3").await, (204, json!("")));
    assert_eq!(api.get("/v1/tables/3").await, (200, at_first));
    assert_eq!(api.get("/v1/tables").await, (200, json!([])));
}

#[tokio::test]
async fn a_miss_that_makes_no_sense_is_refused() {
    let api = Client::new();
    for (spec, code, pointer) in [
        (json!({"miss": []}), "table-invalid", "/miss"),
        (json!({"miss": ["drop", "drop"]}), "table-invalid", "/miss/0"),
        (json!({"miss": [{"goto": 3}]}), "table-invalid", "/miss/0/goto"),
        (json!({"miss": ["dorp"]}), "body-invalid", "/miss/0"),
        (json!({"mist": []}), "body-invalid", "/mist"),
    ] {
        let refused = api.refusal("PUT", "/v1/tables/3", spec.to_string().as_bytes()).await;
        assert_eq!(refused, (422, code.into(), pointer.into()), "{spec}");
    }
    assert_eq!(api.get("/v1/tables").await, (200, json!([])));
}

#[tokio::test]
async fn rules_are_read_a_page_at_a_time() {
    let api = Client::new();
    for name in ["c", "a", "e", "d", "b"] {
        assert_eq!(api.put(&format!("/v1/tables/0/rules/{name}"), spec()).await.0, 201);
    }
    for (query, expected) in [
        ("", "abcde"),
        ("?limit=2", "ab"),
        ("?limit=2&cursor=b", "cd"),
        ("?limit=2&cursor=d", "e"),
        ("?limit=10000&cursor=e", ""),
        ("?cursor=a1", "bcde"),
    ] {
        let (status, rules) = api.get(&format!("/v1/tables/0/rules{query}")).await;
        let names: String =
            rules.as_array().unwrap().iter().map(|rule| rule["name"].as_str().unwrap()).collect();
        assert_eq!((status, names.as_str()), (200, expected), "{query}");
    }
}

#[tokio::test]
async fn a_query_that_is_not_taken_is_refused() {
    let api = Client::new();
    for (query, pointer, expected) in [
        ("rules?limit=0", "/limit", "0 is not from 1 to 10000"),
        ("rules?limit=10001", "/limit", "10001 is not from 1 to 10000"),
        ("rules?limit=x", "", "limit: invalid digit found in string"),
        ("rules?cursor=a%20b", "", "is not a name"),
        ("rules?from=a", "", "unknown field `from`, expected `limit` or `cursor`"),
    ] {
        let (status, problem) = api.get(&format!("/v1/tables/0/{query}")).await;
        let told = (status, problem["code"].as_str().unwrap());
        assert_eq!(told, (422, "query-invalid"), "{query}");
        assert_eq!(problem["pointer"].as_str().unwrap_or(""), pointer, "{query}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains(expected), "{query}: {detail}");
    }
}
