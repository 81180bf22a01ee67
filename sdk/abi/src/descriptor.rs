use core::mem::{align_of, offset_of, size_of};

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::{NO_OFFSET, verdict};

/// One packet of a batch: what the host knows of it, and what the module decided.
///
/// The host writes every field before the call; the module writes `verdict`, `argument` and
/// `flags`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Descriptor {
    /// What the module may keep for the packet on its way through the program.
    pub metadata: u64,
    /// Where the window lies in the module's memory.
    pub data: u32,
    /// The bytes that are in the window: the packet's first.
    pub data_length: u32,
    /// The bytes of the whole frame, without its check sequence.
    pub packet_length: u32,
    /// The id of the port that the packet came by.
    pub in_port: u32,
    /// A hash of the addresses, protocol and ports: equal for the packets of a flow.
    pub flow_hash: u32,
    /// Where the network header begins, or [`NO_OFFSET`].
    pub l3: u16,
    /// Where the transport header begins, or [`NO_OFFSET`].
    pub l4: u16,
    /// The EtherType behind the VLAN tags.
    pub ethertype: u16,
    /// The IP protocol behind the extension headers; 0 if this is not IP.
    pub protocol: u8,
    /// See [`traits`](crate::traits).
    pub traits: u8,
    /// See [`verdict`].
    pub verdict: u32,
    /// What the verdict is about: a drop reason, a port or a table.
    pub argument: u32,
    /// See [`flags`](crate::flags).
    pub flags: u32,
}

const _: () = {
    assert!(size_of::<Descriptor>() == 48 && align_of::<Descriptor>() == 8);
    assert!(offset_of!(Descriptor, data) == 8);
    assert!(offset_of!(Descriptor, in_port) == 20);
    assert!(offset_of!(Descriptor, l3) == 28);
    assert!(offset_of!(Descriptor, ethertype) == 32);
    assert!(offset_of!(Descriptor, traits) == 35);
    assert!(offset_of!(Descriptor, verdict) == 36);
    assert!(offset_of!(Descriptor, flags) == 44);
};

impl Default for Descriptor {
    /// A packet without headers that nobody has decided.
    fn default() -> Self {
        Self {
            metadata: 0,
            data: 0,
            data_length: 0,
            packet_length: 0,
            in_port: 0,
            flow_hash: 0,
            l3: NO_OFFSET,
            l4: NO_OFFSET,
            ethertype: 0,
            protocol: 0,
            traits: 0,
            verdict: verdict::UNDECIDED,
            argument: 0,
            flags: 0,
        }
    }
}

/// The shape of a batch area: the descriptors, then the windows, each on its own cache line.
///
/// ```
/// let area = weft_abi::BatchArea { packets: 32, window: 100 };
/// assert_eq!(area.stride(), 128);
/// assert_eq!(area.window_at(1), 32 * 48 + 128);
/// assert_eq!(area.size(), 32 * 48 + 32 * 128);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchArea {
    /// The most packets in a batch.
    pub packets: u32,
    /// The bytes of a packet that the module sees.
    pub window: u32,
}

impl BatchArea {
    /// What the address of an area is a multiple of.
    pub const ALIGNMENT: usize = 64;

    /// The distance of two windows, in bytes.
    #[must_use]
    pub const fn stride(self) -> usize {
        (self.window as usize).next_multiple_of(Self::ALIGNMENT)
    }

    /// The bytes of all descriptors.
    #[must_use]
    pub const fn descriptors(self) -> usize {
        (self.packets as usize * size_of::<Descriptor>()).next_multiple_of(Self::ALIGNMENT)
    }

    /// Where the window of packet `index` begins, from the start of the area.
    #[must_use]
    pub const fn window_at(self, index: usize) -> usize {
        self.descriptors() + index * self.stride()
    }

    /// The bytes of the whole area.
    #[must_use]
    pub const fn size(self) -> usize {
        self.window_at(self.packets as usize)
    }
}
