//! Real traffic of two namespaces, recorded, and replayed through a chain of two stages.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::path::Path;

use etherparse::TransportSlice;
use serde_json::json;
use weft_tests::{
    Background, Capture, Daemon, Link, Namespaces, Recording, bad_checksums, firewalled, frames,
    module, run, twin,
};

/// The addresses that the second stage writes.
const ROUTER: [u8; 6] = [2, 0, 0, 0, 0, 3];
const NEXT_HOP: [u8; 6] = [2, 0, 0, 0, 0, 4];

/// Answers every question with 10.77.0.2.
const NAME_SERVER: &str = "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('', 53))
while True:
    q, a = s.recvfrom(512)
    counts = b'\\0\\1\\0\\1\\0\\0\\0\\0'
    answer = b'\\xc0\\x0c\\0\\1\\0\\1\\0\\0\\0\\x3c\\0\\4\\x0a\\x4d\\0\\2'
    s.sendto(q[:2] + b'\\x81\\x80' + counts + q[12:] + answer, a)
";
/// Asks the server for the address of weft.test, and prints the last byte of the answer.
const QUESTION: &str = "
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(5)
head = b'\\x12\\x34\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0'
s.sendto(head + b'\\4weft\\4test\\0\\0\\1\\0\\1', (sys.argv[1], 53))
print(s.recv(512)[-1])
";

/// Serves names, and files by HTTP.
fn serve(link: &Link) -> [Background; 2] {
    let servers = [
        link.start(&["python3", "-c", NAME_SERVER]),
        link.start(&["python3", "-m", "http.server", "80"]),
    ];
    link.await_listening(53);
    link.await_listening(80);
    servers
}

/// What passes a namespace's link in DNS, HTTP, pings of both families and on VLANs.
fn record(folder: &Path) -> Capture {
    let namespaces = Namespaces::two();
    let (a, b) = namespaces.pair();
    let daemon = Daemon::start(&firewalled(&namespaces, &json!({"default": "allow"})));
    let _servers = serve(b);
    let recording = Recording::start(a, &folder.join("recorded.pcap"));

    assert_eq!(a.run(&["python3", "-c", QUESTION, &b.ipv4]), "2\n");
    let url = format!("http://{}/", b.ipv4);
    a.run(&["curl", "--silent", "--fail", "--output", "/dev/null", &url]);
    for address in [&b.ipv4, &b.ipv6] {
        a.run(&["ping", "-q", "-c", "3", "-i", "0.05", "-W", "5", address]);
    }
    a.inject(&frames::kind("vlan-udp"));
    a.inject(&frames::kind("qinq-tcp"));
    a.run(&["bash", "-c", &format!("echo over > /dev/udp/{}/9", b.ipv4)]);
    let capture = recording.until(b"over\n");
    daemon.finish();
    capture
}

/// What the chain should make of a frame: names are not to be asked for, the rest makes a hop.
fn expected(frame: &[u8]) -> Option<Vec<u8>> {
    let to_name_server = match twin::slices(frame).transport {
        Some(TransportSlice::Udp(udp)) => udp.destination_port() == 53,
        _ => false,
    };
    if to_name_server { None } else { twin::router_hop(frame, ROUTER, NEXT_HOP) }
}

#[test]
fn recorded_traffic_through_two_stages_is_what_the_slow_twin_says() {
    let folder = tempfile::tempdir().unwrap();
    let capture = record(folder.path());
    capture.write(folder.path().join("in.pcap"));
    let path = folder.path().join("in.pcap");
    let path = path.to_str().unwrap();
    let protocols = run(&["tshark", "-r", path, "-T", "fields", "-e", "frame.protocols"]);
    for protocol in
        ["arp", "dns", "http", "ip:icmp", "ipv6:icmpv6", "vlan:ethertype:ip:udp", "ieee8021ad"]
    {
        assert!(protocols.contains(protocol), "no {protocol} was recorded: {protocols}");
    }

    let daemon = Daemon::start_in(
        folder.path(),
        &json!({
            "ports": {
                "in": {"device": "net_pcap0,rx_pcap=in.pcap"},
                "out": {"device": "net_pcap1,tx_pcap=out.pcap"},
            },
            "modules": {
                "firewall": {"path": module("firewall-1.0.0")},
                "router-hop": {"path": module("router-hop")},
            },
            "stages": {
                "fw": {"module": "firewall", "config": {"default": "allow", "rules": [
                    {"action": "deny", "protocol": "udp", "destination_ports": 53},
                ]}},
                "hop": {"module": "router-hop", "config": {
                    "source_mac": "02:00:00:00:00:03",
                    "destination_mac": "02:00:00:00:00:04",
                }},
            },
            "tables": {"0": {"rules": {"chain": {
                "priority": 1,
                "match": {"in_port": "in"},
                "actions": [{"stage": "fw"}, {"stage": "hop"}, {"output": "out"}],
            }}}},
        }),
    );
    daemon.await_packets("in", capture.frames.len());
    let stats = daemon.finish();

    let out = folder.path().join("out.pcap");
    let sent = Capture::read(&out).frames;
    let wanted: Vec<Vec<u8>> = capture.frames.iter().filter_map(|frame| expected(frame)).collect();
    assert_eq!(sent, wanted);
    assert_eq!(bad_checksums(&out), [] as [&str; 0]);
    let drops = &stats.port("in").drops;
    assert_eq!(drops["fw:denied-by-rule"], 1, "the one question: {drops:?}");
    // Neighbour discovery and other talk on the link has a hop limit of 255, or of 1.
    let late = (capture.frames.len() - wanted.len() - 1) as u64;
    assert_eq!(drops.get("hop:ttl-expired").copied().unwrap_or_default(), late, "{drops:?}");
}
