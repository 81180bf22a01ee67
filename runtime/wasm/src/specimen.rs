use dataplane::PortId;

/// The most bytes of a packet that are kept.
const KEPT: usize = 2048;

/// A packet that a module failed on, for whoever is to mend the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultPacket {
    /// Where it came from.
    pub in_port: PortId,
    /// How many bytes it has.
    pub length: usize,
    /// Its bytes as the module got them, up to 2048.
    pub bytes: Vec<u8>,
}

/// Where a worker copies a packet to that a module failed on: made before, and used again.
#[derive(Debug)]
pub(crate) struct Specimen {
    in_port: PortId,
    length: usize,
    bytes: Box<[u8]>,
}

impl Specimen {
    pub(crate) fn new() -> Self {
        Self { in_port: PortId(0), length: 0, bytes: vec![0; KEPT].into() }
    }

    /// Copies a packet. Fit for the packet path.
    pub(crate) fn take(&mut self, in_port: PortId, packet: &[u8]) {
        let kept = packet.len().min(KEPT);
        self.bytes[..kept].copy_from_slice(&packet[..kept]);
        (self.in_port, self.length) = (in_port, packet.len());
    }

    /// What was copied.
    pub(crate) fn packet(&self) -> FaultPacket {
        let bytes = self.bytes[..self.length.min(KEPT)].to_vec();
        FaultPacket { in_port: self.in_port, length: self.length, bytes }
    }
}
