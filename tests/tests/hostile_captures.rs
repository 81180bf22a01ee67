//! Captures that others collected, many of them made to crash parsers, through the whole daemon.
//!
//! They are not part of the repository: `WEFT_CAPTURES` names their folder, or they lie in
//! `shared/pcaps` next to the repository.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use weft_tests::{Canary, Capture, Daemon, NotACapture, as_pcap, module, overlay, repository};

/// Frames with more than this do not fit one buffer, and are counted as such.
const LONGEST: usize = 1518;

fn folder() -> PathBuf {
    let default = || repository().parent().unwrap().join("shared/pcaps");
    env::var_os("WEFT_CAPTURES").map_or_else(default, PathBuf::from)
}

/// The frames of every Ethernet capture in the folder.
fn frames(folder: &Path) -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> = Vec::new();
    for kind in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if kind.is_dir() {
            files.extend(fs::read_dir(kind).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    files.sort();
    let mut frames = Vec::new();
    for file in &files {
        let capture = match Capture::parse(&fs::read(file).unwrap()) {
            Err(NotACapture::Format) => Capture::parse(&as_pcap(file).unwrap_or_default()),
            parsed => parsed,
        };
        match capture {
            Ok(capture) => frames.extend(capture.frames),
            Err(why) => eprintln!("{}: not of Ethernet: {why:?}", file.display()),
        }
    }
    eprintln!("{} frames of {} captures", frames.len(), files.len());
    frames
}

fn config() -> Value {
    json!({
        "ports": {"out": {"device": "net_pcap9,tx_pcap=out.pcap"}},
        "modules": {
            "firewall": {"path": module("firewall-1.0.0")},
            "router-hop": {"path": module("router-hop")},
            "macswap": {"path": module("macswap")},
        },
        "stages": {
            "fw": {"module": "firewall", "config": {"default": "allow", "rules": [
                {"action": "deny", "protocol": "udp", "destination_ports": "1-1023"},
                {"action": "deny", "source": "10.0.0.0/8", "destination_ports": 80},
            ]}},
            "hop": {"module": "router-hop", "config": {
                "source_mac": "02:00:00:00:00:03",
                "destination_mac": "02:00:00:00:00:04",
            }},
            "swap": {"module": "macswap"},
        },
        "tables": {
            "0": {"rules": {"all": {"priority": 1, "actions": [{"output": "out"}]}}},
            "1": {"rules": {
                "tagged": {"priority": 0, "actions": [
                    "pop_vlan", {"stage": "swap"}, {"output": "out"},
                ]},
                "tcp": {"priority": 8, "match": {"eth_type": "ipv4", "ip_proto": "tcp"}, "actions": [
                    {"set_field": {"ip_src": "192.0.2.1"}}, {"set_field": {"l4_dst": 80}},
                    {"output": "out"},
                ]},
                "udp": {"priority": 7, "match": {"eth_type": "ipv6", "ip_proto": "udp"}, "actions": [
                    {"set_field": {"ip_dst": "2001:db8::1"}}, "decrement_ttl", {"output": "out"},
                ]},
                "untagged": {"priority": 1, "match": {"vlan_vid": "none"}, "actions": [
                    {"stage": "swap"}, {"push_vlan": {"vid": 99}}, {"output": "out"},
                ]},
            }},
        },
    })
}

/// Replays the capture by a port of this name, and waits for the end of it.
fn replay(daemon: &Daemon, port: &str, number: u8, packets: usize) -> (u64, u64) {
    let spec = json!({"device": format!("net_pcap{number},rx_pcap=all.pcap")});
    daemon.api().put(&format!("/v1/ports/{port}"), &spec).expect(201);
    let stats = daemon.await_packets(port, packets);
    stats.assert_conserved();
    eprintln!("{port}: {:?}", stats.port(port).drops);
    (stats.port(port).forwarded_packets, stats.port(port).dropped_packets)
}

#[test]
fn captures_of_others_pass_or_are_counted_and_other_traffic_does_not_notice() {
    let captures = folder();
    if !captures.is_dir() {
        // Past the test's captured output, so that it is seen.
        let place = captures.display();
        writeln!(io::stderr(), "skipped: 1 test, for there are no captures in {place}").unwrap();
        return;
    }
    let frames = frames(&captures);
    assert!(frames.len() > 10_000, "the folder has hundreds of captures: {}", frames.len());
    let work = tempfile::tempdir().unwrap();
    Capture::new(frames.clone()).write(work.path().join("all.pcap"));
    let canary = Canary::hatch();
    let mut config = config();
    overlay(&mut config, &canary.config());
    let daemon = Daemon::start_in(work.path(), &config);
    let song = canary.sing();

    let (untouched, _) = replay(&daemon, "plain", 0, frames.len());
    let all = json!({"priority": 1, "actions": [{"stage": "fw"}, {"stage": "hop"}, {"goto": 1}]});
    daemon.api().put("/v1/tables/0/rules/all", &all).expect(200);
    let (rewritten, dropped) = replay(&daemon, "rewritten", 1, frames.len());
    assert!(rewritten > 0 && dropped > 0);

    song.end_flawless();
    let stats = daemon.finish();
    assert_eq!(stats.port("out").tx_packets, untouched + rewritten);
    let out = Capture::read(work.path().join("out.pcap")).frames;
    let fit = |frame: &&Vec<u8>| (14..=LONGEST).contains(&frame.len());
    let expected: Vec<&Vec<u8>> = frames.iter().filter(fit).collect();
    let first: Vec<&Vec<u8>> =
        out.iter().take(usize::try_from(untouched).unwrap()).filter(fit).collect();
    assert!(expected == first, "frames that nothing changes leave as they came, in their order");
}
