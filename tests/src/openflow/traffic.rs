//! Well-formed frames at random, byte by byte, with right checksums.

use std::net::IpAddr;

use super::{
    chance::Chance,
    rule::{Action, CopiedField, Field, Rule},
};

/// The values that rules and frames have in common.
pub(super) mod values {
    pub(crate) const MACS: [[u8; 6]; 4] =
        [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 1, 1], [0x33, 0x33, 0, 0, 0, 1]];
    pub(crate) const VIDS: [u16; 4] = [0, 1, 10, 4094];
    pub(crate) const PCPS: [u8; 3] = [0, 3, 7];
    /// Types that are not IP: ARP, LLDP, MPLS, and one for experiments.
    pub(crate) const OTHER_TYPES: [u16; 4] = [0x0806, 0x88cc, 0x8847, 0x88b5];
    pub(crate) const V4: [u32; 5] =
        [0x0a00_0001, 0x0a00_0002, 0x0a00_0101, 0x0a01_0001, 0xc0a8_0101];
    pub(crate) const V6: [u128; 4] = [
        0xfd00_0000_0000_0000_0000_0000_0000_0001,
        0xfd00_0000_0000_0000_0000_0000_0000_0002,
        0xfd00_0000_0000_0001_0000_0000_0000_0001,
        0x2001_0db8_0000_0000_0000_0000_0000_ffff,
    ];
    pub(crate) const DSCPS: [u8; 3] = [0, 10, 46];
    pub(crate) const ECNS: [u8; 3] = [0, 1, 3];
    pub(crate) const TTLS: [u8; 4] = [1, 2, 64, 255];
    pub(crate) const PORTS: [u16; 6] = [22, 53, 80, 443, 4000, 40_000];
    pub(crate) const ICMP_TYPES: [u8; 4] = [0, 8, 128, 129];
    pub(crate) const LABELS: [u32; 3] = [16, 17, 0xf_ffff];
    pub(crate) const FLOW_LABELS: [u32; 3] = [0, 0x1234, 0xf_ffff];
    /// With the bits of it that count, or are written.
    pub(crate) const METADATA: [(u64, u64); 4] =
        [(0, u64::MAX), (5, u64::MAX), (5, 0xff), (0, 0xff00)];
}

const TCP: u8 = 6;
const UDP: u8 = 17;
const SCTP: u8 = 132;

/// What frames may be for a set of rules, so that Open vSwitch does what the rules say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    /// The most VLAN tags: with those that rules push, it keeps two.
    most_tags: usize,
    /// Whether later fragments of TCP and UDP are among them. When it sets an address of IPv4 it
    /// changes them where their first fragment has a checksum.
    later_fragments: bool,
    /// Whether packets with places still to go to are among them. When it sets a source of IPv6 it
    /// leaves their checksums as they were, as it may only for a destination (RFC 8200, 8.1).
    source_routes: bool,
    /// Whether frames of IEEE 802.3 are among them, which Weft puts no label on.
    lengths: bool,
}

impl Scope {
    /// What frames may be for these rules.
    #[must_use]
    pub fn of(rules: &[Rule]) -> Self {
        let any = |what: fn(&Action) -> bool| rules.iter().flat_map(|rule| &rule.actions).any(what);
        let pushes = any(|action| matches!(action, Action::PushVlan { .. }));
        let readdresses = any(|action| {
            matches!(
                action,
                Action::Set(Field::IpSrc(IpAddr::V4(_)) | Field::IpDst(IpAddr::V4(_)))
                    | Action::Copy(_, CopiedField::IpSrc | CopiedField::IpDst)
            )
        });
        let sends = any(|action| {
            matches!(
                action,
                Action::Set(Field::IpSrc(IpAddr::V6(_))) | Action::Copy(_, CopiedField::IpSrc)
            )
        });
        let labels = any(|action| matches!(action, Action::PushMpls { .. }));
        let most_tags = if pushes { 1 } else { 2 };
        Self { most_tags, later_fragments: !readdresses, source_routes: !sends, lengths: !labels }
    }
}

/// Where in a fragmented packet a frame stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fragment {
    Not,
    First,
    Later,
}

/// A frame that ends with a mark, by which it is known again wherever it comes out.
#[must_use]
pub fn frame(chance: &mut Chance, scope: Scope, mark: [u8; 4]) -> Vec<u8> {
    let (destination, source) = (chance.pick(&values::MACS), chance.pick(&values::MACS));
    let mut frame = [destination, source].concat();
    let tags = chance.below(scope.most_tags + 1);
    for _ in 0..tags {
        let tci = u16::from(chance.pick(&values::PCPS)) << 13 | chance.pick(&values::VIDS);
        frame.extend(chance.pick(&[0x8100_u16, 0x8100, 0x88a8]).to_be_bytes());
        frame.extend(tci.to_be_bytes());
    }
    let inside = chance.percent(50);
    let packet_mark: &[u8] = if inside { &mark } else { &[] };
    match chance.below(10) {
        0..=3 => {
            frame.extend([0x08, 0x00]);
            frame.extend(ipv4(chance, scope, packet_mark));
        }
        4..=6 => {
            frame.extend([0x86, 0xdd]);
            frame.extend(ipv6(chance, scope, packet_mark));
        }
        _ => frame.extend(other(chance, scope)),
    }
    if !frame.ends_with(&mark) {
        // Padding, which belongs to no header.
        let short = 60_usize.saturating_sub(frame.len() + mark.len());
        frame.extend(vec![0; short]);
        frame.extend(mark);
    }
    frame
}

/// What is not IP: a type and bytes that look like its header, or a length and LLC.
fn other(chance: &mut Chance, scope: Scope) -> Vec<u8> {
    if scope.lengths && chance.percent(15) {
        return [&[0, 46, 0x42, 0x42, 3][..], &[0; 43]].concat();
    }
    let ethertype = chance.pick(&values::OTHER_TYPES);
    let mut bytes = ethertype.to_be_bytes().to_vec();
    match ethertype {
        0x0806 => bytes.extend(arp(chance)),
        0x8847 => bytes.extend(labelled(chance, scope)),
        _ => {}
    }
    bytes.resize(bytes.len().max(48), 0);
    bytes
}

/// One label or two, on IPv4.
fn labelled(chance: &mut Chance, scope: Scope) -> Vec<u8> {
    let mut bytes = Vec::new();
    let count = chance.pick(&[1, 1, 2]);
    for place in 1..=count {
        let class = u32::from(chance.pick(&values::PCPS));
        let (label, ttl) = (chance.pick(&values::LABELS), chance.pick(&values::TTLS));
        let entry = label << 12 | class << 9 | u32::from(place == count) << 8 | u32::from(ttl);
        bytes.extend(entry.to_be_bytes());
    }
    bytes.extend(ipv4(chance, scope, &[]));
    bytes
}

fn arp(chance: &mut Chance) -> Vec<u8> {
    let mut bytes = vec![0, 1, 8, 0, 6, 4, 0, chance.pick(&[1, 2])];
    for _ in 0..2 {
        bytes.extend(chance.pick(&values::MACS));
        bytes.extend(chance.pick(&values::V4).to_be_bytes());
    }
    bytes
}

fn fragment(chance: &mut Chance) -> Fragment {
    match chance.below(10) {
        0 => Fragment::First,
        1 => Fragment::Later,
        _ => Fragment::Not,
    }
}

fn traffic_class(chance: &mut Chance) -> u8 {
    chance.pick(&values::DSCPS) << 2 | chance.pick(&values::ECNS)
}

fn ipv4(chance: &mut Chance, scope: Scope, mark: &[u8]) -> Vec<u8> {
    let fragment = fragment(chance);
    let protocols: &[u8] = if fragment == Fragment::Later && !scope.later_fragments {
        &[SCTP, 1, 47]
    } else {
        &[TCP, TCP, UDP, UDP, SCTP, 1, 47]
    };
    let protocol = chance.pick(protocols);
    let addresses =
        [chance.pick(&values::V4).to_be_bytes(), chance.pick(&values::V4).to_be_bytes()].concat();
    let payload = payload(chance, protocol, &addresses, fragment, mark);
    // Router alert, RFC 2113.
    let options: &[u8] = if chance.percent(15) { &[0x94, 4, 0, 0] } else { &[] };
    let length = 20 + options.len();
    let total = u16::try_from(length + payload.len()).expect("the packet is short");
    // A later fragment is never of the same packet as a first one.
    let id = if fragment == Fragment::Later { [0x12, 0x35] } else { [0x12, 0x34] };
    let place: u16 = match fragment {
        Fragment::Not => chance.pick(&[0, 0x4000]),
        Fragment::First => 0x2000,
        Fragment::Later => chance.pick(&[0x0003, 0x2003]),
    };
    let words = 0x40 | u8::try_from(length / 4).expect("a header is short");
    let mut header = vec![words, traffic_class(chance)];
    header.extend(total.to_be_bytes());
    header.extend(id);
    header.extend(place.to_be_bytes());
    header.extend([chance.pick(&values::TTLS), protocol, 0, 0]);
    header.extend(addresses);
    header.extend(options);
    let sum = checksum(&header);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    [header, payload].concat()
}

fn ipv6(chance: &mut Chance, scope: Scope, mark: &[u8]) -> Vec<u8> {
    let fragment = fragment(chance);
    let protocol = chance.pick(&[TCP, TCP, UDP, UDP, SCTP, 58, 47]);
    let addresses =
        [chance.pick(&values::V6).to_be_bytes(), chance.pick(&values::V6).to_be_bytes()].concat();
    let payload = payload(chance, protocol, &addresses, fragment, mark);
    let (first, extensions) = extensions(chance, scope, protocol, fragment);
    let length = u16::try_from(extensions.len() + payload.len()).expect("the packet is short");
    let class = traffic_class(chance);
    let first_word = 6 << 28 | u32::from(class) << 20 | chance.pick(&values::FLOW_LABELS);
    let mut header = first_word.to_be_bytes().to_vec();
    header.extend(length.to_be_bytes());
    header.extend([first, chance.pick(&values::TTLS)]);
    header.extend(addresses);
    [header, extensions, payload].concat()
}

/// Extension headers, and the number of the first: hop-by-hop and destination options, routing,
/// authentication, and a fragment header where there is a fragment. There are no atomic fragments
/// (RFC 6946), as Open vSwitch leaves their checksums wrong when it changes an address.
fn extensions(
    chance: &mut Chance,
    scope: Scope,
    protocol: u8,
    fragment: Fragment,
) -> (u8, Vec<u8>) {
    // With four places still to go to, or none.
    let left = if scope.source_routes { chance.pick(&[0, 4]) } else { 0 };
    let routing = vec![0, 0, 1, left, 0, 0, 0, 0];
    let padded = [0, 0, 1, 4, 0, 0, 0, 0].to_vec();
    let authentication = [&[0, 4, 0, 0][..], &[0; 20]].concat();
    let fragmented = match fragment {
        Fragment::First => vec![0, 0, 0, 1, 0, 0, 0, 7],
        _ => vec![0, 0, 0, 25, 0, 0, 0, 8],
    };
    let has_fragment = fragment != Fragment::Not;
    let chosen = [
        (0, padded.clone(), chance.percent(10)),
        (43, routing, chance.percent(5)),
        (44, fragmented, has_fragment),
        (51, authentication, chance.percent(5) && fragment == Fragment::Not),
        (60, padded, chance.percent(10) && fragment == Fragment::Not),
    ];
    let (mut next, mut bytes) = (protocol, Vec::new());
    for (number, mut header, is_there) in chosen.into_iter().rev() {
        if is_there {
            header[0] = next;
            bytes.splice(0..0, header);
            next = number;
        }
    }
    (next, bytes)
}

/// What an IP packet carries: a transport header, unless it is a later fragment, and the mark.
fn payload(
    chance: &mut Chance,
    protocol: u8,
    addresses: &[u8],
    fragment: Fragment,
    mark: &[u8],
) -> Vec<u8> {
    if fragment == Fragment::Later {
        return [&[0x5a; 24], mark].concat();
    }
    let ports = [chance.pick(&values::PORTS), chance.pick(&values::PORTS)].map(u16::to_be_bytes);
    let (mut bytes, sum_at) = match protocol {
        TCP => {
            let flags = chance.pick(&[0x002_u16, 0x012, 0x010, 0x011, 0x018, 0x1c2]) | 0x5000;
            let head = [&ports.concat()[..], &[0, 0, 0, 1, 0, 0, 0, 2], &flags.to_be_bytes()];
            ([&head.concat()[..], &[4, 0, 0, 0, 0, 0]].concat(), Some(16))
        }
        UDP => {
            let length = u16::try_from(8 + 4 + mark.len()).expect("a datagram is short");
            let bytes = [&ports.concat()[..], &length.to_be_bytes(), &[0, 0]].concat();
            // A sender over IPv4 need not make a checksum (RFC 768).
            (bytes, (addresses.len() > 8 || chance.percent(80)).then_some(6))
        }
        SCTP => ([&ports.concat()[..], &[0, 0, 0, 1, 0, 0, 0, 0]].concat(), None),
        1 | 58 => {
            let kind = chance.pick(&values::ICMP_TYPES);
            (vec![kind, chance.pick(&[0, 1]), 0, 0, 0, 7, 0, 1], Some(2))
        }
        _ => (vec![0, 0, 0x88, 0xb5], None),
    };
    bytes.extend([0x77, 0x65, 0x66, 0x74]);
    bytes.extend(mark);
    if let Some(place) = sum_at {
        let sum = transport_checksum(protocol, addresses, &bytes);
        bytes[place..place + 2].copy_from_slice(&sum.to_be_bytes());
    }
    bytes
}

fn transport_checksum(protocol: u8, addresses: &[u8], segment: &[u8]) -> u16 {
    let length = u32::try_from(segment.len()).expect("a segment is short").to_be_bytes();
    let pseudo = [addresses, &length, &[0, 0, 0, protocol], segment].concat();
    match (protocol, checksum(if protocol == 1 { segment } else { &pseudo })) {
        (UDP, 0) => 0xffff,
        (_, sum) => sum,
    }
}

/// The Internet checksum (RFC 1071).
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| match *pair {
        [high, low] => u32::from(u16::from_be_bytes([high, low])),
        _ => u32::from(pair[0]) << 8,
    });
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !u16::try_from(sum).expect("it was folded")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capture, bad_checksums};

    #[test]
    fn wireshark_finds_no_wrong_checksum() {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let path = folder.path().join("random.pcap");
        let (mut chance, scope) = (Chance::new(1), Scope::of(&[]));
        let frames: Vec<Vec<u8>> =
            (0..500_u32).map(|number| frame(&mut chance, scope, number.to_be_bytes())).collect();
        for (number, frame) in (0_u32..).zip(&frames) {
            assert!(frame.ends_with(&number.to_be_bytes()));
        }
        Capture::new(frames).write(&path);
        assert_eq!(bad_checksums(&path), [] as [&str; 0]);
    }
}
