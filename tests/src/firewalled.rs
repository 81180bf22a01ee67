//! The configuration of most tests: two ports, and the firewall between them.

use serde_json::{Value, json};

use crate::{Namespaces, artefact};

/// Ports `a` and `b` on two namespaces, and all packets between them through the stage `fw`, which
/// runs the module `firewall@1.0.0` with this configuration.
#[must_use]
pub fn firewalled(namespaces: &Namespaces, firewall: &Value) -> Value {
    let (a, b) = namespaces.pair();
    let rule = |from: &str, to: &str| {
        json!({
            "priority": 10,
            "match": {"in_port": from},
            "actions": [{"stage": "fw"}, {"output": to}],
        })
    };
    json!({
        "ports": {"a": {"device": a.af_packet(0)}, "b": {"device": b.af_packet(1)}},
        "modules": {"firewall@1.0.0": {"path": artefact::module("firewall-1.0.0")}},
        "stages": {"fw": {"module": "firewall@1.0.0", "config": firewall}},
        "tables": {"0": {"rules": {"a-to-b": rule("a", "b"), "b-to-a": rule("b", "a")}}},
    })
}

/// A firewall's configuration that denies one TCP port.
#[must_use]
pub fn deny_tcp(port: u16) -> Value {
    json!({
        "default": "allow",
        "rules": [{"action": "deny", "protocol": "tcp", "destination_ports": port}],
    })
}
