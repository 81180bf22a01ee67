//! Classification modules from outside: how often they are asked, what rules make of their answers,
//! and what is refused.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{collections::BTreeMap, path::Path};

use serde_json::{Value, json};
use weft_tests::{Capture, Daemon, Stats, frames, module};

/// A classifier whose answer is the thousands of the destination port (16 bits at 68 of the key), or,
/// if it sees payload, its first byte: the key's 80 bytes, 42 of headers.
fn classifier(payload: bool) -> Vec<u8> {
    let answer = match payload {
        true => "(i64.load8_u offset=122 (local.get $window))",
        false => {
            "(i64.extend_i32_u
               (i32.div_u (i32.load16_u offset=68 (local.get $window)) (i32.const 1000)))"
        }
    };
    let manifest = json!({
        "name": "classifier", "version": "1.0.0", "kind": "classifier", "payload": payload,
        "window": if payload { 64 } else { 0 },
    });
    let manifest: String =
        manifest.to_string().bytes().map(|byte| format!("\\{byte:02x}")).collect();
    // What it looked at is the protocol and the destination port.
    let text = format!(
        r#"(module
        (memory (export "memory") 1)
        (func (export "weft_abi_version") (result i32) i32.const 1)
        (func (export "weft_alloc") (param i32) (result i32) i32.const 32768)
        (func (export "weft_init") (param i32 i32) (result i64) i64.const 0)
        (func (export "weft_batch") (param i32 i32) (result i32) i32.const 4096)
        (func (export "weft_classify") (param $n i32) (local $packet i32) (local $window i32)
          (local.set $packet (i32.const 4096))
          (block $done (loop $next
            (br_if $done (i32.eqz (local.get $n)))
            (local.set $window (i32.load offset=8 (local.get $packet)))
            (i64.store (local.get $packet) {answer})
            (i32.store offset=36 (local.get $packet) (i32.const 0))
            (i32.store offset=40 (local.get $packet) (i32.const 0x1100))
            (local.set $packet (i32.add (local.get $packet) (i32.const 48)))
            (local.set $n (i32.sub (local.get $n) (i32.const 1)))
            (br $next))))
        (@custom "weft.manifest" "{manifest}"))"#
    );
    wat::parse_str(text).unwrap()
}

fn udp(port: u16, payload: u8) -> Vec<u8> {
    let builder = etherparse::PacketBuilder::ethernet2(frames::SOURCE_MAC, frames::TARGET_MAC)
        .ipv4(frames::SOURCE, frames::TARGET, 64)
        .udp(40_000, port);
    let mut frame = Vec::new();
    builder.write(&mut frame, &[payload; 18]).unwrap();
    frame
}

/// What replays packets past a classifier: answer 1 leaves by `out`, all else by `tap`.
fn config(folder: &Path, payload: bool, packets: &[Vec<u8>]) -> Value {
    std::fs::write(folder.join("classifier.wasm"), classifier(payload)).unwrap();
    Capture::new(packets.to_vec()).write(folder.join("in.pcap"));
    json!({
        "ports": {
            "in": {"device": "net_pcap0,rx_pcap=in.pcap"},
            "out": {"device": "net_pcap1,tx_pcap=out.pcap"},
            "tap": {"device": "net_pcap2,tx_pcap=tap.pcap"},
        },
        "modules": {"classifier@1.0.0": {"path": "classifier.wasm"}},
        "stages": {"apps": {"module": "classifier@1.0.0"}},
        "tables": {"0": {"classifier": "apps", "rules": {
            "ones": {"priority": 10, "match": {"metadata": "0x1"}, "actions": [{"output": "out"}]},
            "rest": {"priority": 1, "match": {}, "actions": [{"output": "tap"}]},
        }}},
    })
}

/// What left by `out` and by `tap`, and what was counted.
fn replay(payload: bool, packets: &[Vec<u8>]) -> (Vec<Vec<u8>>, Vec<Vec<u8>>, Stats) {
    let folder = tempfile::tempdir().unwrap();
    let daemon = Daemon::start_in(folder.path(), &config(folder.path(), payload, packets));
    daemon.await_packets("in", packets.len());
    let stats = daemon.finish();
    assert_eq!(stats.port("in").drops, BTreeMap::new());
    let read = |name: &str| Capture::read(folder.path().join(name)).frames;
    (read("out.pcap"), read("tap.pcap"), stats)
}

#[test]
fn a_classifier_is_asked_once_for_all_packets_that_agree_in_what_it_looked_at() {
    let packets = [udp(1000, 1), udp(2000, 1), udp(1000, 2), udp(1000, 3), udp(1001, 1)];
    let (out, tap, stats) = replay(false, &packets);
    assert_eq!(out, [&packets[0], &packets[2], &packets[3], &packets[4]].map(Clone::clone));
    assert_eq!(tap, packets[1..2]);
    assert_eq!(stats.stages["apps"]["packets"], 3, "one question for each port");
}

#[test]
fn a_classifier_of_the_sdk_says_which_application_a_packet_is_of() {
    let packets = [udp(1000, 1), udp(53, 1), udp(53, 2)];
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(folder.path(), false, &packets);
    let classes = json!([{"metadata": 1, "protocol": "udp", "ports": [53, 5353]}]);
    config["modules"]["classifier@1.0.0"]["path"] = json!(module("port-class"));
    config["stages"]["apps"]["config"] = json!({"classes": classes});
    let daemon = Daemon::start_in(folder.path(), &config);
    daemon.await_packets("in", packets.len());
    daemon.finish();
    assert_eq!(Capture::read(folder.path().join("out.pcap")).frames, packets[1..]);
}

#[test]
fn a_classifier_of_payload_is_asked_about_every_packet() {
    let packets = [udp(53, 1), udp(53, 2), udp(53, 1), udp(53, 1)];
    let (out, tap, stats) = replay(true, &packets);
    assert_eq!(out, [&packets[0], &packets[2], &packets[3]].map(Clone::clone));
    assert_eq!(tap, packets[1..2]);
    assert_eq!(stats.stages["apps"]["packets"], 4);
}

#[test]
fn a_classifier_is_named_by_tables_alone_and_stays_while_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = Daemon::start_in(folder.path(), &config(folder.path(), false, &[udp(1, 1)]));
    daemon.await_packets("in", 1);
    let api = daemon.api();

    let hex: String = udp(1000, 1).iter().map(|byte| format!("{byte:02x}")).collect();
    let told = api.post("/v1/explain", &json!({"in_port": "in", "packet": hex})).expect(200);
    assert_eq!((&told["decision"], &told["steps"]), (&json!("stage"), &json!([])));
    assert!(told["text"].as_str().unwrap().contains("classifier apps"), "{told}");

    let rule = json!({"priority": 1, "match": {}, "actions": [{"stage": "apps"}]});
    let answer = api.put("/v1/tables/1/rules/wrong", &rule);
    assert_eq!(answer.problem().0, 422);
    assert!(answer.problem().2.contains("apps is a classifier"), "{answer:?}");

    let answer = api.put("/v1/tables/1", &json!({"classifier": "none"}));
    assert_eq!((answer.problem().0, answer.problem().1), (422, "table-invalid"));

    let answer = api.delete("/v1/stages/apps");
    assert_eq!((answer.problem().0, answer.problem().1), (409, "stage-in-use"));
    assert!(answer.problem().2.contains("table 0"), "{answer:?}");

    api.put("/v1/tables/0", &json!({})).expect(200);
    api.delete("/v1/stages/apps").expect(204);
    daemon.finish();
}
