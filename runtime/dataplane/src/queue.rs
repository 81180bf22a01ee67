//! What the engine asks of a device's queues.

/// What one poll found, besides the packets that it appended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Received {
    /// Packets that the device gave but that did not fit one buffer. They were freed.
    pub oversize_packets: u64,
    /// The bytes of those packets.
    pub oversize_bytes: u64,
}

/// A receive queue, polled by the one thread that has it.
pub trait Receive<P>: Send {
    /// Appends what has arrived to `burst`, up to its spare capacity. Never allocates.
    fn receive(&mut self, burst: &mut Vec<P>) -> Received;
}

/// A transmit queue, fed by the one thread that has it.
pub trait Transmit<P>: Send {
    /// Sends from the front of `packets` and leaves what the device had no room for.
    /// Returns how many were taken.
    fn transmit(&mut self, packets: &mut Vec<P>) -> usize;
}
