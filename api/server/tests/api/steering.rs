//! Meters, groups and learned addresses.

use serde_json::{Value, json};

use crate::client::Client;

/// Puts, reads, lists and deletes `resource`, whose spec is written as `spec`.
async fn lives(list: &str, spec: Value, resource: Value) {
    let api = Client::new();
    let path = &format!("{list}/it");
    assert_eq!(api.get(list).await, (200, json!([])));
    assert_eq!(api.put(path, spec.clone()).await, (201, resource.clone()));
    assert_eq!(api.put(path, spec).await, (200, resource.clone()));
    assert_eq!(api.get(path).await, (200, resource.clone()));
    assert_eq!(api.get(list).await, (200, json!([resource])));
    assert_eq!(api.delete(path).await.0, 204);
    for (status, answer) in [api.get(path).await, api.delete(path).await] {
        assert_eq!(status, 404);
        assert!(answer["code"].as_str().unwrap().ends_with("-not-found"), "{answer}");
    }
}

#[tokio::test]
async fn a_meter_is_put_read_listed_and_deleted_and_shows_its_defaults() {
    let spec = json!({"algorithm": "rfc2698", "committed_rate": 1000, "committed_burst": 1500,
        "peak_rate": 2000, "peak_burst": 3000, "yellow": "remark:10"});
    let mut whole = spec.clone();
    whole["unit"] = json!("bits");
    whole["red"] = json!("drop");
    let none = json!({"packets": 0, "bytes": 0});
    let status = json!({"green": none, "yellow": none, "red": none});
    lives("/v1/meters", spec, json!({"name": "it", "spec": whole, "status": status})).await;
}

#[tokio::test]
async fn a_group_is_put_read_listed_and_deleted() {
    let spec = json!({"kind": "select", "buckets": [
        {"weight": 2, "watch_port": "a", "actions": ["decrement_ttl", {"output": "a"}]},
        {"weight": 1, "actions": [{"output": "b"}]},
    ]});
    let group = json!({"name": "it", "spec": spec, "status": {"buckets": []}});
    lives("/v1/groups", spec, group).await;
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_with_the_place() {
    let api = Client::new();
    for (path, spec, code, pointer) in [
        (
            "/v1/meters/it",
            json!({"algorithm": "rfc2697", "committed_rate": 1, "committed_burst": 1}),
            "meter-invalid",
            "/excess_burst",
        ),
        ("/v1/groups/it", json!({"kind": "all", "buckets": []}), "group-invalid", "/buckets"),
        ("/v1/mac-table", json!({"age_s": 0}), "mac-table-invalid", "/age_s"),
    ] {
        let (status, answer) = api.put(path, spec).await;
        assert_eq!((status, &answer["code"]), (422, &json!(code)), "{path}");
        assert_eq!(answer["pointer"], json!(pointer), "{path}");
    }
}

#[tokio::test]
async fn learned_addresses_are_read_limited_and_forgotten() {
    let api = Client::new();
    let entry = json!({"vlan": 7, "mac": "02:00:00:00:00:01", "port": "lan", "idle_ms": 1});
    let table = |age, entries: &[Value]| {
        json!({
            "spec": {"age_s": age, "limit": 8192},
            "status": {"entries": entries.len(), "learned": 0, "moved": 0, "evicted": 0},
            "entries": entries,
        })
    };
    let known = [entry];
    assert_eq!(api.get("/v1/mac-table").await, (200, table(300, &known)));
    assert_eq!(api.put("/v1/mac-table", json!({"age_s": 9})).await, (200, table(9, &known)));
    assert_eq!(api.delete("/v1/mac-table").await.0, 204);
    assert_eq!(api.get("/v1/mac-table").await, (200, table(9, &[])));
}
