//! Two namespaces, two af_packet ports, and the firewall module between them.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use weft_tests::{
    Daemon, Link, Namespaces, Recording, Song, bad_checksums, deny_tcp, firewalled, frames,
};

/// What the firewall denies in these tests.
const DENIED: u16 = 7001;

/// Megabits a second of one TCP connection for two seconds.
fn iperf(client: &Link, server: &Link) -> f64 {
    let running = server.start(&["iperf3", "--server", "--one-off"]);
    server.await_listening(5201);
    let text = client.run(&["iperf3", "--client", &server.ipv4, "--time", "2", "--json"]);
    let _ = running.finish();
    let answer: Value = serde_json::from_str(&text).unwrap();
    answer["end"]["sum_received"]["bits_per_second"].as_f64().unwrap() / 1e6
}

#[test]
fn ping_tcp_and_udp_pass_with_right_checksums_and_every_packet_is_accounted_for() {
    let namespaces = Namespaces::two();
    let (a, b) = namespaces.pair();
    let daemon = Daemon::start(&firewalled(&namespaces, &deny_tcp(DENIED)));
    let recording = Recording::start(b, &daemon.folder().join("b.pcap"));

    for address in [&b.ipv4, &b.ipv6] {
        let ping = a.run(&["ping", "-c", "5", "-i", "0.05", "-W", "5", address]);
        assert!(ping.contains("5 received"), "{ping}");
    }
    Song::start(a, b, 1000).end_after(Duration::from_secs(1));
    b.run(&["bash", "-c", &format!("echo over > /dev/udp/{}/9", a.ipv4)]);
    let file = daemon.folder().join("all.pcap");
    recording.until(b"over\n").write(&file);
    assert_eq!(bad_checksums(&file), [] as [&str; 0]);
    assert!(iperf(a, b) > 10.0, "TCP that loses packets or checksums is slower than this");

    let stats = daemon.finish();
    assert_eq!(stats.port("a").drops, BTreeMap::new());
    assert_eq!(stats.port("b").drops, BTreeMap::new());
    assert_eq!(stats.rule("a-to-b"), stats.port("a").rx_packets);
    assert_eq!(stats.stages["fw"]["packets"], stats.rule("a-to-b") + stats.rule("b-to-a"));
}

#[test]
fn a_denied_port_is_refused_and_counted_under_the_modules_reason() {
    let namespaces = Namespaces::two();
    let (a, b) = namespaces.pair();
    let daemon = Daemon::start(&firewalled(&namespaces, &deny_tcp(DENIED)));
    let _servers = [DENIED, DENIED + 1].map(|port| {
        let server = b.start(&["python3", "-m", "http.server", &port.to_string()]);
        b.await_listening(port);
        server
    });

    let fetch = |port: u16| {
        let url = format!("http://{}:{port}/", b.ipv4);
        a.try_run(&["curl", "--silent", "--connect-timeout", "2", &url]).code
    };
    assert_eq!(fetch(DENIED + 1), 0, "the port next to it is open");
    assert_eq!(fetch(DENIED), 28, "curl's code for a timeout");

    let stats = daemon.finish();
    let denied = stats.port("a").dropped_packets;
    assert!(denied >= 1);
    assert_eq!(stats.port("a").drops, BTreeMap::from([("fw:denied-by-rule".into(), denied)]));
    assert_eq!(stats.stages["fw"]["verdicts"]["drop"], denied);
    assert_eq!(stats.port("b").dropped_packets, 0);
}

#[test]
fn tagged_packets_arrive_with_their_tags() {
    let namespaces = Namespaces::two();
    let (a, b) = namespaces.pair();
    let daemon = Daemon::start(&firewalled(&namespaces, &deny_tcp(DENIED)));
    let recording = Recording::start(b, &daemon.folder().join("b.pcap"));
    let mut two_tags = frames::kind("qinq-tcp");
    // A port on a kernel's link takes every outer tag for one of IEEE 802.1Q.
    two_tags[12..14].copy_from_slice(&[0x81, 0x00]);
    let tagged = [frames::kind("vlan-udp"), two_tags];
    tagged.iter().for_each(|frame| a.inject(frame));
    a.inject(b"\xff\xff\xff\xff\xff\xff\x02\x00\x00\x00\x00\x01\x88\xb5over");
    let arrived = recording.until(b"over").frames;
    let with_tag = |frame: &Vec<u8>| frame[12..14] == [0x81, 0x00];
    assert_eq!(arrived.into_iter().filter(with_tag).collect::<Vec<_>>(), tagged);
    daemon.finish();
}

#[test]
fn a_packet_that_no_rule_matches_is_dropped_as_a_table_miss() {
    let namespaces = Namespaces::two();
    let (a, b) = namespaces.pair();
    let mut config = firewalled(&namespaces, &deny_tcp(DENIED));
    config["tables"] = json!({});
    let daemon = Daemon::start(&config);
    let ping = a.try_run(&["ping", "-c", "1", "-W", "1", &b.ipv4]);
    assert_eq!(ping.code, 1, "{}", ping.stdout);
    let stats = daemon.finish();
    let received = stats.port("a").rx_packets;
    assert!(received > 0);
    assert_eq!(stats.port("a").drops, BTreeMap::from([("table-miss".into(), received)]));
}

#[test]
fn weftd_stops_within_five_seconds_under_load() {
    let namespaces = Namespaces::two();
    let (a, b) = namespaces.pair();
    let daemon = Daemon::start(&firewalled(&namespaces, &deny_tcp(DENIED)));
    a.run(&["ping", "-q", "-c", "1", "-W", "5", &b.ipv4]);
    let flood = a.start(&["ping", "-q", "-f", &b.ipv4]);
    let packets = daemon.api().stats().port("a").rx_packets;
    weft_tests::wait_until("the flood", || {
        daemon.api().stats().port("a").rx_packets > packets + 999
    });
    // The counters that it ends with are taken while packets are on their way.
    daemon.finish();
    drop(flood);
}
