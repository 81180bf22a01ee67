use std::ops::BitAnd;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Bits of [`FlowKey::layers`].
pub mod layers {
    /// There is a whole network header: IPv4, IPv6 or ARP.
    pub const NETWORK: u8 = 1;
    /// There is a whole transport header.
    pub const TRANSPORT: u8 = 1 << 1;
    /// It is a fragment of an IP packet.
    pub const FRAGMENT: u8 = 1 << 2;
    /// It is a fragment but not the first.
    pub const LATER_FRAGMENT: u8 = 1 << 3;
    /// The network header is IPv4's or IPv6's.
    pub const IP: u8 = 1 << 4;
}

/// The tag control information as a key holds it.
pub mod vlan {
    /// Says that the tag is there. It takes the place of the drop eligible indicator, as in Open
    /// vSwitch, so that "no tag" and "VLAN 0" differ.
    pub const PRESENT: u16 = 1 << 12;
    /// The VLAN id.
    pub const VID: u16 = 0x0fff;
    /// The priority code point.
    pub const PCP: u16 = 0xe000;
    /// Where the priority code point begins.
    pub const PCP_SHIFT: u16 = 13;
}

/// What a packet's headers say, in one cache line.
///
/// What is not in the packet is zero, and [`layers`](FlowKey::layers) tells absent from zero, so
/// that a cut header never matches a rule about it. Padding behind the network packet is no part.
#[derive(Debug, Clone, Copy, Default, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(8))]
pub struct FlowKey {
    /// The port that the packet came by.
    pub in_port: u16,
    /// The EtherType behind the VLAN tags; [`FlowKey::NO_ETHERTYPE`] for an IEEE 802.3 length.
    pub ethertype: u16,
    /// The outer and the inner tag, see [`vlan`].
    pub vlan: [u16; 2],
    /// Where the frame goes.
    pub eth_dst: [u8; 6],
    /// Where the frame comes from.
    pub eth_src: [u8; 6],
    /// The IP protocol behind the extension headers, or the ARP operation.
    pub protocol: u8,
    /// DSCP and ECN.
    pub traffic_class: u8,
    /// The TTL or hop limit.
    pub ttl: u8,
    /// See [`layers`].
    pub layers: u8,
    /// The source address; IPv4 and the ARP sender in the first four bytes.
    pub ip_src: [u8; 16],
    /// The destination address; IPv4 and the ARP target in the first four bytes.
    pub ip_dst: [u8; 16],
    /// The source port, or the ICMP type.
    pub l4_src: u16,
    /// The destination port, or the ICMP code.
    pub l4_dst: u16,
    /// The flags of TCP, from FIN to NS.
    pub tcp_flags: u16,
    /// The table that the lookup begins in.
    pub table: u16,
}

const _: () = assert!(size_of::<FlowKey>() == 64);

/// A key as the machine compares it.
pub(crate) type Words = [u64; 8];

impl FlowKey {
    /// Stands for the EtherType of a frame that has a length there (OpenFlow 1.0, 3.4).
    pub const NO_ETHERTYPE: u16 = 0x05ff;

    /// The key as words.
    #[inline]
    pub(crate) fn words(&self) -> &Words {
        zerocopy::transmute_ref!(self)
    }

    /// A key of which every bit is set: the mask of an exact match.
    #[must_use]
    pub fn exact() -> Self {
        zerocopy::transmute!([u64::MAX; 8])
    }

    /// The union of two masks.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let (a, b) = (self.words(), other.words());
        let words: Words = std::array::from_fn(|i| a[i] | b[i]);
        zerocopy::transmute!(words)
    }
}

impl PartialEq for FlowKey {
    /// As eight words, which takes a few instructions; field by field takes many.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (self.words(), other.words());
        a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
    }
}

impl BitAnd for &FlowKey {
    type Output = FlowKey;

    #[inline]
    fn bitand(self, mask: Self) -> FlowKey {
        let (a, b) = (self.words(), mask.words());
        let words: Words = std::array::from_fn(|i| a[i] & b[i]);
        zerocopy::transmute!(words)
    }
}
