use std::sync::Arc;

use dataplane::{Receive, Received, Transmit};

use crate::{Mbuf, Pool, mbuf::forget_front, port::Device};

/// A receive queue of a started port.
///
/// Invariant: the device is started while the queue lives, and no other value has its index.
#[derive(Debug)]
pub struct RxQueue {
    place: Place,
    /// The device fills its buffers.
    _pool: Pool,
}

/// A transmit queue of a started port.
///
/// Invariant: the device is started while the queue lives, and no other value has its index.
#[derive(Debug)]
pub struct TxQueue {
    place: Place,
}

/// A queue of a device, by numbers.
#[derive(Debug)]
struct Place {
    port: u16,
    queue: u16,
    /// Keeps the device from being stopped.
    _device: Arc<Device>,
}

impl Place {
    fn new(device: &Arc<Device>, queue: u16) -> Self {
        Self { port: device.port(), queue, _device: Arc::clone(device) }
    }
}

impl RxQueue {
    /// The queue `index` of a device that was just started with it.
    pub(crate) fn new(device: &Arc<Device>, index: u16, pool: Pool) -> Self {
        Self { place: Place::new(device, index), _pool: pool }
    }
}

impl TxQueue {
    /// The queue `index` of a device that was just started with it.
    pub(crate) fn new(device: &Arc<Device>, index: u16) -> Self {
        Self { place: Place::new(device, index) }
    }
}

impl Receive<Mbuf> for RxQueue {
    #[inline]
    fn receive(&mut self, burst: &mut Vec<Mbuf>) -> Received {
        let old = burst.len();
        let spare = burst.spare_capacity_mut();
        let room = u16::try_from(spare.len()).unwrap_or(u16::MAX);
        // SAFETY: the device is started, and one thread polls the queue, since self is exclusive.
        // SAFETY: there is space for `room` pointers, and Mbuf is transparent over one.
        let arrived = usize::from(unsafe {
            dpdk_sys::dp_rx_burst(
                self.place.port,
                self.place.queue,
                spare.as_mut_ptr().cast(),
                room,
            )
        });
        // SAFETY: the device wrote `arrived` non-null buffers, which are ours now.
        unsafe { burst.set_len(old + arrived) };
        if burst[old..].iter().any(|mbuf| mbuf.segments() != 1) {
            return free_oversize(burst);
        }
        Received::default()
    }
}

/// Frees what did not fit one buffer, and counts it.
#[cold]
fn free_oversize(burst: &mut Vec<Mbuf>) -> Received {
    let mut received = Received::default();
    burst.retain(|mbuf| {
        let fits = mbuf.segments() == 1;
        if !fits {
            received.oversize_packets += 1;
            received.oversize_bytes += u64::from(mbuf.total_length());
        }
        fits
    });
    received
}

impl Transmit<Mbuf> for TxQueue {
    #[inline]
    fn transmit(&mut self, packets: &mut Vec<Mbuf>) -> usize {
        let offered = u16::try_from(packets.len()).unwrap_or(u16::MAX);
        // SAFETY: the device is started, and one thread feeds the queue, since self is exclusive.
        // SAFETY: there are `offered` buffers, and Mbuf is transparent over their pointers.
        let taken = usize::from(unsafe {
            dpdk_sys::dp_tx_burst(
                self.place.port,
                self.place.queue,
                packets.as_mut_ptr().cast(),
                offered,
            )
        });
        forget_front(packets, taken);
        taken
    }
}
