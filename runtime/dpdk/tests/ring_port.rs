//! A ring gives back what it was sent, so that its room and order are seen.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod environment;

use dataplane::{Packet, Receive, Transmit};
use dpdk::{Mbuf, Pool, Port, PortConfig};

/// The driver's rings have room for one less than 1024.
const ROOM: usize = 1023;

#[test]
fn what_a_full_queue_does_not_take_stays_in_order() {
    let eal = environment::start();
    let pool = Pool::new(eal, "packets", 2047, 0, None).unwrap();
    let mut port = Port::attach(eal, "net_ring0").unwrap();
    let mut queues = port.start(&PortConfig::new(&pool)).unwrap();
    let (rx, tx) = (&mut queues.rx[0], &mut queues.tx[0]);

    let numbered = |number: u16| pool.allocate_from(&number.to_be_bytes()).unwrap();
    let mut packets: Vec<Mbuf> = (0..1200).map(numbered).collect();
    assert_eq!(tx.transmit(&mut packets), ROOM);
    assert_eq!(packets.len(), 1200 - ROOM);
    assert_eq!(tx.transmit(&mut packets), 0);

    let mut burst = Vec::with_capacity(1200);
    rx.receive(&mut burst);
    assert_eq!(burst.len(), ROOM);
    assert_eq!(tx.transmit(&mut packets), 1200 - ROOM);
    rx.receive(&mut burst);
    let numbers: Vec<u16> =
        burst.iter().map(|mbuf| u16::from_be_bytes(mbuf.bytes().try_into().unwrap())).collect();
    assert_eq!(numbers, (0..1200).collect::<Vec<u16>>());
    drop(burst);
    assert_eq!(pool.free_count(), 2047);
}
