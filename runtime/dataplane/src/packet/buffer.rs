use super::Packet;

/// A packet in ordinary memory, with some room at both ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    bytes: Vec<u8>,
    start: usize,
}

impl Buffer {
    /// The room in front of a new packet, in bytes; as much as a DPDK buffer has.
    pub const HEADROOM: usize = 128;

    /// The most bytes that a packet grows to at its end, or that a new one has; as many as a DPDK
    /// buffer has.
    pub const ROOM: usize = 2048;

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

    fn push_back(&mut self, count: usize) -> Option<&mut [u8]> {
        let length = self.bytes.len().checked_add(count)?;
        if length > Self::HEADROOM + Self::ROOM {
            return None;
        }
        self.bytes.resize(length, 0);
        Some(self.bytes_mut())
    }

    fn pull_back(&mut self, count: usize) -> Option<&mut [u8]> {
        let length = self.bytes.len().checked_sub(count).filter(|&end| end >= self.start)?;
        self.bytes.truncate(length);
        Some(self.bytes_mut())
    }

    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn fresh(&self, length: usize) -> Option<Self> {
        (length <= Self::ROOM).then(|| Self::new(&vec![0; length]))
    }
}
