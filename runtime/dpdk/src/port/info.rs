use std::ffi::CStr;

/// What a port is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortInfo {
    /// The name of its driver.
    pub driver: String,
    /// Its Ethernet address.
    pub mac: [u8; 6],
    /// Where it is plugged in, if DPDK knows.
    pub numa_node: Option<u32>,
    /// The longest packet that it sends, without the Ethernet header.
    pub mtu: u16,
    /// How many receive queues it can have.
    pub max_rx_queues: u16,
    /// How many transmit queues it can have.
    pub max_tx_queues: u16,
    /// The length of its receive queues, as the device took it; 0 before it is started.
    pub rx_descriptors: u16,
    /// The length of its transmit queues, likewise.
    pub tx_descriptors: u16,
}

/// Whether and how fast a port is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// Whether it is connected.
    pub up: bool,
    /// Its speed, if it has one.
    pub speed_mbps: Option<u32>,
}

/// What the device itself has counted since it was attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PortStats {
    /// Packets received by the queues.
    pub rx_packets: u64,
    /// Their bytes.
    pub rx_bytes: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Their bytes.
    pub tx_bytes: u64,
    /// Packets lost since the receive queues were full.
    pub rx_missed: u64,
    /// Packets that arrived damaged.
    pub rx_errors: u64,
    /// Times that the pool had no buffer.
    pub rx_nombuf: u64,
    /// Packets that could not be sent.
    pub tx_errors: u64,
}

impl PortInfo {
    pub(super) fn new(info: &dpdk_sys::dp_port_info, rx: u16, tx: u16) -> Self {
        Self {
            driver: driver(info),
            mac: info.mac,
            numa_node: u32::try_from(info.numa_node).ok(),
            mtu: info.mtu,
            max_rx_queues: info.max_rx_queues,
            max_tx_queues: info.max_tx_queues,
            rx_descriptors: rx,
            tx_descriptors: tx,
        }
    }
}

pub(super) fn driver(info: &dpdk_sys::dp_port_info) -> String {
    // SAFETY: the shim ends the name with a NUL.
    unsafe { CStr::from_ptr(info.driver.as_ptr()) }.to_string_lossy().into_owned()
}
