use std::{
    hash::{Hash, Hasher},
    ops::{BitAnd, BitOrAssign, Not},
};

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

/// The outermost entry of an MPLS label stack as a key holds it.
pub mod mpls {
    /// Says that the entry is there. It takes the place of the TTL's lowest bit.
    pub const PRESENT: u32 = 1;
    /// The label.
    pub const LABEL: u32 = 0xffff_f000;
    /// Where the label begins.
    pub const LABEL_SHIFT: u32 = 12;
    /// The traffic class (RFC 5462).
    pub const TRAFFIC_CLASS: u32 = 0x0000_0e00;
    /// Where the traffic class begins.
    pub const TRAFFIC_CLASS_SHIFT: u32 = 9;
    /// Whether it is the last entry.
    pub const BOTTOM: u32 = 0x0000_0100;
}

/// What a packet's headers say: 56 bytes, and 32 more that only IPv6 and ARP use.
///
/// What is not in the packet is zero, and [`layers`](FlowKey::layers) tells absent from zero, so
/// that a cut header never matches a rule about it. Padding behind the network packet is no part.
/// The order is that of the bytes of a frame as far as can be, so that plain frames are read a word
/// at a time.
#[derive(Debug, Clone, Copy, Default, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(8))]
pub struct FlowKey {
    /// Where the frame goes.
    pub eth_dst: [u8; 6],
    /// Where the frame comes from.
    pub eth_src: [u8; 6],
    /// The EtherType behind the VLAN tags; [`FlowKey::NO_ETHERTYPE`] for an IEEE 802.3 length.
    pub ethertype: u16,
    /// See [`layers`].
    pub layers: u8,
    /// DSCP and ECN.
    pub traffic_class: u8,
    /// The source port, or the ICMP type.
    pub l4_src: u16,
    /// The destination port, or the ICMP code.
    pub l4_dst: u16,
    /// The port that the packet came by.
    pub in_port: u16,
    /// The TTL or hop limit.
    pub ttl: u8,
    /// The IP protocol behind the extension headers, or the ARP operation.
    pub protocol: u8,
    /// The source address of IPv4, or the sender's of ARP.
    pub ipv4_src: [u8; 4],
    /// The destination address of IPv4, or the target's of ARP.
    pub ipv4_dst: [u8; 4],
    /// The outer and the inner tag, see [`vlan`].
    pub vlan: [u16; 2],
    /// The flags of TCP, from FIN to NS.
    pub tcp_flags: u16,
    /// The table that the lookup begins in.
    pub table: u16,
    /// What stages and rules have written beside the packet.
    pub metadata: u64,
    /// The outermost entry of the MPLS label stack, see [`mpls`].
    pub mpls: u32,
    /// The flow label of IPv6, in 20 bits.
    pub ipv6_label: u32,
    /// The source address of IPv6. Of ARP, the sender's MAC address in the first six bytes.
    pub ipv6_src: [u8; 16],
    /// The destination address of IPv6. Of ARP, the target's MAC address in the first six bytes.
    pub ipv6_dst: [u8; 16],
}

const _: () = assert!(size_of::<FlowKey>() == 8 * WORDS);

/// How many words a key has.
pub(crate) const WORDS: usize = 11;
/// How many of them, from the first on, say all of a packet that is neither IPv6 nor ARP.
pub(crate) const SHORT: usize = 7;

/// A key as the machine compares it.
pub(crate) type Words = [u64; WORDS];

impl FlowKey {
    /// Stands for the EtherType of a frame that has a length there (OpenFlow 1.0, 3.4).
    pub const NO_ETHERTYPE: u16 = 0x05ff;

    /// The key as words.
    #[inline]
    pub(crate) fn words(&self) -> &Words {
        zerocopy::transmute_ref!(self)
    }

    /// Stands for the table of what is no frame, and is looked up in none.
    pub(crate) const NOWHERE: u16 = u16::MAX;
    /// Stands for the table of a flow that was forgotten. No packet has it.
    pub(crate) const FORGOTTEN: u16 = u16::MAX - 1;
    /// A key without a bit: the mask that every key agrees under.
    pub const NONE: Self = zerocopy::transmute!([0_u64; WORDS]);
    /// A key of which every bit is set: the mask of an exact match.
    pub const EXACT: Self = zerocopy::transmute!([u64::MAX; WORDS]);

    /// The union of two masks.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut union = *self;
        union |= other;
        union
    }

    /// Whether a mask has all bits of another.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.words().iter().zip(other.words()).all(|(mine, theirs)| theirs & !mine == 0)
    }
}

impl PartialEq for FlowKey {
    /// As words, which takes a few instructions; field by field takes many.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (self.words(), other.words());
        a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
    }
}

impl Hash for FlowKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.words().hash(state);
    }
}

impl BitOrAssign<&FlowKey> for FlowKey {
    #[inline]
    fn bitor_assign(&mut self, other: &FlowKey) {
        let words: &mut Words = zerocopy::transmute_mut!(self);
        words.iter_mut().zip(other.words()).for_each(|(mine, theirs)| *mine |= theirs);
    }
}

impl Not for &FlowKey {
    type Output = FlowKey;

    fn not(self) -> FlowKey {
        zerocopy::transmute!(self.words().map(|word| !word))
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
