use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::workload::Rule;

/// The port that everything leaves by.
pub(crate) const OUT: &str = "out";
/// The core that the one worker polls.
pub(crate) const WORKER_CORE: usize = 1;
/// Packet buffers that a daemon has if it is not told otherwise.
const BUFFERS: usize = 16_383;
/// What the daemon takes for itself.
const BASE_MB: usize = 512;
/// What a packet buffer takes, with its share of the pool's own.
const BUFFER_BYTES: usize = 2_560;
/// Of hugepages, which the daemon allocates more of than it is told to if they are in pieces.
const SPARE_MB: usize = 128;

/// What packets pass between the rule and the port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Stage {
    /// Nothing.
    None,
    /// A router's hop by the engine's own actions.
    Native,
    /// The same hop by a module.
    RouterHop,
}

impl Stage {
    /// How it is called on the command line and in results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Native => "native",
            Self::RouterHop => "router-hop",
        }
    }

    fn actions(self) -> Vec<Value> {
        let mut actions = match self {
            Self::None => vec![],
            Self::Native => vec![
                json!({"set_field": {"eth_src": SOURCE_MAC}}),
                json!({"set_field": {"eth_dst": DESTINATION_MAC}}),
                json!("decrement_ttl"),
            ],
            Self::RouterHop => vec![json!({"stage": "hop"})],
        };
        actions.push(json!({"output": OUT}));
        actions
    }
}

const SOURCE_MAC: &str = "02:00:00:00:00:0a";
const DESTINATION_MAC: &str = "02:00:00:00:00:0b";

/// A port that replays a capture for ever, and the rules for what comes by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Input {
    pub(crate) name: &'static str,
    pub(crate) capture: PathBuf,
    /// The frames of the capture, which all lie in packet buffers.
    pub(crate) frames: usize,
    pub(crate) rules: Vec<Rule>,
    /// Whether nothing comes, though the port and its rules are there.
    pub(crate) silent: bool,
}

impl Input {
    /// The same port and rules, without the traffic.
    pub(crate) fn silenced(&self) -> Self {
        Self { frames: 0, silent: true, ..self.clone() }
    }
}

/// All that a daemon is told when it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setup {
    pub(crate) inputs: Vec<Input>,
    pub(crate) stage: Stage,
    /// Whether what came in by the port for output, which is nothing, would go out by the first input.
    pub(crate) back: bool,
    pub(crate) hugepages: bool,
}

impl Setup {
    /// How many packet buffers it needs.
    fn buffers(&self) -> usize {
        self.inputs.iter().map(|input| input.frames).sum::<usize>() + BUFFERS
    }

    /// Whether the daemon's usual buffers will not do.
    fn is_large(&self) -> bool {
        self.buffers() > BUFFERS + 2 * 1024
    }

    fn memory_mb(&self) -> usize {
        if self.is_large() { BASE_MB + self.buffers() * BUFFER_BYTES / (1 << 20) } else { BASE_MB }
    }

    /// How many hugepages of 2 MB it needs.
    pub(crate) fn pages(&self) -> u64 {
        (self.memory_mb() + SPARE_MB).div_ceil(2) as u64
    }

    /// The configuration file.
    pub(crate) fn to_toml(&self, socket: &Path, modules: &Path) -> String {
        let mut memory = json!({
            "hugepages": if self.hugepages { "on" } else { "off" },
            "size_mb": self.memory_mb(),
        });
        if self.is_large() {
            memory["buffers"] = json!(self.buffers());
        }
        let mut config = json!({
            "api": {"socket": socket},
            "memory": memory,
            "workers": {"cores": [WORKER_CORE]},
            "ports": self.ports(),
            "tables": {"0": {"rules": self.rules()}},
        });
        if self.stage == Stage::RouterHop {
            let macs = json!({"source_mac": SOURCE_MAC, "destination_mac": DESTINATION_MAC});
            config["modules"] = json!({"router-hop": {"path": modules.join("router-hop.wasm")}});
            config["stages"] = json!({"hop": {"module": "router-hop", "config": macs}});
        }
        toml::to_string(&config).expect("it has no nulls, and text for keys")
    }

    fn ports(&self) -> Value {
        let mut ports = Map::from_iter([(OUT.to_owned(), json!({"device": "net_null0,no-rx=1"}))]);
        for (number, input) in self.inputs.iter().enumerate() {
            let capture = input.capture.display();
            let device = match input.silent {
                true => format!("net_null{},no-rx=1", number + 1),
                false => format!("net_pcap{number},rx_pcap={capture},infinite_rx=1"),
            };
            ports.insert(input.name.to_owned(), json!({"device": device}));
        }
        Value::Object(ports)
    }

    fn rules(&self) -> Value {
        let mut rules = Map::new();
        for input in &self.inputs {
            for (number, rule) in input.rules.iter().enumerate() {
                rules
                    .insert(format!("{}-{number}", input.name), spec(rule, input.name, self.stage));
            }
        }
        if self.back {
            let first = self.inputs.first().map_or(OUT, |input| input.name);
            let back = json!({
                "priority": 1, "match": {"in_port": OUT}, "actions": [{"output": first}],
            });
            rules.insert("back".to_owned(), back);
        }
        Value::Object(rules)
    }
}

/// A rule as the API takes it.
pub(crate) fn spec(rule: &Rule, in_port: &str, stage: Stage) -> Value {
    json!({
        "priority": rule.priority,
        "match": rule.to_match(in_port),
        "actions": stage.actions(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(frames: usize, stage: Stage) -> Setup {
        let capture = "/flows.pcap".into();
        let input = Input { name: "in", capture, frames, rules: vec![Rule::ANY], silent: false };
        Setup { inputs: vec![input], stage, back: false, hugepages: true }
    }

    fn written(setup: &Setup) -> Value {
        toml::from_str(&setup.to_toml("/api.sock".as_ref(), "/modules".as_ref())).unwrap()
    }

    #[test]
    fn a_stage_stands_between_the_rule_and_the_port() {
        let config = written(&setup(512, Stage::RouterHop));
        let rule = json!({
            "priority": 1, "match": {"in_port": "in"}, "actions": [{"stage": "hop"}, {"output": "out"}],
        });
        assert_eq!(config["tables"]["0"]["rules"], json!({"in-0": rule}));
        assert_eq!(config["modules"]["router-hop"]["path"], "/modules/router-hop.wasm");
    }

    #[test]
    fn a_cross_connect_goes_both_ways() {
        let config = written(&Setup { back: true, ..setup(512, Stage::None) });
        let back = &config["tables"]["0"]["rules"]["back"];
        assert_eq!(
            (&back["match"]["in_port"], &back["actions"][0]["output"]),
            (&json!("out"), &json!("in"))
        );
    }

    #[test]
    fn many_frames_ask_for_buffers_and_memory() {
        let memory = |frames| written(&setup(frames, Stage::None))["memory"].clone();
        assert_eq!(memory(1_000), json!({"hugepages": "on", "size_mb": 512}));
        let many = json!({"hugepages": "on", "size_mb": 2993, "buffers": 1_016_383});
        assert_eq!(memory(1_000_000), many);
    }
}
