//! Ports come and go while the process runs.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod environment;

use std::collections::BTreeSet;

use dataplane::{Receive, Transmit};
use dpdk::{Error, Pool, Port, PortConfig};

#[test]
fn a_port_is_attached_and_detached_again_and_again_and_nothing_is_lost() {
    let eal = environment::start();
    let pool = Pool::new(eal, "again", 2047, 0, None).unwrap();
    for round in 0..20 {
        let mut port = Port::attach(eal, "net_null1,size=100").unwrap();
        let mut queues = port.start(&PortConfig::new(&pool)).unwrap();
        let mut burst = Vec::with_capacity(64);
        queues.rx[0].receive(&mut burst);
        assert_eq!(queues.tx[0].transmit(&mut burst), 64);
        assert_eq!(port.stats().unwrap().tx_packets, 64, "round {round}");
        drop(queues);
        port.detach().unwrap();
        assert_eq!(pool.free_count(), 2047, "round {round}");
    }
}

#[test]
fn a_port_stays_until_the_last_of_its_queues_is_gone() {
    let eal = environment::start();
    let pool = Pool::new(eal, "stays", 255, 0, None).unwrap();
    let device = "net_null2".to_owned();
    let mut port = Port::attach(eal, &device).unwrap();
    let mut queues = port.start(&PortConfig::new(&pool)).unwrap();
    assert_eq!(port.queues_in_use(), 2);
    let refused = port.start(&PortConfig::new(&pool)).unwrap_err();
    assert_eq!(refused, Error::QueuesInUse { device: device.clone(), queues: 2 });

    drop(queues.rx);
    let refused = port.detach().unwrap_err();
    assert_eq!(refused, Error::QueuesInUse { device: device.clone(), queues: 1 });
    let taken = Port::attach(eal, &device).unwrap_err();
    assert_eq!(taken, Error::AlreadyAttached { device: device.clone() });

    let mut burst = vec![pool.allocate_from(&[1; 60]).unwrap()];
    assert_eq!(queues.tx[0].transmit(&mut burst), 1, "its queues still work");
    drop(queues.tx);
    Port::attach(eal, &device).unwrap().detach().unwrap();
}

#[test]
fn a_port_is_started_again_with_other_queues() {
    let eal = environment::start();
    let pool = Pool::new(eal, "other", 255, 0, None).unwrap();
    let mut port = Port::attach(eal, "net_null3").unwrap();
    let mut config = PortConfig::new(&pool);
    drop(port.start(&config).unwrap());
    (config.rx_queues, config.tx_queues, config.mtu) = (3, 2, Some(1400));
    (config.rx_descriptors, config.tx_descriptors) = (256, 512);
    let queues = port.start(&config).unwrap();
    assert_eq!((queues.rx.len(), queues.tx.len()), (3, 2));

    let info = port.info().unwrap();
    assert_eq!((info.driver.as_str(), info.mtu), ("net_null", 1400));
    assert_eq!((info.rx_descriptors, info.tx_descriptors), (256, 512));
    assert!(port.link().unwrap().up);
}

#[test]
fn several_ports_are_there_at_once() {
    let eal = environment::start();
    let ports: Vec<Port> =
        (10..14).map(|i| Port::attach(eal, &format!("net_null{i}")).unwrap()).collect();
    let macs: BTreeSet<[u8; 6]> = ports.iter().map(|port| port.info().unwrap().mac).collect();
    assert_eq!(macs.len(), 4);
    assert_eq!(ports[2].name(), "net_null12");
}
