use std::sync::Arc;

use super::{Device, Port, PortConfig, Queues, info};
use crate::{Direction, Errno, Error, Pool, Result, RxQueue, TxQueue};

/// An Ethernet header with two VLAN tags, which count neither into the MTU.
const ETHERNET_AND_VLANS: u16 = 14 + 2 * 4;

impl Port {
    /// Starts the device, promiscuous and without offloads, and hands out its queues. A device
    /// that was started before is stopped first.
    ///
    /// # Errors
    ///
    /// If queues of an earlier start are in use, there are not as many as asked, the MTU cannot be
    /// set, or the device refuses.
    pub fn start(&mut self, config: &PortConfig) -> Result<Queues> {
        let (rx_descriptors, tx_descriptors) = self.set_up(config)?;
        self.rx_descriptors = rx_descriptors;
        self.tx_descriptors = tx_descriptors;
        let device = &self.device;
        Ok(Queues {
            rx: (0..config.rx_queues)
                .map(|index| RxQueue::new(device, index, config.pool.clone()))
                .collect(),
            tx: (0..config.tx_queues).map(|index| TxQueue::new(device, index)).collect(),
        })
    }

    /// Returns the lengths of the queues.
    fn set_up(&mut self, config: &PortConfig) -> Result<(u16, u16)> {
        let (name, queues) = (self.name().to_owned(), self.queues_in_use());
        let device =
            Arc::get_mut(&mut self.device).ok_or(Error::QueuesInUse { device: name, queues })?;
        device.stop()?;
        check_queues(device, config)?;
        configure(device, config)?;
        let lengths = set_up_queues(device, config)?;
        device.start()?;
        set_promiscuous(device)?;
        Ok(lengths)
    }
}

fn check_queues(device: &Device, config: &PortConfig) -> Result<()> {
    if config.rx_queues == 0 || config.tx_queues == 0 {
        return Err(Error::NoQueues { device: device.name().to_owned() });
    }
    let info = device.describe()?;
    for (direction, asked, available) in [
        (Direction::Receive, config.rx_queues, info.max_rx_queues),
        (Direction::Transmit, config.tx_queues, info.max_tx_queues),
    ] {
        if asked > available {
            let device = device.name().to_owned();
            return Err(Error::TooFewQueues { device, direction, asked, available });
        }
    }
    Ok(())
}

fn configure(device: &Device, config: &PortConfig) -> Result<()> {
    // SAFETY: the port is the device's own, and stopped.
    device.call("set the number of its queues", |port| unsafe {
        dpdk_sys::dp_port_configure(port, config.rx_queues, config.tx_queues)
    })?;
    config.mtu.map_or(Ok(()), |mtu| set_mtu(device, mtu))
}

/// Returns their lengths.
fn set_up_queues(device: &Device, config: &PortConfig) -> Result<(u16, u16)> {
    let (mut rx, mut tx) = (config.rx_descriptors, config.tx_descriptors);
    // SAFETY: the port is the device's own, and both numbers are written by the call only.
    device.call("set the length of its queues", |port| unsafe {
        dpdk_sys::rte_eth_dev_adjust_nb_rx_tx_desc(port, &raw mut rx, &raw mut tx)
    })?;
    for queue in 0..config.rx_queues {
        // SAFETY: the port is the device's own, has the queue, and is stopped.
        // SAFETY: the pool is never freed.
        device.call("set up a receive queue", |port| unsafe {
            dpdk_sys::dp_rx_queue_setup(port, queue, rx, config.pool.raw())
        })?;
    }
    for queue in 0..config.tx_queues {
        // SAFETY: the port is the device's own, has the queue, and is stopped.
        device.call("set up a transmit queue", |port| unsafe {
            dpdk_sys::dp_tx_queue_setup(port, queue, tx)
        })?;
    }
    Ok((rx, tx))
}

fn set_mtu(device: &Device, mtu: u16) -> Result<()> {
    let info = device.describe()?;
    let most = info.max_mtu.min(Pool::ROOM - ETHERNET_AND_VLANS);
    if mtu < info.min_mtu || mtu > most {
        let (device, least) = (device.name().to_owned(), info.min_mtu);
        return Err(Error::MtuOutOfRange { device, mtu, least, most });
    }
    // SAFETY: the port is the device's own.
    let set =
        device.call("set its MTU", |port| unsafe { dpdk_sys::rte_eth_dev_set_mtu(port, mtu) });
    match set {
        Err(Error::Device { errno: Errno::NOT_SUPPORTED, .. }) if mtu == info.mtu => Ok(()),
        Err(Error::Device { errno: Errno::NOT_SUPPORTED, device, .. }) => {
            Err(Error::MtuUnsupported { device, driver: info::driver(&info), mtu: info.mtu })
        }
        other => other,
    }
}

/// What cannot be promiscuous gets all frames anyway, as a file does.
fn set_promiscuous(device: &Device) -> Result<()> {
    // SAFETY: the port is the device's own.
    let set = device
        .call("make it promiscuous", |port| unsafe { dpdk_sys::rte_eth_promiscuous_enable(port) });
    match set {
        Err(Error::Device { errno: Errno::NOT_SUPPORTED, .. }) => Ok(()),
        other => other,
    }
}
