use core::mem::{align_of, offset_of, size_of};

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// What the host's parser found in a packet: what a classifier decides by. What is not there is
/// zero.
///
/// Addresses are in network order; other numbers are little-endian, as WebAssembly's are.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct Key {
    /// What stages and classifiers before said of the packet.
    pub metadata: u64,
    /// The source address: of IPv6, or of IPv4 or ARP's sender in the first 4 bytes.
    pub ip_src: [u8; 16],
    /// The destination address: of IPv6, or of IPv4 or ARP's target in the first 4 bytes.
    pub ip_dst: [u8; 16],
    /// The id of the port that it came by.
    pub in_port: u32,
    /// The outermost MPLS entry: label, traffic class and bottom of stack where they stand in the
    /// packet, and 1 in the lowest bit of the TTL's place for an entry that is there.
    pub mpls: u32,
    /// The Ethernet destination.
    pub eth_dst: [u8; 6],
    /// The Ethernet source.
    pub eth_src: [u8; 6],
    /// The EtherType behind the VLAN tags.
    pub ethertype: u16,
    /// The VLAN tags, outermost first: priority, 1 for a tag that is there, and the id.
    pub vlan: [u16; 2],
    /// The source port, or the ICMP type.
    pub l4_src: u16,
    /// The destination port, or the ICMP code.
    pub l4_dst: u16,
    /// TCP's flags.
    pub tcp_flags: u16,
    /// The version of IP, 4 or 6; 0 if this is not IP.
    pub ip_version: u8,
    /// The IP protocol behind the extension headers, or ARP's operation.
    pub protocol: u8,
    /// DSCP and ECN: IPv4's type of service, IPv6's traffic class.
    pub traffic_class: u8,
    /// TTL or hop limit.
    pub ttl: u8,
    /// See [`traits`](crate::traits).
    pub traits: u8,
    /// Zero.
    pub reserved: [u8; 3],
}

const _: () = {
    assert!(size_of::<Key>() == 80 && align_of::<Key>() == 8);
    assert!(offset_of!(Key, ip_src) == 8);
    assert!(offset_of!(Key, in_port) == 40);
    assert!(offset_of!(Key, eth_dst) == 48);
    assert!(offset_of!(Key, ethertype) == 60);
    assert!(offset_of!(Key, vlan) == 62);
    assert!(offset_of!(Key, tcp_flags) == 70);
    assert!(offset_of!(Key, ip_version) == 72);
    assert!(offset_of!(Key, traits) == 76);
};
