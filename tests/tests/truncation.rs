//! Every kind of frame, cut at every byte.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::collections::BTreeMap;

use serde_json::{Value, json};
use weft_tests::{Capture, Daemon, bad_checksums, frames, module};

const ETHERNET_HEADER: usize = 14;

/// Each frame of each kind, cut after 0, 1, 2... bytes, and whole.
fn cut_frames() -> Vec<Vec<u8>> {
    let cut = |frame: Vec<u8>| (0..=frame.len()).map(move |length| frame[..length].to_vec());
    frames::kinds().into_iter().flat_map(|(_, frame)| cut(frame)).collect()
}

fn chain(actions: &Value, table_1: &Value) -> Value {
    json!({
        "ports": {
            "in": {"device": "net_pcap0,rx_pcap=in.pcap"},
            "out": {"device": "net_pcap1,tx_pcap=out.pcap"},
        },
        "modules": {
            "firewall": {"path": module("firewall-1.0.0")},
            "router-hop": {"path": module("router-hop")},
        },
        "stages": {
            "fw": {"module": "firewall", "config": {"default": "allow"}},
            "hop": {"module": "router-hop", "config": {
                "source_mac": "02:00:00:00:00:03",
                "destination_mac": "02:00:00:00:00:04",
            }},
        },
        "tables": {
            "0": {"rules": {"all": {"priority": 1, "match": {"in_port": "in"}, "actions": actions}}},
            "1": {"rules": table_1},
        },
    })
}

/// Both modules, then native actions of every kind, by what the packet is.
fn rewriting() -> Value {
    let to_table_1 = json!([{"stage": "fw"}, {"stage": "hop"}, {"goto": 1}]);
    let out = json!({"output": "out"});
    let table_1 = json!({
        "tagged": {"priority": 40, "match": {"vlan_vid": 10}, "actions": [
            "pop_vlan", {"set_field": {"eth_src": "02:00:00:00:00:05"}}, out,
        ]},
        "udp": {"priority": 30, "match": {"eth_type": "ipv4", "ip_proto": "udp", "ip_frag": "no"}, "actions": [
            {"set_field": {"ip_dst": "192.0.2.1"}}, {"set_field": {"l4_dst": 9}}, "decrement_ttl", out,
        ]},
        "tcp": {"priority": 20, "match": {"eth_type": "ipv6", "ip_proto": "tcp"}, "actions": [
            {"set_field": {"ip_src": "2001:db8::1"}}, {"set_field": {"l4_src": 99}}, out,
        ]},
        "rest": {"priority": 1, "actions": [{"push_vlan": {"vid": 30, "pcp": 0, "tpid": "0x8100"}}, out]},
    });
    chain(&to_table_1, &table_1)
}

#[test]
fn cut_frames_leave_as_they_came_and_runts_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let frames = cut_frames();
    Capture::new(frames.clone()).write(folder.path().join("in.pcap"));
    let config = chain(&json!([{"output": "out"}]), &json!({}));
    let daemon = Daemon::start_in(folder.path(), &config);
    daemon.await_packets("in", frames.len());
    let stats = daemon.finish();

    let (runts, whole): (Vec<_>, Vec<_>) =
        frames.into_iter().partition(|frame| frame.len() < ETHERNET_HEADER);
    let expected = BTreeMap::from([("runt".into(), runts.len() as u64)]);
    assert_eq!(stats.port("in").drops, expected);
    assert_eq!(stats.port("out").tx_packets, whole.len() as u64);
    assert_eq!(Capture::read(folder.path().join("out.pcap")).frames, whole);
}

#[test]
fn actions_on_cut_frames_do_what_they_can_or_count_a_drop() {
    let folder = tempfile::tempdir().unwrap();
    let frames = cut_frames();
    Capture::new(frames.clone()).write(folder.path().join("in.pcap"));
    let daemon = Daemon::start_in(folder.path(), &rewriting());
    daemon.await_packets("in", frames.len());
    let stats = daemon.finish();
    let runts = u64::try_from(frames::kinds().len() * ETHERNET_HEADER).unwrap();
    assert_eq!(stats.port("in").drops["runt"], runts);
    let sent = Capture::read(folder.path().join("out.pcap"));
    assert_eq!(sent.frames.len() as u64, stats.port("out").tx_packets);
    assert!(sent.frames.len() > frames::kinds().len());
}

#[test]
fn actions_on_whole_frames_leave_right_checksums() {
    let folder = tempfile::tempdir().unwrap();
    let frames: Vec<Vec<u8>> = frames::kinds().into_iter().map(|(_, frame)| frame).collect();
    Capture::new(frames.clone()).write(folder.path().join("in.pcap"));
    let daemon = Daemon::start_in(folder.path(), &rewriting());
    daemon.await_packets("in", frames.len());
    let stats = daemon.finish();
    assert_eq!(stats.port("in").drops, BTreeMap::new());
    let out = folder.path().join("out.pcap");
    assert_eq!(Capture::read(&out).frames.len(), frames.len());
    assert_eq!(bad_checksums(&out), [] as [&str; 0]);
}
