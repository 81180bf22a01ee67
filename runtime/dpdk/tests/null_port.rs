//! The wrappers against DPDK's null device, which needs no hardware, no hugepages and no root.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod environment;

use dataplane::{Packet, Receive, Received, Transmit};
use dpdk::{Pool, Port, PortConfig};

#[test]
fn a_polled_burst_is_sent_and_every_buffer_comes_back() {
    let eal = environment::start();
    let _registered = eal.register_thread().unwrap();
    let pool = Pool::new(eal, "packets", 2047, 64, None).unwrap();
    let mut port = Port::attach(eal, "net_null0,size=64").unwrap();
    let mut queues = port.start(&PortConfig::new(&pool)).unwrap();
    let (rx, tx) = (&mut queues.rx[0], &mut queues.tx[0]);

    let mut burst = Vec::with_capacity(32);
    assert_eq!(rx.receive(&mut burst), Received::default());
    assert_eq!(burst.len(), 32);
    assert!(burst.iter().all(|mbuf| mbuf.bytes() == [0; 64]));
    assert_eq!(pool.free_count(), 2047 - 32);

    rx.receive(&mut burst);
    assert_eq!(burst.len(), 32, "a full burst takes no more");
    assert_eq!(tx.transmit(&mut burst), 32);
    assert!(burst.is_empty());
    rx.receive(&mut burst);
    drop(burst);
    assert_eq!(pool.free_count(), 2047, "nothing leaked");
}
