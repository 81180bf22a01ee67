//! The counters, as the API shows them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// The answer of `/v1/stats`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Stats {
    /// Counts the changes of the configuration.
    pub revision: u64,
    /// By the ports' names.
    pub ports: BTreeMap<String, PortCounters>,
    /// By the stages' names.
    pub stages: BTreeMap<String, Value>,
    /// One a worker.
    pub workers: Vec<Value>,
    /// One a rule.
    pub rules: Vec<RuleCounters>,
}

/// What became of the packets that came in by a port, and what left by it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields have the names that the API documents")]
pub struct PortCounters {
    pub rx_packets: u64,
    pub rx_bytes: u64,
    pub tx_packets: u64,
    pub tx_bytes: u64,
    pub copied_packets: u64,
    pub mirrored_packets: u64,
    pub forwarded_packets: u64,
    pub dropped_packets: u64,
    pub in_flight_packets: u64,
    pub drops: BTreeMap<String, u64>,
    pub device: DeviceCounters,
}

/// What the device itself lost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields have the names that the API documents")]
pub struct DeviceCounters {
    pub rx_missed: u64,
    pub rx_errors: u64,
    pub rx_nombuf: u64,
    pub tx_errors: u64,
}

/// What a rule matched.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[allow(missing_docs, reason = "the fields have the names that the API documents")]
pub struct RuleCounters {
    pub table: u8,
    pub name: String,
    pub packets: u64,
    pub bytes: u64,
}

impl Stats {
    /// Reads the answer's body.
    ///
    /// # Panics
    ///
    /// Panics if it lacks a field.
    #[track_caller]
    pub(crate) fn deserialize(body: &Value) -> Self {
        Self::deserialize_or_why(body).unwrap_or_else(|why| panic!("{why}: {body:#}"))
    }

    fn deserialize_or_why(body: &Value) -> serde_json::Result<Self> {
        Deserialize::deserialize(body)
    }

    /// The counters of a port.
    ///
    /// # Panics
    ///
    /// Panics if there is no such port.
    #[track_caller]
    #[must_use]
    pub fn port(&self, name: &str) -> &PortCounters {
        self.ports.get(name).unwrap_or_else(|| panic!("no port {name} in {:?}", self.ports))
    }

    /// How many packets a rule matched.
    ///
    /// # Panics
    ///
    /// Panics if there is no such rule.
    #[track_caller]
    #[must_use]
    pub fn rule(&self, name: &str) -> u64 {
        let rule = self.rules.iter().find(|rule| rule.name == name);
        rule.unwrap_or_else(|| panic!("no rule {name} in {:?}", self.rules)).packets
    }

    /// Holds every port to what came in = what went out + what was dropped + what is under way.
    ///
    /// # Panics
    ///
    /// Panics, naming the port, where that does not hold.
    #[track_caller]
    pub fn assert_conserved(&self) {
        for (name, port) in &self.ports {
            let reasons: u64 = port.drops.values().sum();
            assert_eq!(port.dropped_packets, reasons, "drops of {name}: {port:#?}");
            let fates = port.forwarded_packets + port.dropped_packets + port.in_flight_packets;
            assert_eq!(port.rx_packets + port.copied_packets, fates, "{name}: {port:#?}");
        }
    }

    /// Holds all ports together to what was forwarded = what was sent, which is so as long as none
    /// was deleted with its counters.
    ///
    /// # Panics
    ///
    /// Panics if that does not hold.
    #[track_caller]
    pub fn assert_sent(&self) {
        let sum = |of: fn(&PortCounters) -> u64| self.ports.values().map(of).sum::<u64>();
        let (sent, forwarded) = (sum(|port| port.tx_packets), sum(|port| port.forwarded_packets));
        assert_eq!(sent, forwarded, "sent and forwarded differ: {:#?}", self.ports);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stats(forwarded: u64, drops: &Value, sent: u64) -> Stats {
        let device = json!({"rx_missed": 0, "rx_errors": 0, "rx_nombuf": 0, "tx_errors": 0});
        let port = json!({
            "rx_packets": 10, "rx_bytes": 600, "tx_packets": sent, "tx_bytes": 0,
            "copied_packets": 0, "mirrored_packets": 0, "forwarded_packets": forwarded,
            "dropped_packets": 2, "in_flight_packets": 0, "drops": drops, "device": device,
        });
        Stats::deserialize(&json!({
            "revision": 1, "ports": {"a": port}, "stages": {}, "workers": [], "rules": [],
        }))
    }

    #[test]
    fn counters_that_add_up_are_conserved() {
        let stats = stats(8, &json!({"runt": 1, "fw:denied-by-rule": 1}), 8);
        stats.assert_conserved();
        stats.assert_sent();
    }

    #[test]
    #[should_panic(expected = "drops of a")]
    fn a_drop_without_a_reason_is_found() {
        stats(8, &json!({"runt": 1}), 8).assert_conserved();
    }

    #[test]
    #[should_panic(expected = "a: PortCounters")]
    fn a_packet_without_a_fate_is_found() {
        stats(7, &json!({"runt": 2}), 7).assert_conserved();
    }

    #[test]
    #[should_panic(expected = "sent and forwarded differ")]
    fn a_packet_that_was_forwarded_and_not_sent_is_found() {
        stats(8, &json!({"runt": 2}), 7).assert_sent();
    }
}
