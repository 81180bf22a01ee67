//! Innocent traffic through the same daemon, which must not notice what a test does.

use serde_json::{Value, json};

use crate::{Namespaces, Song, artefact};

/// Datagrams a second.
const RATE: u32 = 1000;

/// Two namespaces, two ports and a stage of their own, and numbered datagrams between them.
#[derive(Debug)]
pub struct Canary {
    namespaces: Namespaces,
}

impl Canary {
    /// Makes its namespaces.
    #[track_caller]
    #[must_use]
    pub fn hatch() -> Self {
        Self { namespaces: Namespaces::two() }
    }

    /// Its part of a configuration: ports `canary-a` and `canary-b`, a stage and two rules.
    #[must_use]
    pub fn config(&self) -> Value {
        let (a, b) = self.namespaces.pair();
        let rule = |from: &str, to: &str| {
            json!({
                "priority": 60000,
                "match": {"in_port": from},
                "actions": [{"stage": "canary"}, {"output": to}],
            })
        };
        json!({
            "ports": {
                "canary-a": {"device": a.af_packet(90)},
                "canary-b": {"device": b.af_packet(91)},
            },
            "modules": {"canary": {"path": artefact::module("firewall-1.0.0")}},
            "stages": {"canary": {"module": "canary", "config": {"default": "allow"}}},
            "tables": {"0": {"rules": {
                "canary-there": rule("canary-a", "canary-b"),
                "canary-back": rule("canary-b", "canary-a"),
            }}},
        })
    }

    /// Starts to send, once the way is open.
    #[track_caller]
    #[must_use]
    pub fn sing(&self) -> Song {
        let (a, b) = self.namespaces.pair();
        Song::start(a, b, RATE)
    }
}
