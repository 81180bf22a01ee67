use crate::{Pool, RxQueue, TxQueue};

/// What a port is started with.
#[derive(Debug, Clone)]
pub struct PortConfig {
    /// How many queues to receive from. The device spreads flows over them.
    pub rx_queues: u16,
    /// How many queues to send by, one for each thread that sends.
    pub tx_queues: u16,
    /// The length of a receive queue. The device may round it: see
    /// [`PortInfo`](crate::PortInfo).
    pub rx_descriptors: u16,
    /// The length of a transmit queue, likewise.
    pub tx_descriptors: u16,
    /// The longest packet without its Ethernet header; `None` leaves it as it is.
    pub mtu: Option<u16>,
    /// What received packets are put in.
    pub pool: Pool,
}

impl PortConfig {
    /// One queue each way, of 1024 descriptors.
    #[must_use]
    pub fn new(pool: &Pool) -> Self {
        Self {
            rx_queues: 1,
            tx_queues: 1,
            rx_descriptors: 1024,
            tx_descriptors: 1024,
            mtu: None,
            pool: pool.clone(),
        }
    }
}

/// The queues of a started port, in the order of their numbers.
#[derive(Debug)]
pub struct Queues {
    /// To receive from.
    pub rx: Vec<RxQueue>,
    /// To send by.
    pub tx: Vec<TxQueue>,
}
