//! Views of headers, as the host's parser found them.
//!
//! A view stands on an array that is as long as the header, so that reading a field never fails.
//! Addresses are [`core::net`]'s; a MAC address is [`Mac`].

mod ethernet;
mod ipv4;
mod ipv6;
mod transport;

pub use ethernet::{Ethernet, Mac, ParseMacError};
pub use ipv4::Ipv4;
pub use ipv6::Ipv6;
pub use transport::{Icmp, Tcp, Udp};

/// EtherTypes, as IANA assigns them.
pub mod ethertype {
    /// What stands for it in a frame that has a length there (IEEE 802.3, 3.2.6).
    pub const NONE: u16 = 0x05ff;
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// ARP.
    pub const ARP: u16 = 0x0806;
    /// IPv6.
    pub const IPV6: u16 = 0x86dd;
}

/// IP protocols, as IANA assigns them.
pub mod protocol {
    /// ICMP for IPv4.
    pub const ICMP: u8 = 1;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// ICMP for IPv6.
    pub const ICMPV6: u8 = 58;
    /// SCTP.
    pub const SCTP: u8 = 132;

    /// Whether its header begins with a source and a destination port.
    #[inline]
    #[must_use]
    pub const fn has_ports(protocol: u8) -> bool {
        matches!(protocol, TCP | UDP | SCTP)
    }
}
