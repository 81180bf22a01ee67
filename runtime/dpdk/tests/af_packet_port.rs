//! Interfaces of the kernel, in a network namespace of the test's own. It needs root.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod environment;

use std::{
    process::Command,
    time::{Duration, Instant},
};

use dataplane::{Packet, Receive, Transmit};
use dpdk::{Mbuf, Pool, Port, PortConfig, RxQueue};
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// An EtherType for experiments (IEEE 802), which tells our frames from the kernel's.
const OURS: [u8; 2] = [0x88, 0xb5];

fn ip(arguments: &str) -> String {
    let output = Command::new("ip").args(arguments.split(' ')).output().unwrap();
    assert!(output.status.success(), "ip {arguments}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn enter_namespace_with_veths() {
    // SAFETY: descriptors stay shared, only the network is unshared.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET) }.expect("this test needs root");
    ip("link add veth-a type veth peer name veth-b");
    ip("link set veth-a up");
    ip("link set veth-b up");
}

/// A broadcast of 60 bytes that ends with the number.
fn numbered(pool: &Pool, number: u8) -> Mbuf {
    let mut frame = [number; 60];
    frame[..6].fill(0xff);
    frame[12..14].copy_from_slice(&OURS);
    pool.allocate_from(&frame).unwrap()
}

/// The numbers of the frames of ours that arrive, until there are `count`.
fn receive_numbers(rx: &mut RxQueue, count: usize) -> Vec<u8> {
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut burst = Vec::with_capacity(32);
    let mut numbers = Vec::new();
    while numbers.len() < count && Instant::now() < deadline {
        rx.receive(&mut burst);
        let ours = burst.drain(..).filter(|mbuf| mbuf.bytes()[12..14] == OURS);
        numbers.extend(ours.map(|mbuf| mbuf.bytes()[59]));
    }
    numbers
}

#[test]
fn frames_pass_between_two_interfaces_which_are_as_before_afterwards() {
    enter_namespace_with_veths();
    let eal = environment::start();
    let pool = Pool::new(eal, "packets", 1023, 0, None).unwrap();
    let config = PortConfig { mtu: Some(1400), ..PortConfig::new(&pool) };
    for round in 0..5 {
        let mut a = Port::attach(eal, "net_af_packet0,iface=veth-a").unwrap();
        let mut b = Port::attach(eal, "net_af_packet1,iface=veth-b").unwrap();
        let mut queues_a = a.start(&config).unwrap();
        let mut queues_b = b.start(&config).unwrap();
        let shown = ip("link show veth-a");
        assert!(shown.contains("PROMISC") && shown.contains("mtu 1400"), "{shown}");

        let mut burst: Vec<Mbuf> = (0..20).map(|number| numbered(&pool, number)).collect();
        assert_eq!(queues_a.tx[0].transmit(&mut burst), 20);
        let numbers = receive_numbers(&mut queues_b.rx[0], 20);
        assert_eq!(numbers, (0..20).collect::<Vec<u8>>(), "round {round}");
        assert_eq!(a.stats().unwrap().tx_packets, 20);

        drop((queues_a, queues_b));
        a.detach().unwrap();
        b.detach().unwrap();
        let shown = ip("link show veth-a");
        assert!(!shown.contains("PROMISC"), "{shown}");
        assert_eq!(pool.free_count(), 1023, "round {round}");
    }
}

#[test]
fn an_interface_that_vanishes_leaves_a_port_that_can_be_detached() {
    enter_namespace_with_veths();
    let eal = environment::start();
    let pool = Pool::new(eal, "vanishing", 1023, 0, None).unwrap();
    let mut port = Port::attach(eal, "net_af_packet2,iface=veth-a").unwrap();
    let mut queues = port.start(&PortConfig::new(&pool)).unwrap();
    ip("link delete veth-a");

    let mut burst = vec![numbered(&pool, 1)];
    queues.tx[0].transmit(&mut burst);
    burst.clear();
    burst.reserve(32);
    queues.rx[0].receive(&mut burst);
    drop((burst, queues));
    port.detach().unwrap();
    assert_eq!(pool.free_count(), 1023);
}

#[test]
fn an_interface_that_is_not_there_is_refused() {
    let error = Port::attach(environment::start(), "net_af_packet3,iface=weft-none").unwrap_err();
    let message = error.to_string();
    assert!(message.contains("No such device"), "{message}");
    assert!(message.contains("iface= names an interface of this network namespace"), "{message}");
}
