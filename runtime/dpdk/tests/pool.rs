//! Pools and the packets that are made from them.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod environment;

use dataplane::Packet;
use dpdk::{Error, Mbuf, Pool};

fn pool(name: &str, buffers: u32) -> Pool {
    Pool::new(environment::start(), name, buffers, 0, None).unwrap()
}

#[test]
fn an_empty_pool_gives_nothing_until_a_packet_is_dropped() {
    let pool = pool("small", 3);
    let packets: Vec<Mbuf> = (0..3).map(|_| pool.allocate_from(&[7; 60]).unwrap()).collect();
    assert_eq!((pool.size(), pool.free_count()), (3, 0));
    assert!(pool.allocate_from(&[7; 60]).is_none());
    assert!(packets[0].duplicate().is_none());
    drop(packets);
    assert_eq!(pool.free_count(), 3);
}

#[test]
fn a_frame_that_does_not_fit_a_buffer_takes_none() {
    let pool = pool("frames", 2);
    let room = usize::from(Pool::ROOM);
    let largest = vec![9; room];
    assert_eq!(pool.allocate_from(&largest).unwrap().bytes(), largest);
    assert!(pool.allocate_from(&vec![9; room + 1]).is_none());
    assert!(pool.allocate_from(&vec![9; 70_000]).is_none());
    assert_eq!(pool.free_count(), 2);
}

#[test]
fn a_frame_grows_into_the_headroom_and_no_further() {
    let pool = pool("grow", 1);
    let headroom = usize::from(Pool::HEADROOM);
    let mut packet = pool.allocate_from(&[1, 2, 3]).unwrap();
    assert!(packet.push_front(headroom + 1).is_none());
    assert!(packet.push_front(usize::MAX).is_none());
    assert_eq!(packet.bytes(), [1, 2, 3], "it is as it was");

    let whole = packet.push_front(headroom).unwrap();
    assert_eq!(whole.len(), headroom + 3);
    whole[..headroom].fill(8);
    assert!(packet.push_front(1).is_none());
    assert_eq!(&packet.bytes()[headroom - 1..], [8, 1, 2, 3]);
}

#[test]
fn a_frame_shrinks_to_nothing_and_no_further() {
    let pool = pool("shrink", 1);
    let mut packet = pool.allocate_from(&[1, 2, 3]).unwrap();
    assert!(packet.pull_front(4).is_none());
    assert!(packet.pull_front(usize::MAX).is_none());
    assert_eq!(packet.pull_front(2).unwrap(), [3]);
    assert_eq!(packet.pull_front(1).unwrap(), []);
    assert!(packet.pull_front(1).is_none());
    packet.push_front(3).unwrap();
    assert_eq!(packet.bytes(), [1, 2, 3]);
}

#[test]
fn a_frame_grows_at_its_end_to_the_end_of_its_buffer_and_shrinks_again() {
    let pool = pool("tail", 1);
    let mut packet = pool.allocate_from(&[1, 2, 3]).unwrap();
    let room = usize::from(Pool::ROOM) - 3;
    assert!(packet.push_back(room + 1).is_none());
    assert!(packet.push_back(usize::MAX).is_none());
    assert_eq!(packet.bytes(), [1, 2, 3], "it is as it was");
    packet.push_back(room).unwrap()[3..].fill(8);
    assert!(packet.push_back(1).is_none());
    assert_eq!(packet.bytes()[..4], [1, 2, 3, 8]);

    assert!(packet.pull_back(room + 4).is_none());
    assert_eq!(packet.pull_back(room + 1).unwrap(), [1, 2]);
    assert_eq!(packet.pull_back(2).unwrap(), []);
}

#[test]
fn a_fresh_packet_is_of_the_same_pool_and_of_any_length_that_fits() {
    let pool = pool("fresh", 2);
    let packet = pool.allocate_from(&[7; 60]).unwrap();
    let room = usize::from(Pool::ROOM);
    for length in [0, 60, room] {
        let mut fresh = packet.fresh(length).unwrap();
        fresh.bytes_mut().fill(9);
        assert_eq!(fresh.bytes(), vec![9; length]);
        assert_eq!(pool.free_count(), 0);
        assert!(packet.fresh(length).is_none(), "there is no other buffer");
    }
    assert!(packet.fresh(room + 1).is_none());
    assert!(packet.fresh(70_000).is_none());
    assert_eq!((packet.bytes(), pool.free_count()), (&[7; 60][..], 1));
}

#[test]
fn a_duplicate_has_the_same_bytes_and_a_life_of_its_own() {
    let pool = pool("twice", 2);
    for (grow, length) in [(0, 60), (0, 2048), (128, 2048), (5, 1)] {
        let frame: Vec<u8> = (0..=250).cycle().take(length).collect();
        let mut packet = pool.allocate_from(&frame).unwrap();
        packet.push_front(grow).unwrap()[..grow].fill(5);
        let mut copy = packet.duplicate().unwrap();
        assert_eq!(copy.bytes(), packet.bytes(), "{grow} + {length}");

        copy.bytes_mut()[0] ^= 0xff;
        assert_ne!(copy.bytes(), packet.bytes());
        drop(packet);
        assert_eq!(copy.bytes()[1..grow + length], [&vec![5; grow], &frame[..]].concat()[1..]);
    }
    assert_eq!(pool.free_count(), 2);
}

#[test]
fn the_memory_of_a_pool_is_used_again_once_all_its_packets_are_back() {
    let packet = pool("first", 14_000).allocate_from(&[3; 60]).unwrap();
    // Two of them would not fit the 64 MB.
    let full = Pool::new(environment::start(), "second", 14_000, 0, None).unwrap_err();
    assert!(matches!(full, Error::Pool { buffers: 14_000, megabytes: 33, .. }), "{full}");
    let message = full.to_string();
    assert!(message.contains("14000 buffers (33 MB) on any NUMA node: Cannot"), "{message}");
    assert_eq!(packet.bytes(), [3; 60], "a packet outlives the last handle");
    drop(packet);
    for _ in 0..10 {
        assert_eq!(pool("third", 14_000).free_count(), 14_000);
    }
}

#[test]
fn a_cache_that_dpdk_would_refuse_is_refused_with_the_limit() {
    let eal = environment::start();
    let refused = |cache, buffers| Pool::new(eal, "cached", buffers, cache, None).unwrap_err();
    assert_eq!(refused(513, 2047), Error::Cache { cache: 513, buffers: 2047, limit: 512 });
    assert_eq!(refused(67, 100), Error::Cache { cache: 67, buffers: 100, limit: 66 });
    assert_eq!(Pool::new(eal, "cached", 100, 66, None).unwrap().free_count(), 100);
}
