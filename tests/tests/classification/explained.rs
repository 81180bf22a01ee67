use std::collections::BTreeMap;

use serde_json::{Value, json};
use weft_tests::{Capture, Daemon, Stats, frames};

use crate::{rule, sink, source};

fn traffic() -> Capture {
    let udp = |port, ttl| frames::udp_between(frames::SOURCE, frames::TARGET, (7, port), ttl);
    let kinds = frames::kinds().into_iter().map(|(_, frame)| frame);
    let own = [udp(80, 64), udp(80, 1), udp(443, 64), udp(53, 64), udp(54, 64), udp(55, 64)];
    let cut = [frames::kind("ipv4-tcp")[..40].to_vec(), vec![0; 13]];
    Capture::new(kinds.chain(own).chain(cut))
}

/// Rules of which each ends packets in another way, some behind changes and other tables.
fn tables() -> Value {
    let udp = |port: u16| json!({"ip_proto": "udp", "l4_dst": port});
    let x = json!({"output": "x"});
    let y = json!({"output": "y"});
    json!({
        "0": {"rules": {
            "web": rule(50, &udp(80), &json!(["decrement_ttl", {"goto": 3}])),
            "secure": rule(50, &udp(443), &json!([{"goto": 3}])),
            "mark": rule(50, &udp(53), &json!([{"set_field": {"metadata": "0x7"}}, {"goto": 5}])),
            "copied": rule(50, &udp(54), &json!([x, y])),
            "nowhere": rule(50, &udp(55), &json!([x, "decrement_ttl"])),
            "lost": rule(40, &json!({"eth_type": "ipv4", "ip_proto": "icmp"}), &json!([{"goto": 9}])),
            "tagged": rule(30, &json!({"vlan_vid": 10}), &json!(["pop_vlan", {"goto": 3}])),
            "v6": rule(20, &json!({"eth_type": "ipv6"}), &json!(["pop_vlan", x])),
            "v4": rule(10, &json!({"ip_dst": "10.0.0.0/8"}), &json!([{"goto": 3}])),
        }},
        "3": {"miss": [y], "rules": {
            "short": rule(9, &json!({"ip_ttl": 63}), &json!([x])),
            "untagged": rule(8, &json!({"eth_type": "ipv4", "vlan_vid": "none"}), &json!([{"goto": 5}])),
        }},
        "5": {"rules": {
            "marked": rule(9, &json!({"metadata": "0x7"}), &json!([y])),
            "tcp": rule(8, &json!({"ip_proto": "tcp", "l4_dst": "4000-4999"}), &json!(["drop"])),
        }},
    })
}

/// What is counted of packets: hits of rules, packets out of ports, drops for reasons.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counted {
    rules: BTreeMap<(u64, String), u64>,
    sent: BTreeMap<String, u64>,
    drops: BTreeMap<String, u64>,
}

impl Counted {
    /// What really happened.
    fn of(stats: &Stats) -> Self {
        let rules = stats.rules.iter().filter(|rule| rule.packets > 0);
        let ports = stats.ports.iter().filter(|(_, port)| port.tx_packets > 0);
        Self {
            rules: rules.map(|it| ((it.table.into(), it.name.clone()), it.packets)).collect(),
            sent: ports.map(|(name, port)| (name.clone(), port.tx_packets)).collect(),
            drops: stats.port("in").drops.clone(),
        }
    }

    /// Adds what an explanation says would happen.
    fn add(&mut self, told: &Value) {
        for step in told["steps"].as_array().unwrap() {
            if let Some(rule) = step["rule"].as_str() {
                let key = (step["table"].as_u64().unwrap(), rule.to_owned());
                *self.rules.entry(key).or_default() += 1;
            }
        }
        let mut decision = "drop";
        for line in told["text"].as_str().unwrap().lines() {
            if let Some((_, port)) = line.split_once(" leaves by ") {
                *self.sent.entry(port.to_owned()).or_default() += 1;
                decision = "output";
            } else if let Some(reason) = line.strip_prefix("it is dropped: ") {
                *self.drops.entry(reason.to_owned()).or_default() += 1;
            }
        }
        assert_eq!(told["decision"], decision, "{told:#}");
    }
}

fn ask(daemon: &Daemon, frame: &[u8]) -> Value {
    let packet: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
    let request = json!({"in_port": "in", "packet": packet});
    daemon.api().post("/v1/explain", &request).expect(200)
}

#[test]
fn explanations_say_what_really_happens_and_nothing_comes_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let traffic = traffic();
    traffic.write(folder.path().join("in.pcap"));
    let config = json!({
        "ports": {"in": source(), "x": sink(0), "y": sink(1)},
        "tables": tables(),
    });
    let daemon = Daemon::start_in(folder.path(), &config);
    let happened = Counted::of(&daemon.await_packets("in", traffic.frames.len()));
    let mut told = Counted::default();
    traffic.frames.iter().for_each(|frame| told.add(&ask(&daemon, frame)));
    assert_eq!(told, happened);
    let reasons = ["action-not-applicable", "no-output", "no-such-table", "rule-drop", "runt"];
    for reason in reasons.iter().chain(&["table-miss", "ttl-expired"]) {
        assert!(told.drops.contains_key(*reason), "no packet tries {reason}: {told:?}");
    }
    let capture = folder.path().join("in.pcap");
    let asked = ["explain", "in", "--pcap", capture.to_str().unwrap(), "--number", "3"];
    let shown = daemon.weft(&asked);
    let text = ask(&daemon, &traffic.frames[2])["text"].as_str().unwrap().to_owned();
    assert!(shown.code == 0 && shown.stdout.ends_with(&format!("{text}\n")), "{shown:?}");
    assert_eq!(Counted::of(&daemon.finish()), happened, "asking is not sending");
}

#[test]
fn an_explanation_names_rules_bits_and_changes() {
    let config = json!({
        "ports": {"in": sink(0), "x": sink(1), "y": sink(2)},
        "tables": tables(),
    });
    let daemon = Daemon::start(&config);
    let told = ask(&daemon, &frames::udp_between([10, 0, 0, 1], [10, 9, 9, 9], (7, 80), 64));
    assert_eq!(told["key"]["l4_dst"], "80");
    assert_eq!(told["key"]["in_port"], "in");
    let step = &told["steps"][1];
    assert_eq!((&step["table"], &step["rule"]), (&json!(3), &json!("short")));
    assert_eq!(step["actions"], json!([{"output": "x"}]));
    assert_eq!(step["looked_at"], json!({"has_ip": "exact", "ip_ttl": "exact"}));
    let lines: Vec<&str> = told["text"].as_str().unwrap().lines().collect();
    assert_eq!(
        lines[1..],
        [
            "so changed, it is looked up in table 3",
            "table 3: rule short of priority 9 says output x; the same for all with \
             has_ip=yes,ip_ttl=63",
            "it leaves by x",
        ]
    );
    assert!(lines[0].starts_with("table 0: rule web of priority 50 says decrement_ttl, goto 3; "));

    let nowhere = json!({"in_port": "nowhere", "packet": "00"});
    let answer = daemon.api().post("/v1/explain", &nowhere);
    assert_eq!((answer.problem().0, answer.problem().1), (422, "explain-invalid"));
    assert_eq!(answer.body["pointer"], "/in_port");
    daemon.finish();
}
