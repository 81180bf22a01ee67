use weft_sdk::{Packet, header::protocol::has_ports};

/// What rules look at in a packet, as far as it can be seen. `A` is an address's bits.
#[derive(Debug)]
pub(crate) struct Facts<A> {
    pub(crate) source: A,
    pub(crate) destination: A,
    /// `None` if it lies behind extension headers that could not be followed.
    pub(crate) protocol: Option<u8>,
    pub(crate) ports: Ports,
    pub(crate) is_later_fragment: bool,
}

/// The ports of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ports {
    /// Its protocol has none.
    None,
    /// It has some, or may have, that cannot be seen: it is a later fragment, a first one too short
    /// for its transport header (RFC 1858, RFC 3128), or that header lies beyond the window.
    Unseen,
    /// Source and destination.
    Seen(u16, u16),
}

impl Facts<u32> {
    /// `None` if the IP header is cut or contradicts itself.
    #[inline]
    pub(crate) fn of_ipv4(packet: &Packet<'_>) -> Option<Self> {
        let header = packet.ipv4()?;
        let protocol = Some(packet.protocol());
        Some(Self::new(packet, header.source().to_bits(), header.destination().to_bits(), protocol))
    }
}

impl Facts<u128> {
    /// `None` if the IP header is cut or contradicts itself.
    #[inline]
    pub(crate) fn of_ipv6(packet: &Packet<'_>) -> Option<Self> {
        let header = packet.ipv6()?;
        let protocol = Some(packet.protocol()).filter(|protocol| !is_extension_header(*protocol));
        Some(Self::new(packet, header.source().to_bits(), header.destination().to_bits(), protocol))
    }
}

impl<A> Facts<A> {
    #[inline]
    fn new(packet: &Packet<'_>, source: A, destination: A, protocol: Option<u8>) -> Self {
        let ports = match packet.l4_ports() {
            Some((source, destination)) => Ports::Seen(source, destination),
            None if protocol.is_none_or(has_ports) => Ports::Unseen,
            None => Ports::None,
        };
        let is_later_fragment = packet.is_later_fragment();
        Self { source, destination, protocol, ports, is_later_fragment }
    }

    /// Whether there is something that a rule may name and that cannot be seen.
    #[inline]
    pub(crate) fn is_partly_unseen(&self) -> bool {
        self.ports == Ports::Unseen
    }
}

/// Whether IPv6 has another header follow this one (IANA's list of extension headers, without ESP,
/// which hides it). Where the host's parser ends at one, the packet's protocol is not known.
fn is_extension_header(next_header: u8) -> bool {
    matches!(next_header, 0 | 43 | 44 | 51 | 60 | 135 | 139 | 140)
}
