//! A client reads the answers of a daemon that is newer than it.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::fmt::Debug;

use api_model::{
    Explanation, FlowTable, Flows, Module, Port, Readiness, Rule, RulesChanged, Stage, Stats,
    Version, Worker,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// What has keys that clients choose, or is read by clients and daemons alike.
const CLOSED: [&str; 9] =
    ["spec", "manifest", "match", "key", "looked_at", "actions", "ports", "stages", "drops"];

/// The same, with a key more in every object of the daemon's.
fn of_the_future(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let inner = |(key, value): (&String, &Value)| {
                let closed = CLOSED.contains(&key.as_str());
                (key.clone(), if closed { value.clone() } else { of_the_future(value) })
            };
            let more = ("of_the_future".to_owned(), json!(1));
            Value::Object(object.iter().map(inner).chain([more]).collect())
        }
        Value::Array(items) => items.iter().map(of_the_future).collect(),
        other => other.clone(),
    }
}

fn is_read<T: DeserializeOwned + Serialize + Debug>(answer: Value) {
    let future = of_the_future(&answer);
    assert_ne!(future, answer);
    let read: T = serde_json::from_value(future).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), answer);
}

fn port_counters() -> Value {
    json!({
        "rx_packets": 1, "rx_bytes": 64, "tx_packets": 0, "tx_bytes": 0, "copied_packets": 0, "mirrored_packets": 0,
        "forwarded_packets": 0, "dropped_packets": 1, "in_flight_packets": 0,
        "drops": {"table-miss": 1},
        "device": {"rx_missed": 0, "rx_errors": 0, "rx_nombuf": 0, "tx_errors": 0},
    })
}

fn stage_spec() -> Value {
    json!({
        "module": "m@1", "config": {}, "on_fault": "drop", "memory_limit_bytes": 65_536,
        "deadline_us": 1,
    })
}

fn stage_status() -> Value {
    json!({
        "module_digest": "sha256:00", "generation": 1, "counters": {"of_the_future": 1}, "packets": 0, "batches": 0,
        "verdicts": {"next": 0, "drop": 0, "output": 0, "goto": 0},
        "faults": {"trap": 0, "deadline": 0, "bad_verdict": 0}, "unavailable_packets": 0,
        "log_lines_lost": 0,
    })
}

fn worker() -> Value {
    json!({
        "id": 0, "core": 1, "numa_node": null, "ports": ["lan"], "revision": 1, "iterations": 2,
        "busy_iterations": 1, "rx_packets": 1, "busy_cycles": 1, "idle_cycles": 1, "exact_hits": 0,
        "wildcard_hits": 0, "misses": 1, "flows": 1, "flow_limit": 10, "masks": 1,
        "flows_installed": 1, "flows_evicted": 0, "flows_expired": 0, "flows_revised": 0,
        "mask_limit_hits": 0, "programs": 1, "longest_iteration_us": 1,
    })
}

#[test]
fn what_a_newer_daemon_adds_to_an_answer_is_passed_over() {
    is_read::<Port>(json!({
        "name": "lan", "spec": {"device": "net_null0"},
        "status": {"id": 0, "driver": "net_null", "mac": "02:00:00:00:00:01", "numa_node": null,
            "mtu": 1500, "link": "up", "worker": 0, "counters": port_counters()},
    }));
    is_read::<Module>(json!({
        "name": "m@1", "digest": "sha256:00", "size_bytes": 8, "used_by": [],
        "manifest": {"name": "m", "version": "1", "abi": 1, "kind": "stage", "access": ["window"],
            "window": 128,
            "writes": false, "drop_reasons": [], "counters": []},
    }));
    is_read::<Rule>(json!({
        "name": "r", "spec": {"priority": 1, "match": {}, "actions": ["drop"]},
        "status": {"packets": 1, "bytes": 64},
    }));
    is_read::<FlowTable>(json!({
        "table": 0, "spec": {"miss": ["drop"]}, "status": {"rules": 1, "masks": 1},
    }));
    is_read::<Worker>(worker());
    is_read::<Version>(json!({"version": "1.0.0", "module_abi": 1, "dpdk": "DPDK"}));
    is_read::<Readiness>(json!({"ready": true, "failing": []}));
}

#[test]
fn so_is_what_it_adds_to_stages_and_statistics() {
    is_read::<Stage>(json!({"name": "fw", "spec": stage_spec(), "status": stage_status()}));
    is_read::<Stats>(json!({
        "revision": 1, "ports": {"lan": port_counters()}, "stages": {"fw": stage_status()},
        "workers": [worker()], "rules": [{"table": 0, "name": "r", "packets": 1, "bytes": 64}],
    }));
}

#[test]
fn so_is_what_it_adds_to_flows_explanations_and_batches() {
    is_read::<RulesChanged>(json!({
        "revision": 1, "created": 1, "replaced": 0, "unchanged": 0, "deleted": 0,
    }));
    is_read::<Flows>(json!({
        "flows": [{"worker": 0, "match": {"in_port": "lan"}, "start_table": 0, "packets": 1,
            "bytes": 64, "age_ms": 1, "idle_ms": 1, "cache": "exact",
            "rules": [{"table": 0, "name": "r"}], "actions": [{"output": "wan"}]}],
        "next": "0.1",
    }));
    is_read::<Explanation>(json!({
        "key": {"in_port": "lan"}, "decision": "output", "text": "it leaves by wan",
        "steps": [{"table": 0, "rule": "r", "priority": 1, "actions": [{"output": "wan"}],
            "looked_at": {"in_port": "all"}}],
    }));
}
