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

/// Whether and where in a fragmented IP packet a frame stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Fragment {
    /// The packet is whole.
    #[default]
    Not,
    /// It is the first fragment.
    First,
    /// It is a later one, without a transport header.
    Later,
}
