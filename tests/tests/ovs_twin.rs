//! Rules and packets at random, past Weft and past Open vSwitch: what leaves by which port is the
//! same to the byte.
//!
//! Environment: `WEFT_TWIN_SETS` is how many sets of rules there are, `WEFT_TWIN_SEED` the first's
//! seed. What is not compared, since the two are known to differ, is said in `openflow::random`.
//!
//! Open vSwitch remembers some flows by fewer fields than its rules looked at: such as when a label
//! is changed, which it then writes as it was in the flow's first packet, or behind a tag that it
//! takes off. So where the two differ, it is asked again about the packet alone, and that counts.
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
const PACKETS: u32 = 500;
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
    let mut tables = json!({});
    for rule in rules {
        let table = &mut tables[rule.table.to_string()];
        match rule.priority {
            0 => table["miss"] = rule.actions_to_weft(),
            priority => table["rules"][format!("rule-{priority}")] = rule.to_weft(),
        }
    }
    json!({"ports": ports, "tables": tables})
}

/// What leaves Weft, and how many rules had a part in that.
fn past_weft(folder: &Path, rules: &[Rule], traffic: &Traffic) -> (Traffic, usize) {
    let file = |port: Port, end: &str| folder.join(format!("{}-{end}.pcap", port.name()));
    for (port, frames) in traffic {
        Capture { frames: frames.clone() }.write(file(*port, "in"));
    }
    let daemon = Daemon::start_in(folder, &config(rules));
    for (port, frames) in traffic {
        daemon.await_packets(&port.name(), frames.len());
    }
    let hit = daemon.finish().rules.iter().filter(|rule| rule.packets > 0).count();
    let sent = PORTS.map(|port| (port, Capture::read(file(port, "out")).frames));
    (sent.into(), hit)
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

/// What becomes of a frame in Open vSwitch when it has learned nothing from others.
fn alone(ovs: &mut Ovs, port: Port, frame: &[u8]) -> Fate {
    ovs.forget_flows();
    let sent = ovs.forward(&[(port, vec![frame.to_vec()])]);
    fates(&sent).into_values().next().unwrap_or_default()
}

/// What a comparison was about.
#[derive(Debug, Default)]
struct Compared {
    /// Frames that left.
    sent: usize,
    rules: usize,
    /// Those that matched something.
    hit: usize,
    /// Frames that Open vSwitch treated in another way when they came alone.
    misremembered: usize,
}

/// Sends one set's traffic past both.
fn compare(ovs: &mut Ovs, seed: u64) -> Compared {
    let mut chance = Chance::new(seed);
    let rules = openflow::rules(&mut chance);
    let traffic = traffic(&mut chance, &rules);
    let folder = tempfile::tempdir().unwrap();
    let (weft, hit) = past_weft(folder.path(), &rules, &traffic);
    ovs.load(&rules.iter().flat_map(openflow::flows).collect::<Vec<_>>());
    let theirs = ovs.forward(&traffic);

    let (weft, theirs) = (fates(&weft), fates(&theirs));
    let none = Fate::new();
    let (mut differences, mut misremembered) = (Vec::new(), 0);
    for (port, frame) in
        traffic.iter().flat_map(|(port, frames)| frames.iter().map(|it| (*port, it)))
    {
        let mark: &Mark = frame.last_chunk().unwrap();
        let ours = weft.get(mark).unwrap_or(&none);
        if ours == theirs.get(mark).unwrap_or(&none) {
            continue;
        }
        misremembered += 1;
        let alone = alone(ovs, port, frame);
        if *ours != alone {
            differences.push(difference(ovs, port, frame, ours, &alone));
        }
    }
    let count = differences.len();
    let shown = differences.iter().take(3).cloned().collect::<Vec<_>>().join("\n");
    assert_eq!(count, 0, "seed {seed}, rules {:#}:\n{shown}", config(&rules)["tables"]);
    let sent = weft.values().map(Vec::len).sum();
    Compared { sent, rules: rules.len(), hit, misremembered }
}

#[test]
fn random_packets_leave_as_they_leave_open_vswitch() {
    let (sets, first) =
        (from_environment("WEFT_TWIN_SETS", SETS), from_environment("WEFT_TWIN_SEED", 1));
    let mut ovs = Ovs::start();
    let mut all = Compared::default();
    for seed in first..first + sets {
        let set = compare(&mut ovs, seed);
        all.sent += set.sent;
        all.rules += set.rules;
        all.hit += set.hit;
        all.misremembered += set.misremembered;
    }
    // What is all dropped, or hits nothing, would be the same, too.
    let received = usize::try_from(sets).unwrap() * PACKETS as usize;
    assert!(all.sent > received / 5 && all.hit > all.rules / 4, "{received} came: {all:?}");
    assert!(all.misremembered < received / 50, "{received} came: {all:?}");
}
