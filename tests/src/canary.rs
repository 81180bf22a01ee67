//! Innocent traffic through the same daemon, which must not notice what a test does.

use serde_json::{Value, json};

use crate::{Namespaces, artefact, steady::Report, tool::Background};

const PORT: u16 = 9000;
/// Datagrams a second.
const RATE: u32 = 1000;

/// Two namespaces, two ports and a stage of their own, and numbered datagrams between them.
#[derive(Debug)]
pub struct Canary {
    namespaces: Namespaces,
}

/// A canary that sings.
#[derive(Debug)]
pub struct Song<'a> {
    _canary: &'a Canary,
    sender: Background,
    receiver: Background,
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
    pub fn sing(&self) -> Song<'_> {
        let (a, b) = self.namespaces.pair();
        let steady = artefact::binary("steady");
        a.run(&["ping", "-q", "-c", "1", "-W", "5", &b.ipv4]);
        let port = PORT.to_string();
        let receiver = b.start_reporting(&[&steady, "receive", "--port", &port, "--idle", "30"]);
        b.await_listening(PORT);
        let (to, rate) = (format!("{}:{PORT}", b.ipv4), RATE.to_string());
        let sender = a.start_reporting(&[&steady, "send", "--to", &to, "--rate", &rate]);
        Song { _canary: self, sender, receiver }
    }
}

impl Song<'_> {
    /// Stops sending and says what became of the datagrams.
    #[track_caller]
    #[must_use]
    pub fn stop(self) -> Report {
        let sent: Value = serde_json::from_str(&self.sender.finish()).expect("steady says JSON");
        let text = self.receiver.finish();
        let report: Report = serde_json::from_str(&text).expect("steady says JSON");
        assert_eq!(report.sent, sent["sent"].as_u64(), "the receiver heard the end");
        report
    }

    /// Stops sending, when nothing may have been lost, duplicated or reordered.
    ///
    /// # Panics
    ///
    /// Panics if anything was, or too little was sent for that to mean anything.
    #[track_caller]
    pub fn end_flawless(self) {
        let report = self.stop();
        assert!(report.is_flawless(), "the canary noticed: {report:?}");
        assert!(report.received >= 100, "the canary hardly sang: {report:?}");
    }
}
