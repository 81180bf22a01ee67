use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::de::DeserializeOwned;
use weft_abi::{Key, looked_at, traits};

use crate::{ConfigError, PortId};

/// A classification module: it says what the packets of a flow are, and rules match its answer as
/// `metadata`. Each worker has a value of its own.
///
/// It is asked when no cached flow has the answer, so it costs little however many packets a flow
/// has. The answer holds for all packets that agree in the fields that were looked at, which the
/// [`View`] notes by itself.
///
/// ```
/// use weft_sdk::{Classifier, ConfigError, NoConfig, View};
///
/// /// 1 for DNS, 0 for all else.
/// struct Dns;
///
/// impl Classifier for Dns {
///     type Config = NoConfig;
///
///     fn new(_: NoConfig) -> Result<Self, ConfigError> {
///         Ok(Self)
///     }
///
///     fn classify(&mut self, packet: &mut View<'_>) -> u64 {
///         (packet.protocol() == 17 && packet.destination_port() == 53).into()
///     }
/// }
///
/// let key = weft_sdk::abi::Key { protocol: 17, l4_dst: 53, ..Default::default() };
/// let mut packet = View::new(&key, &[]);
/// assert_eq!(Dns.classify(&mut packet), 1);
/// ```
pub trait Classifier: Sized {
    /// What it is configured with. Say `#[serde(deny_unknown_fields)]`.
    type Config: DeserializeOwned;

    /// How many bytes of a packet it wants to see.
    const WINDOW: u32 = 0;
    /// Whether its answers depend on bytes that differ within a flow. Then it is asked about every
    /// packet, and no answer is kept: it costs as much as a stage does.
    const PAYLOAD: bool = false;

    /// Makes the classifier. What takes time or memory belongs here.
    ///
    /// # Errors
    ///
    /// Fails if the configuration makes no sense; whoever deploys the module reads the message.
    fn new(config: Self::Config) -> Result<Self, ConfigError>;

    /// Says what a packet is.
    fn classify(&mut self, packet: &mut View<'_>) -> u64;
}

/// What a classifier may know of a packet. It notes what was looked at. What is not in the packet is
/// zero or `None`.
#[derive(Debug)]
pub struct View<'a> {
    key: &'a Key,
    bytes: &'a [u8],
    looked_at: u32,
}

impl<'a> View<'a> {
    /// Of a packet with this key that begins with these bytes.
    #[inline]
    #[must_use]
    pub fn new(key: &'a Key, bytes: &'a [u8]) -> Self {
        Self { key, bytes, looked_at: 0 }
    }

    /// What was looked at so far: bits of [`looked_at`].
    #[inline]
    #[must_use]
    pub fn looked_at(&self) -> u32 {
        self.looked_at
    }

    #[inline]
    fn look_at(&mut self, fields: u32) -> &'a Key {
        self.looked_at |= fields;
        self.key
    }

    /// The packet's first bytes, as many as [`Classifier::WINDOW`] asks for. That they were looked at
    /// is not noted: without [`Classifier::PAYLOAD`] an answer that rests on them is kept for all
    /// packets that agree in the fields.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The port that it came by.
    #[inline]
    pub fn in_port(&mut self) -> PortId {
        let port = self.look_at(looked_at::IN_PORT).in_port;
        // Ports have 16 bits.
        PortId(u16::try_from(port).unwrap_or(u16::MAX))
    }

    /// The Ethernet destination.
    #[inline]
    pub fn ethernet_destination(&mut self) -> [u8; 6] {
        self.look_at(looked_at::ETH_DST).eth_dst
    }

    /// The Ethernet source.
    #[inline]
    pub fn ethernet_source(&mut self) -> [u8; 6] {
        self.look_at(looked_at::ETH_SRC).eth_src
    }

    /// The EtherType behind the VLAN tags.
    #[inline]
    pub fn ethertype(&mut self) -> u16 {
        self.look_at(looked_at::ETHERTYPE).ethertype
    }

    /// The id of the outermost VLAN tag.
    #[inline]
    pub fn vlan(&mut self) -> Option<u16> {
        let [tag, _] = self.look_at(looked_at::VLAN).vlan;
        (tag & 0x1000 != 0).then_some(tag & 0x0fff)
    }

    /// The label of the outermost MPLS entry.
    #[inline]
    pub fn mpls_label(&mut self) -> Option<u32> {
        let entry = self.look_at(looked_at::MPLS).mpls;
        (entry & 1 != 0).then_some(entry >> 12)
    }

    /// The source address of IP.
    #[inline]
    pub fn ip_source(&mut self) -> Option<IpAddr> {
        let key = self.look_at(looked_at::IP_SRC | looked_at::PROTOCOL);
        address(key.ip_version, key.ip_src)
    }

    /// The destination address of IP.
    #[inline]
    pub fn ip_destination(&mut self) -> Option<IpAddr> {
        let key = self.look_at(looked_at::IP_DST | looked_at::PROTOCOL);
        address(key.ip_version, key.ip_dst)
    }

    /// The IP protocol behind the extension headers.
    #[inline]
    pub fn protocol(&mut self) -> u8 {
        let key = self.look_at(looked_at::PROTOCOL);
        key.protocol
    }

    /// Whether it is a fragment of an IP packet.
    #[inline]
    pub fn is_fragment(&mut self) -> bool {
        self.look_at(looked_at::PROTOCOL).traits & traits::FRAGMENT != 0
    }

    /// DSCP and ECN: IPv4's type of service, IPv6's traffic class.
    #[inline]
    pub fn traffic_class(&mut self) -> u8 {
        self.look_at(looked_at::TRAFFIC_CLASS).traffic_class
    }

    /// TTL or hop limit.
    #[inline]
    pub fn ttl(&mut self) -> u8 {
        self.look_at(looked_at::TTL).ttl
    }

    /// The source port, or the ICMP type.
    #[inline]
    pub fn source_port(&mut self) -> u16 {
        self.look_at(looked_at::L4_SRC).l4_src
    }

    /// The destination port, or the ICMP code.
    #[inline]
    pub fn destination_port(&mut self) -> u16 {
        self.look_at(looked_at::L4_DST).l4_dst
    }

    /// TCP's flags.
    #[inline]
    pub fn tcp_flags(&mut self) -> u16 {
        self.look_at(looked_at::TCP_FLAGS).tcp_flags
    }

    /// What stages, rules and classifiers before said of the packet.
    #[inline]
    pub fn metadata(&mut self) -> u64 {
        self.look_at(looked_at::METADATA).metadata
    }
}

fn address(version: u8, bytes: [u8; 16]) -> Option<IpAddr> {
    let [a, b, c, d, ..] = bytes;
    match version {
        4 => Some(Ipv4Addr::new(a, b, c, d).into()),
        6 => Some(Ipv6Addr::from(bytes).into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_notes_what_was_looked_at_and_nothing_else() {
        let key = Key {
            ip_version: 4,
            ip_src: [10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            vlan: [0x1005, 0],
            l4_dst: 53,
            ..Key::default()
        };
        let mut view = View::new(&key, &[7]);
        assert_eq!((view.bytes(), view.looked_at()), (&[7][..], 0));
        assert_eq!(view.destination_port(), 53);
        assert_eq!(view.looked_at(), looked_at::L4_DST);
        assert_eq!(view.ip_source(), Some(IpAddr::from([10, 0, 0, 1])));
        assert_eq!(view.looked_at(), looked_at::L4_DST | looked_at::IP_SRC | looked_at::PROTOCOL);
        assert_eq!((view.vlan(), view.mpls_label()), (Some(5), None));
        assert_eq!(View::new(&Key::default(), &[]).ip_destination(), None);
    }
}
