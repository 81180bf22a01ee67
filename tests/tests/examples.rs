//! The examples, run as their READMEs say.
//!
//! `WEFT_WRITE_EXAMPLES=1 cargo test -p weft-tests --test examples` writes their captures anew.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{env, fs, os::unix::fs::symlink, path::PathBuf};

use weft_tests::{
    Capture, Daemon, bad_checksums,
    frames::{self, tcp_between, udp_between},
    module, repository,
    twin::{macswap, pop_vlan, push_vlan, router_hop},
};

const OFFICE: [u8; 4] = [10, 1, 0, 7];
const GUEST: [u8; 4] = [10, 9, 0, 7];
const SERVER: [u8; 4] = [192, 0, 2, 80];

/// What goes into an example's chain, and what should come out.
#[derive(Debug, Default)]
struct Example {
    packets: Vec<Vec<u8>>,
    expected: Vec<Vec<u8>>,
}

impl Example {
    fn passes(&mut self, frame: Vec<u8>, changed: impl Fn(&[u8]) -> Vec<u8>) {
        self.expected.push(changed(&frame));
        self.packets.push(frame);
    }

    fn is_dropped(&mut self, frame: Vec<u8>) {
        self.packets.push(frame);
    }
}

fn branch_firewall() -> Example {
    let mut example = Example::default();
    let hop = |frame: &[u8]| {
        router_hop(frame, [2, 0, 0, 0, 1, 1], [2, 0, 0, 0, 1, 2]).expect("its time is not over")
    };
    for flow in 0..8 {
        let from = 40_000 + flow;
        example.passes(tcp_between(OFFICE, SERVER, (from, 443), 64), hop);
        example.passes(udp_between(OFFICE, SERVER, (from, 4000), 64), hop);
        example.is_dropped(tcp_between(OFFICE, SERVER, (from, 23), 64));
        example.is_dropped(udp_between(GUEST, [10, 1, 0, 8], (from, 5000), 64));
        example.passes(tcp_between(GUEST, SERVER, (from, 443), 2), hop);
        example.is_dropped(tcp_between(GUEST, SERVER, (from, 443), 1));
    }
    for name in ["ipv4-icmp", "ipv6-tcp", "icmpv6", "ipv6-extensions-udp"] {
        example.passes(frames::kind(name), hop);
    }
    for name in ["arp", "lldp"] {
        example.is_dropped(frames::kind(name));
    }
    example
}

fn vlan_handoff() -> Example {
    let mut example = Example::default();
    for name in ["ipv4-tcp", "ipv4-udp", "ipv4-icmp", "ipv6-tcp", "arp"] {
        example.passes(frames::kind(name), |frame| push_vlan(&macswap(frame), 10));
    }
    for name in ["ipv4-tcp", "ipv6-udp", "icmpv6"] {
        example.passes(push_vlan(&frames::kind(name), 10), |frame| macswap(&pop_vlan(frame)));
    }
    for name in ["ipv4-tcp", "ipv6-udp"] {
        example.is_dropped(push_vlan(&frames::kind(name), 11));
    }
    example
}

/// Every folder with a chain, and what it is about.
fn examples() -> [(&'static str, Example); 2] {
    [("branch-firewall", branch_firewall()), ("vlan-handoff", vlan_handoff())]
}

fn folder(name: &str) -> PathBuf {
    repository().join("examples").join(name)
}

#[test]
fn every_example_is_known_here_and_has_the_captures_that_are_computed_here() {
    let entries = fs::read_dir(repository().join("examples")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut with_chain: Vec<PathBuf> =
        paths.filter(|path| path.join("chain.toml").exists()).collect();
    with_chain.sort();
    let names = examples().map(|(name, _)| folder(name));
    assert_eq!(with_chain, names);

    for (name, example) in examples() {
        let captures = [("in.pcap", example.packets), ("expected.pcap", example.expected)];
        for (file, frames) in captures.map(|(file, frames)| (folder(name).join(file), frames)) {
            if env::var_os("WEFT_WRITE_EXAMPLES").is_some() {
                Capture::new(frames.clone()).write(&file);
            }
            assert_eq!(Capture::read(&file).frames, frames, "{}", file.display());
        }
    }
}

#[test]
fn every_example_makes_of_its_packets_what_it_says() {
    // The chains name modules by their way from the examples to the target folder.
    let scratch = tempfile::tempdir().unwrap();
    let modules = PathBuf::from(module("macswap"));
    symlink(modules.ancestors().nth(2).unwrap(), scratch.path().join("target")).unwrap();
    for (name, example) in examples() {
        let copy = scratch.path().join("examples").join(name);
        fs::create_dir_all(&copy).unwrap();
        for file in ["chain.toml", "in.pcap"] {
            fs::copy(folder(name).join(file), copy.join(file)).unwrap();
        }
        let end = Daemon::run_file(&copy.join("chain.toml"), &["--exit-when-idle", "0.5"]);
        assert_eq!(end.code, 0, "{name}: {}", end.stderr);
        let out = copy.join("out.pcap");
        assert_eq!(Capture::read(&out).frames, example.expected, "{name}");
        assert_eq!(bad_checksums(&out), [] as [&str; 0], "{name}");
    }
}
