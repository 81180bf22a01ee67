use serde_json::{Value, json};
use weft_tests::{Capture, Daemon, frames};

use crate::{batch, delete, put, rule, sink, source};

fn dropping(port: u16) -> Value {
    rule(10, &json!({"ip_proto": "udp", "l4_dst": port}), &json!(["drop"]))
}

/// A batch is refused for what it points at, and nothing is changed by it.
#[track_caller]
fn refused(daemon: &Daemon, operations: Vec<Value>, code: &str, pointer: &str) {
    let state = || {
        let rules = daemon.api().get("/v1/tables/0/rules").expect(200);
        (daemon.api().stats().revision, rules, daemon.api().get("/v1/tables").expect(200))
    };
    let before = state();
    let answer = daemon.api().post("/v1/rules:batch", &batch(operations));
    let (status, told, _) = answer.problem();
    assert_eq!((status, told), (422, code), "{answer:?}");
    assert_eq!(answer.body["pointer"], pointer, "{answer:?}");
    assert_eq!(state(), before);
}

#[test]
fn one_wrong_rule_at_the_end_of_a_batch_changes_nothing_and_is_pointed_at() {
    let daemon = Daemon::start(&json!({"ports": {"out": sink(0)}}));
    let good = |count: u16| -> Vec<Value> {
        (0..count).map(|port| put(0, &format!("r{port}"), &dropping(port))).collect()
    };
    daemon.api().post("/v1/rules:batch", &batch(good(10))).expect(200);

    let with = |last: Value| {
        let mut operations = good(2000);
        operations.push(last);
        operations
    };
    let to_nowhere = rule(1, &json!({}), &json!(["pop_vlan", {"output": "nowhere"}]));
    let pointer = "/operations/2000/put/spec/actions/1/output";
    refused(&daemon, with(put(0, "last", &to_nowhere)), "rule-invalid", pointer);
    let without_protocol = rule(1, &json!({"l4_dst": 80}), &json!(["drop"]));
    let pointer = "/operations/2000/put/spec/match/l4_dst";
    refused(&daemon, with(put(0, "last", &without_protocol)), "rule-invalid", pointer);
    refused(&daemon, with(delete(0, "nobody")), "rule-not-found", "/operations/2000/delete");
    refused(&daemon, with(delete(0, "r7")), "batch-invalid", "/operations/2000/delete");
    let back = rule(1, &json!({}), &json!([{"goto": 0}]));
    let pointer = "/operations/2000/put/spec/actions/0/goto";
    refused(&daemon, with(put(0, "last", &back)), "rule-invalid", pointer);

    let mixed = batch(vec![
        put(0, "r0", &dropping(0)),
        put(0, "r1", &dropping(9001)),
        put(0, "new", &dropping(9002)),
        delete(0, "r2"),
    ]);
    let before = daemon.api().stats().revision;
    let changed = daemon.api().post("/v1/rules:batch", &mixed).expect(200);
    let expected = json!({
        "revision": before + 1, "created": 1, "replaced": 1, "unchanged": 1, "deleted": 1,
    });
    assert_eq!(changed, expected, "a good one is one revision");
    daemon.finish();
}

#[test]
fn what_no_rule_matches_meets_the_miss_of_its_table() {
    let folder = tempfile::tempdir().unwrap();
    let to = |port| frames::udp_between(frames::SOURCE, frames::TARGET, (1, port), 64);
    Capture::new([80, 81, 82, 82].map(to)).write(folder.path().join("in.pcap"));
    let config = json!({
        "ports": {"out": sink(0), "rest": sink(1)},
        "tables": {
            "0": {"miss": [{"goto": 1}], "rules": {"80": dropping(80)}},
            "1": {"miss": [{"output": "rest"}], "rules": {
                "81": rule(1, &json!({"ip_proto": "udp", "l4_dst": 81}), &json!([{"output": "out"}])),
            }},
        },
    });
    let daemon = Daemon::start_in(folder.path(), &config);
    daemon.api().put("/v1/ports/in", &source()).expect(201);
    let stats = daemon.await_packets("in", 4);
    assert_eq!((stats.rule("80"), stats.rule("81")), (1, 1));
    assert_eq!((stats.port("out").tx_packets, stats.port("rest").tx_packets), (1, 2));

    let shown = daemon.api().get("/v1/tables/1").expect(200);
    assert_eq!(shown["spec"], json!({"miss": [{"output": "rest"}]}));
    assert_eq!(shown["status"], json!({"rules": 1, "masks": 1}));
    daemon.api().delete("/v1/tables/1").expect(204);
    let shown = daemon.api().get("/v1/tables/1").expect(200);
    assert_eq!(shown["spec"], json!({"miss": ["drop"]}));
    daemon.api().delete("/v1/ports/in").expect(204);
    daemon.api().put("/v1/ports/in", &source()).expect(201);
    let stats = daemon.await_packets("in", 4);
    let drops = &stats.port("in").drops;
    assert_eq!((drops["rule-drop"], drops["table-miss"]), (1, 2), "{drops:?}");
    daemon.finish_with_deleted_ports();
}

#[test]
fn a_port_that_a_rule_or_a_miss_names_cannot_be_deleted() {
    let daemon = Daemon::start(&json!({"ports": {"a": sink(0), "b": sink(1), "c": sink(2)}}));
    let operations =
        vec![put(7, "from-a-to-b", &rule(1, &json!({"in_port": "a"}), &json!([{"output": "b"}])))];
    daemon.api().post("/v1/rules:batch", &batch(operations)).expect(200);
    daemon.api().put("/v1/tables/9", &json!({"miss": [{"output": "c"}]})).expect(200);
    for (port, user) in [
        ("a", "rule from-a-to-b of table 7"),
        ("b", "rule from-a-to-b of table 7"),
        ("c", "the miss of table 9"),
    ] {
        let answer = daemon.api().delete(&format!("/v1/ports/{port}"));
        let (status, code, text) = answer.problem();
        assert_eq!((status, code), (409, "port-in-use"));
        assert!(text.contains(user), "{text}");
    }
    daemon.api().post("/v1/rules:batch", &batch(vec![delete(7, "from-a-to-b")])).expect(200);
    daemon.api().delete("/v1/tables/9").expect(204);
    for port in ["a", "b", "c"] {
        daemon.api().delete(&format!("/v1/ports/{port}")).expect(204);
    }
    daemon.finish();
}
