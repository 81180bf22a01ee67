//! Packets of many kinds, for a module to be tried on before it gets real ones.

/// The bytes of data in a small and in a large packet.
const DATA: [usize; 2] = [18, 1400];
/// The addresses of both ends, of Ethernet.
const MACS: [u8; 12] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];

const IPV4: u16 = 0x0800;
const ARP: u16 = 0x0806;
const VLAN: u16 = 0x8100;
const IPV6: u16 = 0x86dd;
const MPLS: u16 = 0x8847;
const LLDP: u16 = 0x88cc;

const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;

/// Two packets of each kind, with the kind's name.
pub(crate) fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let mut samples = Vec::new();
    for data in DATA.map(|length| vec![0x5a; length]) {
        let udp4 = ipv4(UDP, 0, &udp(4000, &data));
        let mpls = [&[0x00, 0x01, 0x01, 0x40][..], &udp4].concat();
        let query = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x07example\x03com\0\0\x01\0\x01";
        samples.extend([
            ("UDP over IPv4", ethernet(&[], IPV4, &udp4)),
            ("TCP over IPv4", ethernet(&[], IPV4, &ipv4(TCP, 0, &tcp(0x18, &data)))),
            ("a SYN over IPv4", ethernet(&[], IPV4, &ipv4(TCP, 0, &tcp(0x02, &[])))),
            ("ICMP", ethernet(&[], IPV4, &ipv4(ICMP, 0, &[&[8, 0, 0, 0], &data[..]].concat()))),
            ("a first fragment", ethernet(&[], IPV4, &ipv4(UDP, 0x2000, &udp(4000, &data)))),
            ("a later fragment", ethernet(&[], IPV4, &ipv4(UDP, 0x0010, &data))),
            ("DNS over IPv4", ethernet(&[], IPV4, &ipv4(UDP, 0, &udp(53, query)))),
            ("UDP over IPv6", ethernet(&[], IPV6, &ipv6(UDP, &udp(4000, &data)))),
            ("TCP over IPv6", ethernet(&[], IPV6, &ipv6(TCP, &tcp(0x18, &data)))),
            ("ICMPv6", ethernet(&[], IPV6, &ipv6(ICMPV6, &[&[128, 0, 0, 0], &data[..]].concat()))),
            ("a VLAN", ethernet(&[10], IPV4, &udp4)),
            ("a VLAN in a VLAN", ethernet(&[20, 10], IPV4, &udp4)),
            ("MPLS", ethernet(&[], MPLS, &mpls)),
            ("ARP", ethernet(&[], ARP, &arp())),
            ("LLDP", ethernet(&[], LLDP, &data)),
            ("an IPv4 header that is cut short", ethernet(&[], IPV4, &udp4[..12])),
        ]);
    }
    samples
}

fn ethernet(vlans: &[u16], ethertype: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = MACS.to_vec();
    for vlan in vlans {
        frame.extend([VLAN, *vlan].map(u16::to_be_bytes).concat());
    }
    frame.extend(ethertype.to_be_bytes());
    frame.extend(payload);
    frame
}

/// `fragment` is the field of flags and offset.
fn ipv4(protocol: u8, fragment: u16, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x45, 0];
    packet.extend(length(20 + payload.len()));
    packet.extend([0, 7]);
    packet.extend(fragment.to_be_bytes());
    packet.extend([64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    let sum: u32 =
        packet.as_chunks().0.iter().map(|&word| u32::from(u16::from_be_bytes(word))).sum();
    let checksum = !(sum % 0xffff);
    packet[10..12].copy_from_slice(&checksum.to_be_bytes()[2..]);
    packet.extend(payload);
    packet
}

fn ipv6(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let address = |last: u8| [&[0xfd][..], &[0; 14], &[last]].concat();
    let mut packet = vec![0x60, 0, 0, 0];
    packet.extend(length(payload.len()));
    packet.extend([protocol, 64]);
    packet.extend([address(1), address(2), payload.to_vec()].concat());
    packet
}

fn udp(to: u16, data: &[u8]) -> Vec<u8> {
    let ports = [40_000, to].map(u16::to_be_bytes).concat();
    [&ports[..], &length(8 + data.len()), &[0, 0], data].concat()
}

fn tcp(flags: u8, data: &[u8]) -> Vec<u8> {
    let ports = [40_000, 443].map(u16::to_be_bytes).concat();
    let rest = [0, 0, 0, 1, 0, 0, 0, 1, 0x50, flags, 0x20, 0, 0, 0, 0, 0];
    [&ports[..], &rest, data].concat()
}

/// Who has 10.0.0.2?
fn arp() -> Vec<u8> {
    let mut packet = vec![0, 1, 8, 0, 6, 4, 0, 1];
    packet.extend([2, 0, 0, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2]);
    packet
}

fn length(bytes: usize) -> [u8; 2] {
    u16::try_from(bytes).expect("samples are small").to_be_bytes()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use dataplane::{
        PortId,
        packet::{Fragment, parse},
    };

    use super::*;

    #[test]
    fn there_are_as_many_as_a_burst_has_and_the_engine_reads_them_all() {
        let samples = samples();
        assert_eq!(samples.len(), 32);
        let mut kinds = BTreeSet::new();
        for (name, frame) in &samples {
            let parsed = parse(PortId(0), frame).unwrap_or_else(|| panic!("{name}"));
            let headers = parsed.headers;
            kinds.insert((headers.ethertype, headers.protocol));
            let later = *name == "a later fragment";
            assert_eq!(headers.fragment == Fragment::Later, later, "{name}");
        }
        assert!(kinds.len() >= 9, "{kinds:?}");
        let udp = parse(PortId(0), &samples[0].1).unwrap();
        assert_eq!((udp.key.l4_src, udp.key.l4_dst), (40_000, 4000));
    }
}
