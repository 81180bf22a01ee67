//! Rules by the hundred thousand, and packets by the million: what is matched, cached and bounded.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod batches;
mod changes;
mod explained;
mod flows;
mod limits;
mod many_rules;

use serde_json::{Value, json};

/// A rule that sends what it matches out.
fn rule(priority: u16, matching: &Value, actions: &Value) -> Value {
    json!({"priority": priority, "match": matching, "actions": actions})
}

fn put(table: u8, name: &str, spec: &Value) -> Value {
    json!({"put": {"table": table, "name": name, "spec": spec}})
}

fn delete(table: u8, name: &str) -> Value {
    json!({"delete": {"table": table, "name": name}})
}

fn batch(operations: Vec<Value>) -> Value {
    json!({"operations": operations})
}

/// A device that takes packets and gives none.
fn sink(number: u8) -> Value {
    json!({"device": format!("net_null{number},no-rx=1")})
}

/// A device that gives the packets of `in.pcap`, once.
fn source() -> Value {
    json!({"device": "net_pcap0,rx_pcap=in.pcap"})
}
