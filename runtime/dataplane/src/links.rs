use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::PortId;

/// Whether each port can carry packets. Control writes it; whoever wants to know reads it.
#[derive(Debug)]
pub struct Links {
    words: Box<[AtomicU64]>,
}

const PORTS: usize = 1 << u16::BITS;

impl Default for Links {
    /// All are down.
    fn default() -> Self {
        let words = PORTS / u64::BITS as usize;
        Self { words: (0..words).map(|_| AtomicU64::new(0)).collect() }
    }
}

impl Links {
    /// Writes down how a port is.
    pub fn set(&self, port: PortId, is_up: bool) {
        let (word, bit) = self.place(port);
        if is_up {
            word.fetch_or(bit, Relaxed);
        } else {
            word.fetch_and(!bit, Relaxed);
        }
    }

    /// Whether a port is up.
    #[inline]
    #[must_use]
    pub fn is_up(&self, port: PortId) -> bool {
        let (word, bit) = self.place(port);
        word.load(Relaxed) & bit != 0
    }

    fn place(&self, PortId(port): PortId) -> (&AtomicU64, u64) {
        (&self.words[usize::from(port) / 64], 1 << (port % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_as_was_last_said_and_its_neighbours_are_not_touched() {
        let links = Links::default();
        let up = |links: &Links| (0..=u16::MAX).filter(|&id| links.is_up(PortId(id))).count();
        for id in [0, 63, 64, u16::MAX] {
            links.set(PortId(id), true);
            assert!(links.is_up(PortId(id)));
        }
        assert_eq!(up(&links), 4);
        links.set(PortId(63), false);
        assert_eq!((links.is_up(PortId(63)), up(&links)), (false, 3));
    }
}
