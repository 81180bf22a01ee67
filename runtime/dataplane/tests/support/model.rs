//! What a frame's headers say, by etherparse's reading of each header.
//!
//! Which header follows which, and what is believed, is the engine's policy; it is written out here
//! a second time, with its reasons, without a look at the engine's code.

use dataplane::{
    PortId,
    flow::{FlowKey, layers, mpls, vlan},
    packet::{Fragment, Parsed},
};
use etherparse::{
    ArpPacketSlice, Ethernet2HeaderSlice, IpAuthHeaderSlice, Ipv4HeaderSlice,
    Ipv6FragmentHeaderSlice, Ipv6HeaderSlice, Ipv6RawExtHeaderSlice, SingleVlanHeaderSlice,
    TcpSlice, UdpHeaderSlice,
};

use super::frames::{ARP, ICMP, ICMPV6, IPV4, IPV6, MPLS, MPLS_MULTICAST, SCTP, TCP, UDP};

/// The EtherTypes that announce a tag.
pub const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// How many extension headers are followed.
pub const MOST_EXTENSIONS: usize = 8;

/// Reads a frame; `None` if it has no Ethernet header.
pub fn read(in_port: PortId, frame: &[u8]) -> Option<Parsed> {
    let ethernet = Ethernet2HeaderSlice::from_slice(frame).ok()?;
    let mut parsed = Parsed::default();
    parsed.key.in_port = in_port.0;
    parsed.key.eth_dst = ethernet.destination();
    parsed.key.eth_src = ethernet.source();
    let (mut ethertype, mut rest) = (ethernet.ether_type().0, &frame[14..]);
    for tag in &mut parsed.key.vlan {
        let Ok(header) = SingleVlanHeaderSlice::from_slice(rest) else { break };
        if !TAGS.contains(&ethertype) {
            break;
        }
        let pcp = u16::from(header.priority_code_point().value());
        *tag = vlan::PRESENT | pcp << vlan::PCP_SHIFT | header.vlan_identifier().value();
        (ethertype, rest) = (header.ether_type().0, &rest[4..]);
        parsed.headers.vlan_tags += 1;
    }
    // A length, or what IEEE 802.3 leaves undefined between lengths and types.
    ethertype = if ethertype < 0x600 { FlowKey::NO_ETHERTYPE } else { ethertype };
    parsed.key.ethertype = ethertype;
    parsed.headers.ethertype = ethertype;
    if [MPLS, MPLS_MULTICAST].contains(&ethertype) && rest.len() >= 4 {
        // 20 bits of label, 3 of traffic class, 1 that says that it is the last, 8 of TTL.
        // etherparse knows it not.
        let label = u32::from(rest[0]) << 12 | u32::from(rest[1]) << 4 | u32::from(rest[2]) >> 4;
        let class = u32::from(rest[2]) >> 1 & 7;
        let is_last = rest[2] & 1 == 1;
        parsed.key.mpls = mpls::PRESENT | label << mpls::LABEL_SHIFT;
        parsed.key.mpls |= class << mpls::TRAFFIC_CLASS_SHIFT;
        parsed.key.mpls |= if is_last { mpls::BOTTOM } else { 0 };
    }
    let before = parsed;
    let network = match ethertype {
        IPV4 => ipv4(rest, &mut parsed),
        IPV6 => ipv6(rest, &mut parsed),
        ARP => arp(rest, &mut parsed),
        _ => None,
    };
    let Some(segment) = network else { return Some(before) };
    parsed.headers.l3 = Some(distance(frame, rest));
    parsed.key.layers |= layers::NETWORK;
    if parsed.headers.fragment != Fragment::Not {
        parsed.key.layers |= layers::FRAGMENT;
    }
    if parsed.headers.fragment == Fragment::Later {
        parsed.key.layers |= layers::LATER_FRAGMENT;
    } else if let Some(segment) = segment
        && transport(segment, &mut parsed).is_some()
    {
        parsed.headers.l4 = Some(distance(frame, segment));
        parsed.key.layers |= layers::TRANSPORT;
    }
    Some(parsed)
}

fn distance(frame: &[u8], part: &[u8]) -> u16 {
    u16::try_from(part.as_ptr() as usize - frame.as_ptr() as usize).unwrap()
}

/// What follows a network header that is there, if that can be known.
type Network<'a> = Option<Option<&'a [u8]>>;

fn ipv4<'a>(rest: &'a [u8], parsed: &mut Parsed) -> Network<'a> {
    let ip = Ipv4HeaderSlice::from_slice(rest).ok()?;
    // The packet is as long as it says, or it is not there: etherparse's lax reading would take
    // what there is, and a header behind a lie would be believed.
    let packet = rest.get(..usize::from(ip.total_len()))?;
    let payload = packet.get(ip.slice().len()..)?;
    parsed.key.ipv4_src.copy_from_slice(&ip.source());
    parsed.key.ipv4_dst.copy_from_slice(&ip.destination());
    parsed.key.traffic_class = ip.dcp().value() << 2 | ip.ecn().value();
    parsed.key.ttl = ip.ttl();
    parsed.key.layers |= layers::IP;
    // An authentication header is this packet's protocol: it is not looked into.
    announce(ip.protocol().0, parsed);
    parsed.headers.fragment = fragment(ip.fragments_offset().value(), ip.more_fragments());
    Some(Some(payload))
}

fn ipv6<'a>(rest: &'a [u8], parsed: &mut Parsed) -> Network<'a> {
    let ip = Ipv6HeaderSlice::from_slice(rest).ok()?;
    // A length of zero is no payload: jumbograms (RFC 2675) do not fit a buffer. etherparse takes
    // the rest of the frame for the payload then.
    let payload = rest.get(40..40 + usize::from(ip.payload_length()))?;
    parsed.key.ipv6_label = ip.flow_label().value();
    parsed.key.ipv6_src = ip.source();
    parsed.key.ipv6_dst = ip.destination();
    parsed.key.traffic_class = ip.traffic_class();
    parsed.key.ttl = ip.hop_limit();
    parsed.key.layers |= layers::IP;
    announce(ip.next_header().0, parsed);
    Some(behind_extensions(payload, parsed))
}

fn announce(protocol: u8, parsed: &mut Parsed) {
    parsed.key.protocol = protocol;
    parsed.headers.protocol = protocol;
}

/// Follows extension headers while they are whole. etherparse follows any number.
fn behind_extensions<'a>(payload: &'a [u8], parsed: &mut Parsed) -> Option<&'a [u8]> {
    let mut rest = payload;
    for _ in 0..MOST_EXTENSIONS {
        let (length, next) = match parsed.key.protocol {
            // Hop-by-hop options that are not first are for the receiver to refuse (RFC 8200, 4.1);
            // until then, rules about what is behind them had better hold. A mobility header has a
            // next one by its form (RFC 6275, 6.1.1). etherparse stops at both.
            0 | 43 | 60 | 135 => {
                let header = Ipv6RawExtHeaderSlice::from_slice(rest).ok()?;
                (header.slice().len(), header.next_header())
            }
            44 => {
                let header = Ipv6FragmentHeaderSlice::from_slice(rest).ok()?;
                let at = header.fragment_offset().value();
                let found = fragment(at, header.more_fragments());
                parsed.headers.fragment = parsed.headers.fragment.max(found);
                (8, header.next_header())
            }
            51 => {
                let header = IpAuthHeaderSlice::from_slice(rest).ok()?;
                (header.slice().len(), header.next_header())
            }
            _ => return Some(rest),
        };
        rest = &rest[length..];
        announce(next.0, parsed);
        if parsed.headers.fragment == Fragment::Later {
            // What follows is data, not a header, though etherparse reads on.
            return None;
        }
    }
    (!matches!(parsed.key.protocol, 0 | 43 | 44 | 51 | 60 | 135)).then_some(rest)
}

fn fragment(offset: u16, more: bool) -> Fragment {
    match (offset, more) {
        (0, false) => Fragment::Not,
        (0, true) => Fragment::First,
        _ => Fragment::Later,
    }
}

fn transport(segment: &[u8], parsed: &mut Parsed) -> Option<()> {
    let ports = match parsed.key.protocol {
        TCP => {
            let tcp = TcpSlice::from_slice(segment).ok()?;
            // The twelve bits beside the data offset; those without a name are flags to come.
            let [high, low] = [tcp.slice()[12], tcp.slice()[13]];
            parsed.key.tcp_flags = u16::from_be_bytes([high & 0x0f, low]);
            assert_eq!(parsed.key.tcp_flags & 2 != 0, tcp.syn());
            (tcp.source_port(), tcp.destination_port())
        }
        UDP => {
            let udp = UdpHeaderSlice::from_slice(segment).ok()?;
            // It is as long as it says, unless the rest is in later fragments. etherparse takes a
            // length of zero for a jumbogram's and its lax reading believes any other.
            let length = usize::from(udp.length());
            let whole = parsed.headers.fragment == Fragment::Not;
            if length < 8 || (whole && length > segment.len()) {
                return None;
            }
            (udp.source_port(), udp.destination_port())
        }
        // etherparse knows it not.
        SCTP if segment.len() >= 12 => (word(segment, 0), word(segment, 2)),
        // Of ICMP timestamps etherparse wants the length to be right; this is none of a header's
        // business.
        ICMP | ICMPV6 if segment.len() >= 8 => (segment[0].into(), segment[1].into()),
        _ => return None,
    };
    (parsed.key.l4_src, parsed.key.l4_dst) = ports;
    Some(())
}

fn word(bytes: &[u8], place: usize) -> u16 {
    u16::from_be_bytes([bytes[place], bytes[place + 1]])
}

fn arp<'a>(rest: &'a [u8], parsed: &mut Parsed) -> Network<'a> {
    let arp = ArpPacketSlice::from_slice(rest).ok()?;
    // Only Ethernet and IPv4 have addresses that fit the key.
    let kinds = (arp.hw_addr_type().0, arp.proto_addr_type().0);
    if (kinds, arp.hw_addr_size(), arp.proto_addr_size()) != ((1, IPV4), 6, 4) {
        return None;
    }
    parsed.key.protocol = u8::try_from(arp.operation().0).unwrap_or(0);
    parsed.key.ipv6_src[..6].copy_from_slice(arp.sender_hw_addr());
    parsed.key.ipv6_dst[..6].copy_from_slice(arp.target_hw_addr());
    parsed.key.ipv4_src.copy_from_slice(arp.sender_protocol_addr());
    parsed.key.ipv4_dst.copy_from_slice(arp.target_protocol_addr());
    Some(None)
}
