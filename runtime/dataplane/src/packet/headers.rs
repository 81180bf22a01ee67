/// Where a packet's headers lie, as offsets from its first byte, and what they announce.
///
/// A header that is cut or contradicts itself is not there, and neither is anything behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Headers {
    /// The network header: IPv4, IPv6 or ARP.
    pub l3: Option<u16>,
    /// The transport header: TCP, UDP, SCTP, ICMP or ICMPv6, never of a later fragment.
    pub l4: Option<u16>,
    /// The EtherType behind the VLAN tags.
    pub ethertype: u16,
    /// The IP protocol behind the extension headers; 0 if this is not IP.
    pub protocol: u8,
    /// VLAN tags that were understood, at most two.
    pub vlan_tags: u8,
    /// Whether and where in a fragmented IP packet it stands.
    pub fragment: Fragment,
}

impl Headers {
    /// Follows the insertion of `count` bytes in front of the network header.
    pub(crate) fn moved_back(&mut self, count: u16) {
        self.l3 = self.l3.and_then(|offset| offset.checked_add(count));
        self.l4 = self.l4.and_then(|offset| offset.checked_add(count));
    }

    /// Follows the removal of `count` bytes in front of the network header.
    pub(crate) fn moved_forward(&mut self, count: u16) {
        self.l3 = self.l3.and_then(|offset| offset.checked_sub(count));
        self.l4 = self.l4.and_then(|offset| offset.checked_sub(count));
    }
}

/// Whether and where in a fragmented IP packet a frame stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fragment {
    /// The packet is whole.
    #[default]
    Not,
    /// It is the first fragment.
    First,
    /// It is a later one, without a transport header.
    Later,
}
