use super::Packet;

/// A packet in ordinary memory, with some room in front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    bytes: Vec<u8>,
    start: usize,
}

impl Buffer {
    /// The room in front of a new packet, in bytes; as much as a DPDK buffer has.
    pub const HEADROOM: usize = 128;

    /// A packet of these bytes.
    #[must_use]
    pub fn new(frame: &[u8]) -> Self {
        let mut bytes = vec![0; Self::HEADROOM];
        bytes.extend_from_slice(frame);
        Self { bytes, start: Self::HEADROOM }
    }
}

impl Packet for Buffer {
    fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..]
    }

    fn push_front(&mut self, count: usize) -> Option<&mut [u8]> {
        self.start = self.start.checked_sub(count)?;
        Some(self.bytes_mut())
    }

    fn pull_front(&mut self, count: usize) -> Option<&mut [u8]> {
        self.start = self.start.checked_add(count).filter(|&start| start <= self.bytes.len())?;
        Some(self.bytes_mut())
    }

    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }
}
