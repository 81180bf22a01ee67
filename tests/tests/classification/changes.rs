use serde_json::{Value, json};
use weft_tests::{Capture, Daemon, frames, wait_until};

use crate::{batch, delete, put, rule, sink};

const ROUNDS: u16 = 200;
/// Rules that come and go in a round, besides those that packets meet.
const OTHERS: u16 = 20;

/// The rules of a round, of which one or another matches each packet: by its port, or any.
fn generation(round: u16) -> Vec<(String, Value)> {
    let out = |port: u16| json!([{"output": if port.is_multiple_of(2) { "x" } else { "y" }}]);
    let mut rules = vec![(format!("rest-{round}"), rule(1, &json!({}), &out(round)))];
    for other in 0..OTHERS {
        let matching = json!({"ip_proto": "udp", "l4_dst": (round * 7 + other) % 64});
        rules.push((format!("udp-{round}-{other}"), rule(9, &matching, &out(other))));
    }
    rules
}

#[test]
fn rules_that_change_as_one_while_packets_flow_lose_none_and_leave_no_gap() {
    let folder = tempfile::tempdir().unwrap();
    let to = |port| frames::udp_between(frames::SOURCE, frames::TARGET, (1, port), 64);
    Capture::new((0..64).map(to)).write(folder.path().join("in.pcap"));
    let first: serde_json::Map<String, Value> = generation(0).into_iter().collect();
    let config = json!({
        "ports": {
            "in": {"device": "net_pcap0,rx_pcap=in.pcap,infinite_rx=1"},
            "x": sink(0),
            "y": sink(1),
        },
        "tables": {"0": {"rules": first}},
    });
    let daemon = Daemon::start_in(folder.path(), &config);
    let received = || daemon.api().stats().port("in").rx_packets;
    for round in 1..=ROUNDS {
        let gone = generation(round - 1).into_iter().map(|(name, _)| delete(0, &name));
        let new = generation(round).into_iter().map(|(name, spec)| put(0, &name, &spec));
        let changed = daemon.api().post("/v1/rules:batch", &batch(gone.chain(new).collect()));
        assert_eq!(changed.expect(200)["created"], 1 + OTHERS);
        if round % 50 == 0 {
            daemon.api().delete("/v1/flows").expect(204);
        }
        daemon.api().stats().assert_conserved();
    }
    let before = received();
    wait_until("packets behind the last change", || received() > before + 1000);
    let stats = daemon.finish();
    let port = stats.port("in");
    assert_eq!(port.drops, [].into(), "no packet met a time without rules");
    assert_eq!(port.rx_packets, port.forwarded_packets);
    assert_eq!(port.rx_packets, stats.port("x").tx_packets + stats.port("y").tx_packets);
    assert!(stats.port("x").tx_packets > 0 && stats.port("y").tx_packets > 0);
}
