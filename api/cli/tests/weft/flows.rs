use std::fs;

use serde_json::{Value, json};

use crate::daemon::{Asked, Daemon, Outcome, ok};

fn flow(worker: u16) -> Value {
    json!({
        "worker": worker, "match": {"ip_dst": "10.0.0.0/8"}, "start_table": 0, "packets": 3,
        "bytes": 180, "age_ms": 1000, "idle_ms": 7, "cache": "wildcard",
        "rules": [{"table": 0, "name": "web"}], "actions": [{"output": "wan"}], "new": [1.50],
    })
}

fn page(flows: &[Value], next: Option<&str>) -> (u16, String) {
    ok(&json!({"flows": flows, "next": next}))
}

const HEAD: &str = "WORKER  TABLE  CACHE     PACKETS  BYTES  AGE      IDLE     MATCH              RULES  ACTIONS\n";
const REST: &str =
    "      0  wildcard        3    180  1.000 s  0.007 s  ip_dst=10.0.0.0/8  0:web  output:wan\n";

#[test]
fn flows_are_listed_to_the_last_page() {
    let answers = [page(&[flow(0), flow(1)], Some("1.7")), page(&[flow(12)], None)];
    let (outcome, asked) = Daemon::answering(answers).weft(&["flow", "list", "--worker", "1"]);
    let lines = format!("{HEAD}     0{REST}     1{REST}    12{REST}");
    assert_eq!(outcome, Outcome::success(&lines));
    let expected =
        ["", "&cursor=1.7"].map(|more| format!("GET /v1/flows?worker=1&limit=5000{more}"));
    assert_eq!(asked, expected.map(|line| Asked::plain(&line)));
}

#[test]
fn as_many_flows_are_listed_as_are_wanted() {
    let answers = [page(&[flow(0), flow(1)], Some("1.7")), page(&[flow(2)], Some("2.9"))];
    let (outcome, asked) =
        Daemon::answering(answers).weft(&["flow", "list", "--limit", "3", "--json"]);
    let all: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(all, json!({"flows": [flow(0), flow(1), flow(2)], "next": "2.9"}));
    let expected = ["GET /v1/flows?limit=3", "GET /v1/flows?limit=1&cursor=1.7"];
    assert_eq!(asked, expected.map(Asked::plain));
}

#[test]
fn no_flows_are_a_head_without_lines() {
    let (outcome, _) = Daemon::answering([page(&[], None)]).weft(&["flow", "list"]);
    let head = "WORKER  TABLE  CACHE  PACKETS  BYTES  AGE  IDLE  MATCH  RULES  ACTIONS\n";
    assert_eq!(outcome, Outcome::success(head));
    let (outcome, _) = Daemon::answering([page(&[], None)]).weft(&["flow", "list", "--json"]);
    assert_eq!(outcome, Outcome::success("{\"flows\":[],\"next\":null}\n"));
}

#[test]
fn flows_are_flushed() {
    let (outcome, asked) = Daemon::answering([(204, String::new())]).weft(&["flow", "flush"]);
    assert_eq!(outcome, Outcome::success("flushed the flows of all workers\n"));
    assert_eq!(asked, [Asked::plain("DELETE /v1/flows")]);
}

fn explanation() -> (u16, String) {
    ok(&json!({
        "key": {"in_port": "lan"},
        "steps": [{"table": 2, "rule": "web", "priority": 10, "actions": [{"output": "wan"}],
            "looked_at": {"in_port": "all"}}],
        "decision": "output", "text": "it leaves by wan",
    }))
}

const EXPLAINED: &str = "packet: in_port=lan\n\n\
    TABLE  RULE  PRIORITY  LOOKED AT    ACTIONS\n    \
    2  web         10  in_port=all  output:wan\n\n\
    it leaves by wan\n";

#[test]
fn a_packet_is_explained_by_its_bytes() {
    let daemon = Daemon::answering([explanation()]);
    let (outcome, asked) = daemon.weft(&["explain", "lan", "02:00 0A", "--table", "2"]);
    assert_eq!(outcome, Outcome::success(EXPLAINED));
    let body = r#"{"in_port":"lan","packet":"02000a","table":2}"#;
    assert_eq!(asked, [Asked::json("POST /v1/explain", body)]);
}

#[test]
fn a_packet_of_a_capture_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.pcap");
    let numbers =
        |numbers: &[u32]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<_>>();
    let head = numbers(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 1]);
    let packet = |bytes: [u8; 2]| [numbers(&[0, 0, 2, 2]), bytes.to_vec()].concat();
    fs::write(&path, [head, packet([1, 2]), packet([3, 0xff])].concat()).unwrap();
    let path = path.to_str().unwrap();

    let daemon = Daemon::answering([explanation()]);
    let (outcome, asked) = daemon.weft(&["explain", "lan", "--pcap", path, "--number", "2"]);
    assert_eq!(outcome, Outcome::success(EXPLAINED));
    let body = r#"{"in_port":"lan","packet":"03ff","table":0}"#;
    assert_eq!(asked, [Asked::json("POST /v1/explain", body)]);

    let daemon = Daemon::answering([explanation()]);
    let (outcome, asked) = daemon.weft(&["explain", "lan", "--pcap", path, "--number", "3"]);
    let stderr = format!("error: {path}: it has only 2 packets\n");
    assert_eq!((outcome, asked), (Outcome::failure(1, &stderr), vec![]));
}

#[test]
fn a_packet_that_is_not_said_is_wrong_usage() {
    for arguments in [
        &["explain", "lan"][..],
        &["explain", "lan", "0x00"],
        &["explain", "lan", "00", "--number", "2"],
        &["explain", "lan", "00", "--pcap", "a.pcap"],
        &["explain", "lan", "--pcap", "a.pcap", "--number", "0"],
    ] {
        let (outcome, asked) = Daemon::answering([explanation()]).weft(arguments);
        assert_eq!((outcome.code, asked), (2, vec![]), "{arguments:?}: {}", outcome.stderr);
    }
}
