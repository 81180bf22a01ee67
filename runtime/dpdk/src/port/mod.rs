//! Ports: devices that are attached, started and detached while the process runs.

mod config;
mod device;
mod hint;
mod info;
mod name;
mod start;

use std::{cell::Cell, marker::PhantomData, sync::Arc};

pub use config::{PortConfig, Queues};
pub(crate) use device::Device;
pub use info::{Link, PortInfo, PortStats};

use crate::{Eal, Error, Result};

/// An attached device.
///
/// One thread at a time controls it; any others poll its queues meanwhile. If it is dropped, the
/// device is detached with the last of its queues.
#[derive(Debug)]
pub struct Port {
    device: Arc<Device>,
    rx_descriptors: u16,
    tx_descriptors: u16,
    not_sync: PhantomData<Cell<()>>,
}

impl Port {
    /// Attaches the device that `devargs` describe, such as `net_af_packet0,iface=veth-a`. The
    /// part before the first comma is its name.
    ///
    /// # Errors
    ///
    /// If there is a port of this name, or no such device, or its driver refuses it.
    pub fn attach(eal: &Eal, devargs: &str) -> Result<Self> {
        Ok(Self {
            device: Arc::new(Device::attach(eal, devargs)?),
            rx_descriptors: 0,
            tx_descriptors: 0,
            not_sync: PhantomData,
        })
    }

    /// The name of the device.
    #[must_use]
    pub fn name(&self) -> &str {
        self.device.name()
    }

    /// How many of its queues have not been dropped.
    #[must_use]
    pub fn queues_in_use(&self) -> usize {
        Arc::strong_count(&self.device) - 1
    }

    /// What it is.
    ///
    /// # Errors
    ///
    /// If the device does not tell, as when it was unplugged.
    pub fn info(&self) -> Result<PortInfo> {
        let info = self.device.describe()?;
        Ok(PortInfo::new(&info, self.rx_descriptors, self.tx_descriptors))
    }

    /// Whether it is connected.
    ///
    /// # Errors
    ///
    /// If the device does not tell.
    pub fn link(&self) -> Result<Link> {
        let mut link = dpdk_sys::dp_port_link { up: 0, speed_mbps: 0 };
        // SAFETY: the port is the device's own, and `link` is written by the call only.
        let read = |port| unsafe { dpdk_sys::dp_port_link(port, &raw mut link) };
        self.device.call("read its link", read)?;
        Ok(Link { up: link.up != 0, speed_mbps: (link.speed_mbps > 0).then_some(link.speed_mbps) })
    }

    /// What the device has counted.
    ///
    /// # Errors
    ///
    /// If the device does not count.
    pub fn stats(&self) -> Result<PortStats> {
        // SAFETY: all of its fields may be zero.
        let mut stats: dpdk_sys::dp_port_stats = unsafe { std::mem::zeroed() };
        // SAFETY: the port is the device's own, and `stats` is written by the call only.
        let read = |port| unsafe { dpdk_sys::dp_port_stats(port, &raw mut stats) };
        self.device.call("read its counters", read)?;
        Ok(PortStats {
            rx_packets: stats.rx_packets,
            rx_bytes: stats.rx_bytes,
            tx_packets: stats.tx_packets,
            tx_bytes: stats.tx_bytes,
            rx_missed: stats.rx_missed,
            rx_errors: stats.rx_errors,
            rx_nombuf: stats.rx_nombuf,
            tx_errors: stats.tx_errors,
        })
    }

    /// Stops, closes and removes the device.
    ///
    /// # Errors
    ///
    /// If queues of it are in use, in which case it is detached with the last of them; or if the
    /// device refuses.
    pub fn detach(self) -> Result<()> {
        let device = self.device.name().to_owned();
        let queues = self.queues_in_use();
        let mut device =
            Arc::try_unwrap(self.device).map_err(|_| Error::QueuesInUse { device, queues })?;
        device.remove()
    }
}
