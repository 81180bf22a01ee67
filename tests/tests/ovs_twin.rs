//! Rules and packets at random, past Weft and past Open vSwitch: what leaves by which port is the
//! same to the byte.
//!
//! Environment: `WEFT_TWIN_SETS` is how many sets of rules there are, `WEFT_TWIN_SEED` the first's
//! seed. What is not compared, since the two are known to differ, is said in `openflow::random`.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{collections::BTreeMap, env, path::Path};

use serde_json::{Value, json};
use weft_tests::{
    Capture, Daemon, Ovs,
    openflow::{self, Chance, PORTS, Port, Rule, Scope},
    repository,
};

/// Sets of rules in a run without special wishes.
const SETS: u64 = 20;
/// Packets for each.
const PACKETS: u32 = 240;
/// Examples whose traffic is replayed, too.
const EXAMPLES: [&str; 2] = ["branch-firewall", "vlan-handoff"];

/// What came by each port.
type Traffic = Vec<(Port, Vec<Vec<u8>>)>;
/// The mark that a frame ends with.
type Mark = [u8; 4];
/// What became of a frame: each copy, and the port that it left by, in the order of both.
type Fate = Vec<(Port, Vec<u8>)>;

fn from_environment(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// Frames for all ports, each with a mark of its own.
fn traffic(chance: &mut Chance, rules: &[Rule]) -> Traffic {
    let scope = Scope::of(rules);
    let random: Vec<Vec<u8>> =
        (0..PACKETS).map(|mark| openflow::frame(chance, scope, mark.to_be_bytes())).collect();
    let recorded = EXAMPLES.iter().flat_map(|example| {
        Capture::read(repository().join(format!("examples/{example}/in.pcap"))).frames
    });
    let marked = recorded.zip(PACKETS..).map(|(mut frame, mark)| {
        frame.extend(mark.to_be_bytes());
        frame
    });
    let mut traffic: Traffic = PORTS.iter().map(|port| (*port, Vec::new())).collect();
    for (number, frame) in random.into_iter().chain(marked).enumerate() {
        traffic[number % PORTS.len()].1.push(frame);
    }
    traffic
}

/// A daemon's configuration: each port replays its traffic and records what leaves.
fn config(rules: &[Rule]) -> Value {
    let ports: BTreeMap<String, Value> = PORTS
        .iter()
        .enumerate()
        .map(|(place, port)| {
            let name = port.name();
            let files = format!("rx_pcap={name}-in.pcap,tx_pcap={name}-out.pcap");
            (name, json!({"device": format!("net_pcap{place},{files}")}))
        })
        .collect();
    let mut tables = BTreeMap::<String, BTreeMap<&str, BTreeMap<String, Value>>>::new();
    for rule in rules {
        let table = tables.entry(rule.table.to_string()).or_default();
        let name = format!("rule-{}", rule.priority);
        table.entry("rules").or_default().insert(name, rule.to_weft());
    }
    json!({"ports": ports, "tables": tables})
}

/// What leaves Weft.
fn past_weft(folder: &Path, rules: &[Rule], traffic: &Traffic) -> Traffic {
    let file = |port: Port, end: &str| folder.join(format!("{}-{end}.pcap", port.name()));
    for (port, frames) in traffic {
        Capture { frames: frames.clone() }.write(file(*port, "in"));
    }
    let daemon = Daemon::start_in(folder, &config(rules));
    for (port, frames) in traffic {
        daemon.await_packets(&port.name(), frames.len());
    }
    daemon.finish();
    PORTS.iter().map(|&port| (port, Capture::read(file(port, "out")).frames)).collect()
}

/// What became of each frame.
fn fates(sent: &Traffic) -> BTreeMap<Mark, Fate> {
    let mut fates = BTreeMap::<Mark, Fate>::new();
    for (port, frames) in sent {
        for frame in frames {
            let mark = *frame.last_chunk().unwrap();
            fates.entry(mark).or_default().push((*port, frame.clone()));
        }
    }
    fates.values_mut().for_each(|fate| fate.sort());
    fates
}

fn hex(frame: &[u8]) -> String {
    frame.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A frame that the two treat differently, with all that helps to see why.
fn difference(ovs: &Ovs, port: Port, frame: &[u8], weft: &Fate, theirs: &Fate) -> String {
    let written = |fate: &Fate| -> String {
        fate.iter().map(|(port, frame)| format!("\n    {} {}", port.name(), hex(frame))).collect()
    };
    format!(
        "by {}: {}\n  Weft:{}\n  Open vSwitch:{}\n{}",
        port.name(),
        hex(frame),
        written(weft),
        written(theirs),
        ovs.trace(port, frame)
    )
}

/// Sends one set's traffic past both, and returns how many frames left Weft.
fn compare(ovs: &mut Ovs, seed: u64) -> usize {
    let mut chance = Chance::new(seed);
    let rules = openflow::rules(&mut chance);
    let traffic = traffic(&mut chance, &rules);
    let folder = tempfile::tempdir().unwrap();
    let weft = past_weft(folder.path(), &rules, &traffic);
    ovs.load(&rules.iter().flat_map(openflow::flows).collect::<Vec<_>>());
    let theirs = ovs.forward(&traffic);

    let (weft, theirs) = (fates(&weft), fates(&theirs));
    let none = Fate::new();
    let mut differences = Vec::new();
    for (port, frames) in &traffic {
        for frame in frames {
            let mark: &Mark = frame.last_chunk().unwrap();
            let (ours, others) =
                (weft.get(mark).unwrap_or(&none), theirs.get(mark).unwrap_or(&none));
            if ours != others {
                differences.push(difference(ovs, *port, frame, ours, others));
            }
        }
    }
    let count = differences.len();
    let shown = differences.iter().take(3).cloned().collect::<Vec<_>>().join("\n");
    assert_eq!(count, 0, "seed {seed}, rules {:#}:\n{shown}", config(&rules)["tables"]);
    weft.values().map(Vec::len).sum()
}

#[test]
fn random_packets_leave_as_they_leave_open_vswitch() {
    let (sets, first) =
        (from_environment("WEFT_TWIN_SETS", SETS), from_environment("WEFT_TWIN_SEED", 1));
    let mut ovs = Ovs::start();
    let sent: usize = (first..first + sets).map(|seed| compare(&mut ovs, seed)).sum();
    // What is all dropped would be the same, too.
    let least = usize::try_from(sets).unwrap() * PACKETS as usize / 5;
    assert!(sent > least, "only {sent} frames of {sets} sets left");
}
