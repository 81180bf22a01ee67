//! Valid frames of every kind that the engine parses, built by a library that it does not use.

use etherparse::{
    ArpHardwareId, ArpOperation, ArpPacket, EtherType, Ethernet2Header, IpFragOffset, IpHeaders,
    IpNumber, Ipv4Extensions, Ipv4Header, Ipv6Extensions, Ipv6FragmentHeader, Ipv6Header,
    Ipv6RawExtHeader, PacketBuilder, PacketBuilderStep, TcpHeader, TcpOptionElement, UdpHeader,
    VlanId,
};

/// The sender's hardware address.
pub const SOURCE_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
/// The receiver's.
pub const TARGET_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];
/// The sender's address.
pub const SOURCE: [u8; 4] = [10, 0, 0, 1];
/// The receiver's.
pub const TARGET: [u8; 4] = [10, 0, 0, 2];

const SOURCE_V6: [u8; 16] = [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
const TARGET_V6: [u8; 16] = [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];
const TTL: u8 = 64;
const PORTS: (u16, u16) = (40_000, 4_000);
const PAYLOAD: &[u8] = b"a payload of 24 bytes...";

/// One valid frame of each kind, with a name.
#[must_use]
pub fn kinds() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("arp", arp()),
        ("ipv4-tcp", tcp(ethernet().ipv4(SOURCE, TARGET, TTL))),
        ("ipv4-udp", udp(ethernet().ipv4(SOURCE, TARGET, TTL))),
        ("ipv4-icmp", echo_v4()),
        ("ipv4-options-udp", udp(ethernet().ip(with_options()))),
        ("ipv4-sctp", other(ethernet().ipv4(SOURCE, TARGET, TTL), 132)),
        ("ipv4-first-fragment", other(ethernet().ip(fragment_v4(0, true)), 17)),
        ("ipv4-later-fragment", other(ethernet().ip(fragment_v4(3, false)), 17)),
        ("ipv6-tcp", tcp(ethernet().ipv6(SOURCE_V6, TARGET_V6, TTL))),
        ("ipv6-udp", udp(ethernet().ipv6(SOURCE_V6, TARGET_V6, TTL))),
        ("icmpv6", echo_v6()),
        ("ipv6-extensions-udp", udp(ethernet().ip(with_extensions(None)))),
        ("ipv6-later-fragment", other(ethernet().ip(with_extensions(Some(3))), 17)),
        ("vlan-udp", udp(ethernet().single_vlan(vlan(10)).ipv4(SOURCE, TARGET, TTL))),
        (
            "qinq-tcp",
            tcp(ethernet().double_vlan(vlan(20), vlan(10)).ipv6(SOURCE_V6, TARGET_V6, TTL)),
        ),
        ("lldp", unknown(0x88cc)),
    ]
}

/// The frame of [`kinds`] with this name.
///
/// # Panics
///
/// Panics if there is none.
#[must_use]
pub fn kind(name: &str) -> Vec<u8> {
    let found = kinds().into_iter().find(|(kind, _)| *kind == name);
    found.unwrap_or_else(|| panic!("no kind {name}")).1
}

/// A UDP datagram over IPv4 from a port to a port.
#[must_use]
pub fn udp_between(source: [u8; 4], target: [u8; 4], ports: (u16, u16), ttl: u8) -> Vec<u8> {
    udp_with_ports(ethernet().ipv4(source, target, ttl), ports)
}

/// The first segment of a TCP connection over IPv4 from a port to a port.
#[must_use]
pub fn tcp_between(source: [u8; 4], target: [u8; 4], ports: (u16, u16), ttl: u8) -> Vec<u8> {
    let step = ethernet().ipv4(source, target, ttl).tcp(ports.0, ports.1, 1, 1024).syn();
    written(|to| step.write(to, &[]))
}

fn ethernet() -> PacketBuilderStep<Ethernet2Header> {
    PacketBuilder::ethernet2(SOURCE_MAC, TARGET_MAC)
}

fn vlan(vid: u16) -> VlanId {
    VlanId::try_new(vid).expect("a VLAN id has 12 bits")
}

fn with_options() -> IpHeaders {
    let mut header = header_v4();
    // Router alert, RFC 2113.
    header.options = [0x94, 4, 0, 0].into();
    IpHeaders::Ipv4(header, Ipv4Extensions::default())
}

fn fragment_v4(offset: u16, more: bool) -> IpHeaders {
    let mut header = header_v4();
    header.dont_fragment = false;
    header.fragment_offset = IpFragOffset::try_new(offset).expect("an offset has 13 bits");
    header.more_fragments = more;
    IpHeaders::Ipv4(header, Ipv4Extensions::default())
}

fn header_v4() -> Ipv4Header {
    Ipv4Header::new(0, TTL, IpNumber::UDP, SOURCE, TARGET).expect("no payload is not too much")
}

/// Hop-by-hop and destination options, and a fragment header if there is an offset.
fn with_extensions(fragment: Option<u16>) -> IpHeaders {
    let header = Ipv6Header {
        hop_limit: TTL,
        source: SOURCE_V6,
        destination: TARGET_V6,
        ..Ipv6Header::default()
    };
    // One PadN option of six bytes fills the header, RFC 8200 section 4.2.
    let padding = Ipv6RawExtHeader::new_raw(IpNumber::UDP, &[1, 4, 0, 0, 0, 0]).ok();
    let extensions = Ipv6Extensions {
        hop_by_hop_options: padding.clone(),
        destination_options: padding,
        fragment: fragment.map(|offset| {
            let offset = IpFragOffset::try_new(offset).expect("an offset has 13 bits");
            Ipv6FragmentHeader::new(IpNumber::UDP, offset, false, 7)
        }),
        ..Ipv6Extensions::default()
    };
    IpHeaders::Ipv6(header, extensions)
}

fn arp() -> Vec<u8> {
    let request = ArpPacket::new(
        ArpHardwareId::ETHERNET,
        EtherType::IPV4,
        ArpOperation::REQUEST,
        &SOURCE_MAC,
        &SOURCE,
        &[0; 6],
        &TARGET,
    );
    let step = ethernet().arp(request.expect("the addresses have their lengths"));
    written(|to| step.write(to))
}

fn udp(step: PacketBuilderStep<IpHeaders>) -> Vec<u8> {
    udp_with_ports(step, PORTS)
}

fn udp_with_ports(step: PacketBuilderStep<IpHeaders>, ports: (u16, u16)) -> Vec<u8> {
    let step: PacketBuilderStep<UdpHeader> = step.udp(ports.0, ports.1);
    written(|to| step.write(to, PAYLOAD))
}

fn tcp(step: PacketBuilderStep<IpHeaders>) -> Vec<u8> {
    let options = [TcpOptionElement::MaximumSegmentSize(1460), TcpOptionElement::Noop];
    let step: PacketBuilderStep<TcpHeader> = step.tcp(PORTS.0, PORTS.1, 1, 1024).psh().ack(1);
    let step = step.options(&options).expect("two options fit");
    written(|to| step.write(to, PAYLOAD))
}

fn echo_v4() -> Vec<u8> {
    let step = ethernet().ipv4(SOURCE, TARGET, TTL).icmpv4_echo_request(7, 1);
    written(|to| step.write(to, PAYLOAD))
}

fn echo_v6() -> Vec<u8> {
    let step = ethernet().ipv6(SOURCE_V6, TARGET_V6, TTL).icmpv6_echo_request(7, 1);
    written(|to| step.write(to, PAYLOAD))
}

/// A protocol that the library does not build, and of which the engine reads the ports at most.
fn other(step: PacketBuilderStep<IpHeaders>, protocol: u8) -> Vec<u8> {
    written(|to| step.write(to, IpNumber(protocol), PAYLOAD))
}

fn unknown(ethertype: u16) -> Vec<u8> {
    let mut frame = [TARGET_MAC, SOURCE_MAC].concat();
    frame.extend(ethertype.to_be_bytes());
    frame.extend([0; 46]);
    frame
}

fn written<E: std::fmt::Debug>(write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Vec<u8> {
    let mut frame = Vec::new();
    write(&mut frame).expect("a vector takes all bytes, and the headers hold their lengths");
    frame
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capture, run};

    #[test]
    fn wireshark_takes_each_kind_for_what_it_is_called() {
        let file = tempfile::NamedTempFile::new().expect("there is room for a file");
        Capture::new(kinds().into_iter().map(|(_, frame)| frame)).write(file.path());
        let path = file.path().to_str().expect("the path is UTF-8");
        let text = run(&["tshark", "-r", path, "-T", "fields", "-e", "frame.protocols"]);
        let expected = [
            ("arp", "arp"),
            ("ipv4-tcp", "ip:tcp"),
            ("ipv4-udp", "ip:udp"),
            ("ipv4-icmp", "ip:icmp"),
            ("ipv4-options-udp", "ip:udp"),
            ("ipv4-sctp", "ip:sctp"),
            ("ipv4-first-fragment", "ip"),
            // With the one before, this is a whole packet.
            ("ipv4-later-fragment", "ip:udp"),
            ("ipv6-tcp", "ipv6:tcp"),
            ("ipv6-udp", "ipv6:udp"),
            ("icmpv6", "ipv6:icmpv6"),
            ("ipv6-extensions-udp", "ipv6:ipv6.hopopts:ipv6.dstopts:udp"),
            ("ipv6-later-fragment", "ipv6:ipv6.hopopts:ipv6.dstopts:ipv6.fraghdr"),
            ("vlan-udp", "vlan:ethertype:ip:udp"),
            ("qinq-tcp", "ieee8021ad:ethertype:vlan:ethertype:ipv6:tcp"),
            ("lldp", "lldp"),
        ];
        let seen =
            kinds().into_iter().map(|(name, _)| name).zip(text.lines()).map(|(name, line)| {
                let protocols = line.strip_prefix("eth:ethertype:").unwrap_or(line);
                (name, protocols.strip_suffix(":data").unwrap_or(protocols))
            });
        assert_eq!(seen.collect::<Vec<_>>(), expected);
    }
}
