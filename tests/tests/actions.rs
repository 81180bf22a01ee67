//! Actions from outside: what they make of packets, and what they count.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::collections::BTreeMap;

use serde_json::{Value, json};
use weft_tests::{
    Answer, Capture, Daemon, Namespaces, bad_checksums, binary, frames, run, wait_until,
};

/// Ports that replay `in.pcap` and record what leaves by `out` and `tap`.
fn ports() -> Value {
    json!({
        "in": {"device": "net_pcap0,rx_pcap=in.pcap"},
        "out": {"device": "net_pcap1,tx_pcap=out.pcap"},
        "tap": {"device": "net_pcap2,tx_pcap=tap.pcap"},
    })
}

fn rule(priority: u16, matching: Value, actions: Value) -> Value {
    json!({"priority": priority, "match": matching, "actions": actions})
}

/// What comes of some packets: what left by `out`, what left by `tap`, and the drops.
type Outcome = (Vec<Vec<u8>>, Vec<Vec<u8>>, BTreeMap<String, u64>);

/// Runs packets through a configuration that has [`ports`].
fn replay(config: Value, packets: &[Vec<u8>], look: impl FnOnce(&Daemon)) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    Capture::new(packets.to_vec()).write(folder.path().join("in.pcap"));
    let mut config = config;
    config["ports"] = ports();
    let daemon = Daemon::start_in(folder.path(), &config);
    daemon.await_packets("in", packets.len());
    look(&daemon);
    let stats = daemon.finish();
    let read = |name: &str| Capture::read(folder.path().join(name)).frames;
    for name in ["out.pcap", "tap.pcap"] {
        assert_eq!(bad_checksums(&folder.path().join(name)), [] as [&str; 0], "{name}");
    }
    (read("out.pcap"), read("tap.pcap"), stats.port("in").drops.clone())
}

/// A UDP packet to a port.
fn udp(port: u16) -> Vec<u8> {
    let builder = etherparse::PacketBuilder::ethernet2(frames::SOURCE_MAC, frames::TARGET_MAC)
        .ipv4(frames::SOURCE, frames::TARGET, 64)
        .udp(40_000, port);
    let mut frame = Vec::new();
    builder.write(&mut frame, b"twelve bytes").unwrap();
    frame
}

/// A frame with an MPLS label in front of what is behind its type.
fn labelled(frame: &[u8], label: u32, ttl: u8) -> Vec<u8> {
    let entry = label << 12 | 5 << 9 | 1 << 8 | u32::from(ttl);
    [&frame[..12], &[0x88, 0x47], &entry.to_be_bytes(), &frame[14..]].concat()
}

#[test]
fn a_range_of_ports_and_metadata_decide_over_tables() {
    let rules = json!({
        "0": {"rules": {
            "some": rule(10, json!({"ip_proto": "udp", "l4_dst": "1000-1999"}),
                json!([{"set_field": {"metadata": "0x1/0xff"}}, {"goto": 1}])),
            "rest": rule(1, json!({}), json!([{"goto": 1}])),
        }},
        "1": {"rules": {
            "marked": rule(10, json!({"metadata": "0x1/0x1"}), json!([{"output": "out"}])),
            "others": rule(1, json!({}), json!([{"output": "tap"}])),
        }},
    });
    let packets: Vec<Vec<u8>> = [999, 1000, 1024, 1999, 2000].map(udp).to_vec();
    let (out, tap, drops) = replay(json!({"tables": rules}), &packets, |_| ());
    assert_eq!(out, packets[1..4]);
    assert_eq!(tap, [packets[0].clone(), packets[4].clone()]);
    assert_eq!(drops, BTreeMap::new());
}

#[test]
fn labels_go_on_and_come_off_and_packets_are_what_they_were() {
    let rules = json!({
        "0": {"rules": {
            "on": rule(10, json!({"eth_type": "ipv4"}), json!([
                {"push_mpls": {"label": 100, "tc": 5}}, "decrement_mpls_ttl", {"output": "out"}])),
            "off": rule(10, json!({"eth_type": "mpls", "mpls_label": 200, "mpls_bos": 1}), json!([
                {"pop_mpls": "ipv4"}, {"goto": 1}])),
        }},
        "1": {"rules": {
            "unpacked": rule(1, json!({"ip_proto": "udp", "l4_dst": 53}), json!([{"output": "tap"}])),
        }},
    });
    let packets = [udp(53), labelled(&udp(53), 200, 9), labelled(&udp(54), 200, 9)];
    let (out, tap, drops) = replay(json!({"tables": rules}), &packets, |_| ());
    assert_eq!(out, [labelled(&udp(53), 100, 63)]);
    assert_eq!(tap, [udp(53)]);
    assert_eq!(drops, BTreeMap::from([("table-miss".into(), 1)]));
}

#[test]
fn a_meter_counts_colours_and_drops_what_is_beyond_it() {
    // Without a rate, the bursts are all that ever passes.
    let meter = json!({"algorithm": "rfc2697", "unit": "packets", "committed_rate": 0,
        "committed_burst": 100, "excess_burst": 50, "yellow": "remark:10"});
    let rules = json!({"0": {"rules": {
        "all": rule(1, json!({}), json!([{"meter": "gold"}, {"output": "out"}])),
    }}});
    let packets = vec![udp(53); 400];
    let config = json!({"meters": {"gold": meter}, "tables": rules});
    let (out, _, drops) = replay(config, &packets, |daemon| {
        let answer = daemon.api().get("/v1/meters/gold").expect(200);
        let colors = ["green", "yellow", "red"]
            .map(|color| answer["status"][color]["packets"].as_u64().unwrap());
        assert_eq!(colors, [100, 50, 250]);
        let refused: Answer = daemon.api().delete("/v1/meters/gold");
        assert_eq!((refused.status, &refused.body["code"]), (409, &json!("meter-in-use")));
    });
    assert_eq!(drops, BTreeMap::from([("meter-drop".into(), 250)]));
    assert_eq!(out[..100], packets[..100]);
    let marked: Vec<u8> = out[100..].iter().map(|frame| frame[15] >> 2).collect();
    assert_eq!(marked, [10; 50]);
}

#[test]
fn a_group_shares_out_flows_and_copies_go_to_mirrors() {
    let bucket = |port: &str, mac: &str| json!({"actions": [{"set_field": {"eth_dst": mac}}, {"output": port}]});
    let group = json!({"kind": "select", "buckets": [
        bucket("out", "02:00:00:00:00:0a"), bucket("out", "02:00:00:00:00:0b")]});
    let rules = json!({"0": {"rules": {
        "all": rule(1, json!({}), json!([
            {"mirror": "tap"}, {"sample": {"rate": 1, "output": "tap"}}, {"group": "ecmp"}])),
    }}});
    let packets: Vec<Vec<u8>> = (0..400).map(|packet| udp(1000 + packet % 100)).collect();
    let config = json!({"groups": {"ecmp": group}, "tables": rules});
    let (out, tap, drops) = replay(config, &packets, |daemon| {
        let answer = daemon.api().get("/v1/groups/ecmp").expect(200);
        let buckets = answer["status"]["buckets"].as_array().unwrap();
        let taken: Vec<u64> = buckets.iter().map(|it| it["packets"].as_u64().unwrap()).collect();
        assert_eq!(taken.iter().sum::<u64>(), 400);
        assert!(taken.iter().all(|taken| (100..300).contains(taken)), "{taken:?}");
        assert_eq!(daemon.api().stats().port("in").mirrored_packets, 800);
    });
    assert_eq!(drops, BTreeMap::new());
    assert_eq!(tap.len(), 800);
    assert!(tap.iter().step_by(2).eq(&packets), "copies are as the packets came");
    let way = |frame: &Vec<u8>| frame[5];
    for (packet, sent) in out.iter().enumerate() {
        assert_eq!(way(sent), way(&out[packet % 100]), "packets of a flow take one way");
    }
}

/// What `weft` says.
fn weft(daemon: &Daemon, arguments: &[&str]) -> String {
    let socket = format!("unix:{}", daemon.api().socket().display());
    run(&[&[binary("weft").as_str(), "--server", &socket], arguments].concat())
}

#[test]
fn a_switch_learns_where_stations_are() {
    let namespaces = Namespaces::two();
    let (a, b) = namespaces.pair();
    let daemon = Daemon::start(&json!({
        "ports": {"a": {"device": a.af_packet(0)}, "b": {"device": b.af_packet(1)}},
        "tables": {"0": {"rules": {"all": rule(1, json!({}), json!(["normal"]))}}},
    }));
    let ping = a.run(&["ping", "-c", "5", "-i", "0.05", "-W", "5", &b.ipv4]);
    assert!(ping.contains("5 received"), "{ping}");

    let known = daemon.api().get("/v1/mac-table").expect(200);
    let port_of = |mac: &str| {
        let entries = known["entries"].as_array().unwrap();
        entries.iter().find(|entry| entry["mac"] == mac).map(|entry| entry["port"].clone())
    };
    assert_eq!((port_of(&a.mac), port_of(&b.mac)), (Some(json!("a")), Some(json!("b"))));
    let listed = weft(&daemon, &["mac", "list"]);
    assert!(listed.contains(&a.mac) && listed.contains("2 learned, 0 moved"), "{listed}");
    weft(&daemon, &["mac", "flush"]);
    let known = daemon.api().get("/v1/mac-table").expect(200);
    assert_eq!(known["entries"], json!([]));
    daemon.finish();
}

#[test]
fn rules_alone_answer_for_an_address() {
    let namespaces = Namespaces::two();
    let (a, b) = namespaces.pair();
    let reply = json!([
        {"copy_field": {"from": "eth_src", "to": "eth_dst"}},
        {"set_field": {"eth_src": "02:00:00:00:00:99"}},
        {"set_field": {"arp_op": "reply"}},
        {"copy_field": {"from": "arp_sha", "to": "arp_tha"}},
        {"copy_field": {"from": "arp_spa", "to": "arp_tpa"}},
        {"set_field": {"arp_sha": "02:00:00:00:00:99"}},
        {"set_field": {"arp_spa": "10.77.0.99"}},
        {"output": "a"},
    ]);
    let asked = json!({"in_port": "a", "eth_type": "arp", "arp_op": "request",
        "arp_tpa": "10.77.0.99"});
    let daemon = Daemon::start(&json!({
        "ports": {"a": {"device": a.af_packet(0)}, "b": {"device": b.af_packet(1)}},
        "tables": {"0": {"rules": {"answer": rule(1, asked, reply)}}},
    }));
    a.try_run(&["ping", "-c", "1", "-W", "1", "10.77.0.99"]);
    let neighbour = a.run(&["ip", "neighbour", "show", "10.77.0.99"]);
    assert!(neighbour.contains("02:00:00:00:00:99"), "{neighbour}");
    assert!(daemon.finish().rule("answer") >= 1);
}

#[test]
fn a_group_fails_over_when_a_link_goes_and_back_when_it_returns() {
    let namespaces = Namespaces::two();
    let (a, b) = namespaces.pair();
    let tap = format!("wtap{:x}", std::process::id());
    let bucket = |port: &str| json!({"watch_port": port, "actions": [{"output": port}]});
    let daemon = Daemon::start(&json!({
        "ports": {
            "a": {"device": a.af_packet(0)}, "b": {"device": b.af_packet(1)},
            "first": {"device": format!("net_tap0,iface={tap}")},
        },
        "groups": {"up": {"kind": "fast_failover", "buckets": [bucket("first"), bucket("b")]}},
        "tables": {"0": {"rules": {
            "up": rule(1, json!({"in_port": "a"}), json!([{"group": "up"}])),
            "down": rule(1, json!({"in_port": "b"}), json!([{"output": "a"}])),
        }}},
    }));
    let alive = || {
        let answer = daemon.api().get("/v1/groups/up").expect(200);
        let buckets = answer["status"]["buckets"].as_array().unwrap();
        buckets.iter().map(|bucket| bucket["alive"].as_bool().unwrap()).collect::<Vec<_>>()
    };
    let ping = || a.try_run(&["ping", "-c", "1", "-W", "1", &b.ipv4]).code == 0;
    wait_until("both links", || alive() == [true, true]);
    assert!(!ping(), "packets go to the first");
    run(&["ip", "link", "set", &tap, "down"]);
    wait_until("the first link to go", || alive() == [false, true]);
    assert!(ping(), "packets go to the second");
    run(&["ip", "link", "set", &tap, "up"]);
    wait_until("the first link to return", || alive() == [true, true]);
    assert!(!ping(), "packets go to the first again");
    daemon.finish();
}
