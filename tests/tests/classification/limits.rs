use serde_json::{Map, Value, json};
use weft_tests::{Capture, Daemon, frames};

use crate::{batch, put, rule, sink, source};

/// The most masks that a table's rules may have.
const MASKS: u32 = 1024;
const SENDERS: u32 = 1_000_000;
const FLOW_LIMIT: u64 = 5000;

#[test]
fn a_packet_goes_through_all_254_tables_and_never_back() {
    let folder = tempfile::tempdir().unwrap();
    let frame = frames::kind("ipv4-udp");
    Capture::new([frame.clone(), frame]).write(folder.path().join("in.pcap"));
    let mut tables = Map::new();
    for table in 0..=252 {
        let on = rule(1, &json!({}), &json!([{"goto": table + 1}]));
        tables.insert(table.to_string(), json!({"rules": {format!("on-{table}"): on}}));
    }
    let out = rule(1, &json!({}), &json!([{"output": "out"}]));
    tables.insert("253".to_owned(), json!({"rules": {"out": out}}));
    let config = json!({"ports": {"in": source(), "out": sink(0)}, "tables": tables});
    let daemon = Daemon::start_in(folder.path(), &config);
    let stats = daemon.await_packets("in", 2);
    assert_eq!(stats.port("out").tx_packets, 2);
    assert_eq!(stats.rules.len(), 254);
    assert!(stats.rules.iter().all(|rule| rule.packets == 2), "{:?}", stats.rules);

    let back = rule(1, &json!({}), &json!([{"goto": 10}]));
    let answer = daemon.api().put("/v1/tables/11/rules/back", &back);
    assert_eq!((answer.problem().0, answer.problem().1), (422, "rule-invalid"));
    assert_eq!(answer.body["pointer"], "/actions/0/goto");
    daemon.finish();
}

/// A rule whose mask has the bits of a number, and is of no other number.
fn masked(bits: u32) -> Value {
    let mask = std::net::Ipv4Addr::from(bits);
    rule(1, &json!({"ip_src": format!("0.0.0.0/{mask}")}), &json!(["drop"]))
}

#[test]
fn a_table_has_1024_masks_and_the_1025th_changes_nothing() {
    let daemon = Daemon::start(&json!({}));
    let rules = (1..=MASKS).map(|bits| put(0, &format!("m{bits}"), &masked(bits)));
    daemon.api().post("/v1/rules:batch", &batch(rules.collect())).expect(200);
    let before = daemon.api().get("/v1/tables").expect(200);
    assert_eq!(before[0]["status"], json!({"rules": 1024, "masks": 1024}));
    let revision = daemon.api().stats().revision;

    let answer = daemon.api().put("/v1/tables/0/rules/one-more", &masked(MASKS + 1));
    let (status, code, text) = answer.problem();
    assert_eq!((status, code), (409, "limit-exceeded"));
    assert!(text.contains("table 0") && text.contains("1024"), "{text}");
    let two = vec![put(1, "fine", &masked(1)), put(0, "one-more", &masked(MASKS + 1))];
    let answer = daemon.api().post("/v1/rules:batch", &batch(two));
    assert_eq!((answer.problem().0, answer.problem().1), (409, "limit-exceeded"));
    assert_eq!(daemon.api().get("/v1/tables").expect(200), before);
    assert_eq!(daemon.api().stats().revision, revision);

    daemon.api().put("/v1/tables/0/rules/known-mask", &masked(MASKS)).expect(201);
    daemon.finish();
}

/// A frame from a sender of its own.
fn from_sender(template: &[u8], number: u32) -> Vec<u8> {
    let mut frame = template.to_vec();
    frame[8..12].copy_from_slice(&number.to_be_bytes());
    frame
}

#[test]
fn a_million_flows_are_no_more_than_the_limit_and_those_that_gave_way_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let template = frames::kind("ipv4-udp");
    let traffic = (0..SENDERS).map(|number| from_sender(&template, number));
    Capture::new(traffic).write(folder.path().join("in.pcap"));
    let nobody = json!({"eth_src": "06:00:00:00:00:00"});
    let daemon = Daemon::start_in(
        folder.path(),
        &json!({
            "workers": {"flow_limit": FLOW_LIMIT, "exact_entries": 1024, "flow_idle_ms": 600_000},
            "ports": {"in": source(), "out": sink(0)},
            "tables": {"0": {"rules": {
                "never": rule(9, &nobody, &json!(["drop"])),
                "all": rule(1, &json!({}), &json!([{"output": "out"}])),
            }}},
        }),
    );
    let stats = daemon.await_packets("in", SENDERS as usize);
    assert_eq!(stats.port("out").tx_packets, u64::from(SENDERS));
    let worker = &stats.workers[0];
    let counted = |field: &str| worker[field].as_u64().unwrap();
    let (flows, installed) = (counted("flows"), counted("flows_installed"));
    assert!(flows <= FLOW_LIMIT && flows > FLOW_LIMIT / 2, "{worker:#}");
    assert_eq!(installed, counted("misses"), "{worker:#}");
    assert!(installed > u64::from(SENDERS) / 2, "{worker:#}");
    assert_eq!(
        flows + counted("flows_evicted") + counted("flows_expired"),
        installed,
        "{worker:#}"
    );
    let listed = daemon.api().get("/v1/flows?limit=10000").expect(200);
    assert_eq!(listed["flows"].as_array().unwrap().len() as u64, flows);
    daemon.finish();
}
