//! Ports, stages, rules and what can only be read.

use serde_json::{Value, json};

use crate::{client::Client, fake::Fake};

const NOTHING: &str = "";

fn counters() -> Value {
    json!({
        "rx_packets": 0, "rx_bytes": 0, "tx_packets": 0, "tx_bytes": 0, "copied_packets": 0, "mirrored_packets": 0,
        "forwarded_packets": 0, "dropped_packets": 0, "in_flight_packets": 0, "drops": {},
        "device": {"rx_missed": 0, "rx_errors": 0, "rx_nombuf": 0, "tx_errors": 0},
    })
}

/// Puts, reads, lists and deletes `resource`, whose spec is written as `spec`.
async fn lives(api: &Client, list: &str, name: &str, spec: Value, resource: Value) {
    let path = &format!("{list}/{name}");
    assert_eq!(api.get(list).await, (200, json!([])));
    assert_eq!(api.put(path, spec.clone()).await, (201, resource.clone()));
    assert_eq!(api.put(path, spec).await, (200, resource.clone()));
    assert_eq!(api.get(path).await, (200, resource.clone()));
    assert_eq!(api.get(list).await, (200, json!([resource])));
    assert_eq!(api.delete(path).await, (204, json!(NOTHING)));
    assert_eq!(api.delete(path).await.0, 404);
    assert_eq!(api.get(path).await.0, 404);
    assert_eq!(api.get(list).await, (200, json!([])));
}

#[tokio::test]
async fn a_port_is_put_read_listed_and_deleted() {
    let spec = json!({"device": "net_null0", "mtu": 9000});
    let port = json!({
        "name": "lan", "spec": spec, "status": {
            "id": 0, "driver": "net_null", "mac": "02:00:00:00:00:01", "numa_node": null,
            "mtu": 1500, "link": "up", "worker": 0, "counters": counters(),
        },
    });
    lives(&Client::new(), "/v1/ports", "lan", spec, port).await;
}

#[tokio::test]
async fn a_stage_is_put_read_listed_and_deleted_and_shows_its_defaults() {
    let api = Client::new();
    let module = axum::http::Request::put("/v1/modules/nat@1.0.0");
    assert_eq!(api.send(module, "\0asm").await.status, 201);
    let stage = json!({
        "name": "nat",
        "spec": {"module": "nat@1.0.0", "config": {}, "on_fault": "drop",
            "memory_limit_bytes": 16_777_216, "deadline_us": 10_000},
        "status": {
            "module_digest": "", "generation": 0, "counters": {}, "packets": 0, "batches": 0,
            "verdicts": {"next": 0, "drop": 0, "output": 0, "goto": 0},
            "faults": {"trap": 0, "deadline": 0, "bad_verdict": 0},
            "unavailable_packets": 0, "log_lines_lost": 0,
        },
    });
    lives(&api, "/v1/stages", "nat", json!({"module": "nat@1.0.0"}), stage).await;
}

#[tokio::test]
async fn a_rule_is_put_read_listed_and_deleted() {
    let spec = json!({
        "priority": 10, "match": {"in_port": "lan", "ip_proto": "tcp", "l4_dst": 443},
        "actions": ["decrement_ttl", {"output": "wan"}],
    });
    let rule = json!({"name": "https", "spec": spec, "status": {"packets": 0, "bytes": 0}});
    lives(&Client::new(), "/v1/tables/253/rules", "https", spec, rule).await;
}

#[tokio::test]
async fn workers_counters_and_versions_are_read() {
    let api = Client::new();
    assert_eq!(api.get("/v1/workers").await, (200, json!([])));
    let stats = json!({"revision": 7, "ports": {}, "stages": {}, "workers": [], "rules": []});
    assert_eq!(api.get("/v1/stats").await, (200, stats));
    let version = json!({"version": "0.1.0", "module_abi": 1, "dpdk": "DPDK 22.11"});
    assert_eq!(api.get("/version").await, (200, version));
}

#[tokio::test]
async fn a_daemon_that_is_not_ready_is_alive_and_says_why() {
    let api = Client::new();
    assert_eq!(api.get("/readyz").await, (200, json!({"ready": true, "failing": []})));
    let api = Client::with(Fake::unready("worker 0 stands still"), Default::default());
    let readiness = json!({"ready": false, "failing": ["worker 0 stands still"]});
    assert_eq!(api.get("/readyz").await, (503, readiness));
    assert_eq!(api.get("/healthz").await, (200, json!("ok\n")));
}

#[tokio::test]
async fn a_name_in_a_path_may_be_percent_encoded() {
    let api = Client::new();
    assert_eq!(api.put("/v1/ports/%6can", json!({"device": "net_null0"})).await.0, 201);
    assert_eq!(api.get("/v1/ports/lan").await.1["name"], "lan");
}
