use std::{fs, time::Instant};

use serde_json::{Map, Value, json};
use weft_tests::{Capture, Daemon, frames};

use crate::{batch, delete, put, rule, sink, source};

/// The rules of each of four tables.
const RULES: u16 = 25_000;
const TABLES: u8 = 4;
/// Each so many'th rule has a packet.
const STRIDE: usize = 50;

fn source_of(number: u16) -> [u8; 4] {
    let [high, low] = number.to_be_bytes();
    [11, high, low, 9]
}

fn target_of(number: u16) -> [u8; 4] {
    let [high, low] = number.to_be_bytes();
    [10, 1, high, low]
}

fn text([a, b, c, d]: [u8; 4]) -> String {
    format!("{a}.{b}.{c}.{d}")
}

/// A rule of its table, which each match by other fields; the last has every other one drop.
fn numbered(table: u8, number: u16) -> Value {
    let [a, b, c, _] = source_of(number);
    let target = text(target_of(number));
    let matching = match table {
        0 => json!({"ip_proto": "udp", "l4_dst": number}),
        1 => json!({"ip_dst": target}),
        2 => json!({"ip_src": format!("{a}.{b}.{c}.0/24")}),
        _ => json!({"ip_dst": target, "ip_proto": "udp", "l4_dst": number}),
    };
    let actions = match (table, number % 2) {
        (0..=2, _) => json!([{"goto": table + 1}]),
        (_, 0) => json!([{"output": "out"}]),
        _ => json!(["drop"]),
    };
    rule(10, &matching, &actions)
}

fn name(number: u16) -> String {
    format!("r{number}")
}

fn all() -> impl Iterator<Item = (u8, u16)> {
    (0..TABLES).flat_map(|table| (1..=RULES).map(move |number| (table, number)))
}

/// The `tables` of a file.
fn file() -> Value {
    let mut tables = Map::new();
    for table in 0..TABLES {
        let rules = (1..=RULES).map(|number| (name(number), numbered(table, number)));
        tables.insert(table.to_string(), json!({"rules": rules.collect::<Map<_, _>>()}));
    }
    json!({"tables": tables})
}

/// Says how long something took.
fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    eprintln!("{what}: {:.1} s", start.elapsed().as_secs_f64());
    done
}

#[test]
fn a_hundred_thousand_rules_come_go_and_are_hit_by_the_packets_that_they_are_about() {
    let folder = tempfile::tempdir().unwrap();
    let numbers: Vec<u16> = (1..=RULES).step_by(STRIDE).collect();
    let frame = |&n: &u16| frames::udp_between(source_of(n), target_of(n), (1000, n), 64);
    Capture::new(numbers.iter().map(frame)).write(folder.path().join("in.pcap"));
    let path = folder.path().join("rules.json");
    fs::write(&path, file().to_string()).unwrap();
    let daemon = Daemon::start_in(folder.path(), &json!({"ports": {"out": sink(0)}}));

    let load = || daemon.weft(&["rule", "load", path.to_str().unwrap()]);
    let loaded = timed("weft rule load", load);
    assert_eq!(loaded.code, 0, "{}", loaded.stderr);
    assert!(loaded.stdout.contains("100000 created, 0 replaced"), "{}", loaded.stdout);
    let deletes = all().map(|(table, number)| delete(table, &name(number)));
    let deletes = batch(deletes.collect());
    let change = |operations: &Value| daemon.api().post("/v1/rules:batch", operations).expect(200);
    assert_eq!(timed("delete", || change(&deletes))["deleted"], 100_000);
    assert_eq!(daemon.api().get("/v1/tables").expect(200), json!([]));
    let puts = all().map(|(table, number)| put(table, &name(number), &numbered(table, number)));
    let puts = batch(puts.collect());
    assert_eq!(timed("create", || change(&puts))["created"], 100_000);
    assert_eq!(timed("create again", || change(&puts))["unchanged"], 100_000);

    daemon.api().put("/v1/ports/in", &source()).expect(201);
    daemon.await_packets("in", numbers.len());
    let stats = timed("stats", || daemon.finish());
    assert_eq!(stats.rules.len(), 100_000);
    let hit = stats.rules.iter().filter(|rule| rule.packets > 0);
    let hit: Vec<(u8, &str, u64)> =
        hit.map(|rule| (rule.table, rule.name.as_str(), rule.packets)).collect();
    let mut names: Vec<String> = numbers.iter().map(|&number| name(number)).collect();
    names.sort();
    let expected = (0..TABLES).flat_map(|table| names.iter().map(move |it| (table, &**it, 1)));
    assert_eq!(hit, expected.collect::<Vec<_>>());
    let even = numbers.iter().filter(|number| *number % 2 == 0).count() as u64;
    assert_eq!(stats.port("out").tx_packets, even);
    assert_eq!(stats.port("in").drops["rule-drop"], numbers.len() as u64 - even);
}
