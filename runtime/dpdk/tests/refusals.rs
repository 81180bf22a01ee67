//! What cannot be had is refused in words that say why.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod environment;

use dpdk::{Direction, Error, Pool, Port, PortConfig};

fn refused(devargs: &str) -> String {
    let error = Port::attach(environment::start(), devargs).unwrap_err();
    assert!(matches!(error, Error::Probe { .. }), "{error:?}");
    error.to_string()
}

#[test]
fn a_device_that_cannot_be_attached_is_named_with_the_cause_and_what_to_check() {
    for (devargs, cause, check) in [
        ("net_nosuch0", "no driver takes this name", "check the driver's name"),
        ("eth0", "no driver takes this name", "check the driver's name"),
        ("", "No such device", "check the driver's name"),
        ("net_af_packet0", "its driver refuses it", "iface= names an interface"),
        ("net_pcap0,rx_pcap=/weft/none.pcap", "No such file or directory", "file of rx_pcap="),
        ("net_pcap0,rx_pcap=/etc/passwd", "unknown file format", "is a capture"),
        ("net_null0,bogus=1", "its driver refuses it", "check the arguments"),
        ("0000:ff:1f.7", "No such device", "vfio-pci"),
    ] {
        let message = refused(devargs);
        assert!(message.starts_with(&format!("cannot attach device {devargs:?}: ")), "{message}");
        assert!(message.contains(cause), "{message}");
        assert!(message.contains(check), "{message}");
    }
}

#[test]
fn a_device_is_attached_with_right_arguments_after_wrong_ones() {
    refused("net_null1,bogus=1");
    Port::attach(environment::start(), "net_null1,size=64").unwrap();
}

#[test]
fn a_device_is_attached_once_at_a_time() {
    let eal = environment::start();
    let port = Port::attach(eal, "net_null2").unwrap();
    for devargs in ["net_null2", "net_null2,size=64", "vdev:net_null2"] {
        let device = "net_null2".to_owned();
        assert_eq!(Port::attach(eal, devargs).unwrap_err(), Error::AlreadyAttached { device });
    }
    port.detach().unwrap();
    Port::attach(eal, "net_null2").unwrap();
}

#[test]
fn arguments_with_a_nul_byte_are_refused() {
    let error = Port::attach(environment::start(), "net_null3\0,size=1").unwrap_err();
    assert_eq!(error, Error::Nul("net_null3\0,size=1".to_owned()));
}

#[test]
fn what_is_no_network_device_is_refused() {
    let error = Port::attach(environment::start(), "crypto_null0").unwrap_err();
    assert_eq!(error, Error::NotNetwork { device: "crypto_null0".to_owned() });
}

#[test]
fn more_queues_than_there_are_or_none_are_refused() {
    let eal = environment::start();
    let pool = Pool::new(eal, "queues", 127, 0, None).unwrap();
    let mut port = Port::attach(eal, "net_ring4").unwrap();
    let device = "net_ring4".to_owned();
    let mut config = PortConfig::new(&pool);

    config.tx_queues = 17;
    let error = port.start(&config).unwrap_err();
    let direction = Direction::Transmit;
    assert_eq!(
        error,
        Error::TooFewQueues { device: device.clone(), direction, asked: 17, available: 16 }
    );
    assert_eq!(error.to_string(), "device net_ring4 has 16 transmit queues, 17 were asked for");

    config.tx_queues = 0;
    assert_eq!(port.start(&config).unwrap_err(), Error::NoQueues { device });
}

#[test]
fn an_mtu_is_refused_that_the_driver_cannot_set_or_a_buffer_not_hold() {
    let eal = environment::start();
    let pool = Pool::new(eal, "mtu", 127, 0, None).unwrap();
    let mut port = Port::attach(eal, "net_ring5").unwrap();
    let (device, driver) = ("net_ring5".to_owned(), "net_ring".to_owned());
    let mut config = PortConfig::new(&pool);

    config.mtu = Some(1400);
    assert_eq!(
        port.start(&config).unwrap_err(),
        Error::MtuUnsupported { device: device.clone(), driver, mtu: 1500 }
    );
    config.mtu = Some(9000);
    assert!(matches!(
        port.start(&config).unwrap_err(),
        Error::MtuOutOfRange { mtu: 9000, most: 2026, .. }
    ));
    config.mtu = Some(1500);
    port.start(&config).unwrap();
}
