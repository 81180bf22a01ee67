use weft_abi::{Descriptor, flags, traits};

use crate::{
    PortId,
    header::{Ethernet, Icmp, Ipv4, Ipv6, Tcp, Udp, ethertype, protocol},
};

/// One packet: the first bytes of its frame, and what the host knows of it.
///
/// The headers are where the host's parser found them: past VLAN tags, IPv4 options and IPv6
/// extension headers. A header that the parser did not accept, or that does not lie in the window
/// as a whole, is `None`. Taking a header to be changed, or [`bytes_mut`](Self::bytes_mut), marks
/// the packet as changed.
#[derive(Debug)]
pub struct Packet<'a> {
    descriptor: &'a mut Descriptor,
    window: &'a mut [u8],
}

impl<'a> Packet<'a> {
    #[inline]
    pub(crate) fn new(descriptor: &'a mut Descriptor, window: &'a mut [u8]) -> Self {
        Self { descriptor, window }
    }

    /// The window: as many of the frame's first bytes as the stage asked for.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.window
    }

    /// The window, to be changed.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.descriptor.flags |= flags::DIRTY;
        self.window
    }

    /// The bytes of the whole frame, without its check sequence.
    #[inline]
    #[must_use]
    pub fn packet_length(&self) -> u32 {
        self.descriptor.packet_length
    }

    /// The port that it came by.
    #[inline]
    #[must_use]
    pub fn in_port(&self) -> PortId {
        // The host's ids have 16 bits.
        PortId((self.descriptor.in_port & 0xffff) as u16)
    }

    /// A hash of the addresses, protocol and ports: equal for the packets of a flow.
    #[inline]
    #[must_use]
    pub fn flow_hash(&self) -> u32 {
        self.descriptor.flow_hash
    }

    /// What an earlier stage left for this one.
    #[inline]
    #[must_use]
    pub fn metadata(&self) -> u64 {
        self.descriptor.metadata
    }

    /// Leaves something for the stages and rules that see the packet next.
    #[inline]
    pub fn set_metadata(&mut self, metadata: u64) {
        self.descriptor.metadata = metadata;
    }

    /// The EtherType behind the VLAN tags; see [`ethertype`].
    #[inline]
    #[must_use]
    pub fn ethertype(&self) -> u16 {
        self.descriptor.ethertype
    }

    /// The IP protocol behind the extension headers, 0 if this is not IP; see [`protocol`].
    #[inline]
    #[must_use]
    pub fn protocol(&self) -> u8 {
        self.descriptor.protocol
    }

    /// Whether it is a fragment of an IP packet, first or later.
    #[inline]
    #[must_use]
    pub fn is_fragment(&self) -> bool {
        self.descriptor.traits & traits::FRAGMENT != 0
    }

    /// Whether it is a fragment that is not the first, and so has no transport header.
    #[inline]
    #[must_use]
    pub fn is_later_fragment(&self) -> bool {
        self.descriptor.traits & traits::LATER_FRAGMENT != 0
    }

    /// The first 14 bytes.
    #[inline]
    #[must_use]
    pub fn ethernet(&self) -> Option<Ethernet<&[u8; 14]>> {
        self.window.first_chunk().map(Ethernet::new)
    }

    /// The first 14 bytes, to be changed.
    #[inline]
    pub fn ethernet_mut(&mut self) -> Option<Ethernet<&mut [u8; 14]>> {
        self.bytes_mut().first_chunk_mut().map(Ethernet::new)
    }

    /// The IPv4 header without its options.
    #[inline]
    #[must_use]
    pub fn ipv4(&self) -> Option<Ipv4<&[u8; 20]>> {
        self.l3(ethertype::IPV4)?.first_chunk().map(Ipv4::new)
    }

    /// The IPv4 header without its options, to be changed.
    #[inline]
    pub fn ipv4_mut(&mut self) -> Option<Ipv4<&mut [u8; 20]>> {
        self.l3_mut(ethertype::IPV4)?.first_chunk_mut().map(Ipv4::new)
    }

    /// The IPv4 header with its options, as bytes.
    #[inline]
    #[must_use]
    pub fn ipv4_with_options(&self) -> Option<&[u8]> {
        let length = self.ipv4()?.header_length();
        self.l3(ethertype::IPV4)?.get(..length)
    }

    /// The fixed IPv6 header.
    #[inline]
    #[must_use]
    pub fn ipv6(&self) -> Option<Ipv6<&[u8; 40]>> {
        self.l3(ethertype::IPV6)?.first_chunk().map(Ipv6::new)
    }

    /// The fixed IPv6 header, to be changed.
    #[inline]
    pub fn ipv6_mut(&mut self) -> Option<Ipv6<&mut [u8; 40]>> {
        self.l3_mut(ethertype::IPV6)?.first_chunk_mut().map(Ipv6::new)
    }

    /// The TCP header without its options.
    #[inline]
    #[must_use]
    pub fn tcp(&self) -> Option<Tcp<&[u8; 20]>> {
        self.l4(protocol::TCP)?.first_chunk().map(Tcp::new)
    }

    /// The UDP header.
    #[inline]
    #[must_use]
    pub fn udp(&self) -> Option<Udp<&[u8; 8]>> {
        self.l4(protocol::UDP)?.first_chunk().map(Udp::new)
    }

    /// The first 8 bytes of an ICMP or ICMPv6 message.
    #[inline]
    #[must_use]
    pub fn icmp(&self) -> Option<Icmp<&[u8; 8]>> {
        let wanted =
            if self.ethertype() == ethertype::IPV6 { protocol::ICMPV6 } else { protocol::ICMP };
        self.l4(wanted)?.first_chunk().map(Icmp::new)
    }

    /// The source and destination ports of TCP, UDP or SCTP.
    #[inline]
    #[must_use]
    pub fn l4_ports(&self) -> Option<(u16, u16)> {
        if !protocol::has_ports(self.protocol()) {
            return None;
        }
        let [a, b, c, d] = *self.l4(self.protocol())?.first_chunk()?;
        Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])))
    }

    #[inline]
    fn l3(&self, ethertype: u16) -> Option<&[u8]> {
        let found = self.descriptor.ethertype == ethertype;
        if found { self.window.get(usize::from(self.descriptor.l3)..) } else { None }
    }

    #[inline]
    fn l3_mut(&mut self, ethertype: u16) -> Option<&mut [u8]> {
        if self.descriptor.ethertype != ethertype {
            return None;
        }
        let header = self.window.get_mut(usize::from(self.descriptor.l3)..)?;
        self.descriptor.flags |= flags::DIRTY;
        Some(header)
    }

    #[inline]
    fn l4(&self, protocol: u8) -> Option<&[u8]> {
        let found = self.descriptor.protocol == protocol;
        if found { self.window.get(usize::from(self.descriptor.l4)..) } else { None }
    }
}
