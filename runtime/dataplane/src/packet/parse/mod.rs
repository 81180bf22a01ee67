//! Headers into a flow key. Every length is checked; what is cut or contradicts itself is not
//! there, and neither is anything behind it.

mod arp;
mod ethernet;
mod ipv4;
mod ipv6;
mod mpls;
mod plain;
mod transport;

pub(crate) use transport::protocol;

use super::Headers;
use crate::{PortId, flow::FlowKey};

/// A packet's headers: where they lie and what they say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Parsed {
    /// What they say.
    pub key: FlowKey,
    /// Where they lie.
    pub headers: Headers,
}

/// Reads a frame's headers; `None` if it is too short for an Ethernet header.
#[must_use]
pub fn parse(in_port: PortId, frame: &[u8]) -> Option<Parsed> {
    let mut parsed = Parsed::default();
    parsed.read(in_port, frame).then_some(parsed)
}

impl Parsed {
    /// Reads a frame's headers, where it stands: it is large to be moved. Returns whether the frame
    /// is long enough for an Ethernet header; the key of one that is not matches nothing.
    #[inline]
    pub(crate) fn read(&mut self, in_port: PortId, frame: &[u8]) -> bool {
        plain::read(in_port, frame, self).is_some() || self.read_any(in_port, frame)
    }

    #[inline(never)]
    fn read_any(&mut self, in_port: PortId, frame: &[u8]) -> bool {
        *self = Self::default();
        self.key.in_port = in_port.0;
        let is_frame = ethernet::read(frame, self).is_some();
        if !is_frame {
            self.key.table = FlowKey::NOWHERE;
        }
        is_frame
    }
}

/// The `N` bytes at `offset`, if they are there.
#[inline]
fn array<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

/// The number in the two bytes at `offset`, if they are there.
#[inline]
fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    array(bytes, offset).map(u16::from_be_bytes)
}

/// An offset inside a frame as headers keep it; `None` past 65,534 bytes.
#[inline]
fn offset(place: usize) -> Option<u16> {
    u16::try_from(place).ok().filter(|&place| place != u16::MAX)
}
