//! The header parser against etherparse, an independent one.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use dataplane::{
    PortId,
    flow::mpls,
    packet::{Fragment, Parsed, parse},
};
use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use proptest::{prelude::*, sample::select};
use support::{
    frames::{self, Ip},
    model,
};

const PORT: PortId = PortId(7);

/// Frames of all kinds, each with a name, without padding.
fn kinds() -> Vec<(String, Vec<u8>)> {
    let mut kinds = vec![
        ("802.3".into(), frames::ethernet(&[], 0x0026, &[0x42; 38])),
        ("unknown type".into(), frames::ethernet(&[[0x8100, 5]], 0x88cc, &[1; 20])),
        ("ARP reply".into(), frames::ethernet(&[], frames::ARP, &frames::arp(2))),
        ("odd ARP".into(), frames::ethernet(&[[0x8100, 1]], frames::ARP, &frames::arp(0x101))),
    ];
    let entries = [frames::label(0xfffff, 5, false, 9), frames::label(16, 0, true, 64)];
    for (name, entries) in [("label", &entries[1..]), ("labels", &entries)] {
        let packet = Ip::v4().sealed(&[], frames::udp([1, 2], &[3; 4]))[14..].to_vec();
        let payload = [entries.concat(), packet].concat();
        kinds.push((format!("MPLS {name}"), frames::ethernet(&[], frames::MPLS, &payload)));
        let tags = [[0x8100, 5], [0x8100, 6]];
        let frame = frames::ethernet(&tags, frames::MPLS_MULTICAST, &payload);
        kinds.push((format!("MPLS {name} behind tags"), frame));
    }
    for (name, ip) in networks() {
        for (protocol, segment) in segments() {
            let ip = ip.with(protocol);
            kinds.push((format!("{name}, protocol {protocol}"), ip.sealed(&[], segment)));
        }
    }
    for tags in [&[[0x8100, 0x6005]][..], &[[0x88a8, 1], [0x8100, 2]], &[[0x9100, 3]; 3]] {
        for ip in [Ip::v4(), Ip::v6()] {
            let frame = ip.sealed(tags, frames::udp([1, 2], &[3; 4]));
            kinds.push((format!("{} tags", tags.len()), frame));
        }
    }
    kinds
}

fn segments() -> Vec<(u8, Vec<u8>)> {
    vec![
        (frames::TCP, frames::tcp([443, 50_000], 0x112, &[], b"data")),
        (frames::TCP, frames::tcp([443, 50_000], 0x010, &[1; 12], b"data")),
        (frames::UDP, frames::udp([53, 50_000], b"odd")),
        (frames::ICMP, frames::icmp(8, 0, b"ping")),
        (frames::ICMP, frames::icmp(13, 0, &[0; 4])),
        (frames::ICMPV6, frames::icmp(135, 1, &[9; 16])),
        (frames::SCTP, frames::sctp([1, 2], &[4; 4])),
        (47, vec![0; 8]),
    ]
}

fn networks() -> Vec<(&'static str, Ip)> {
    let (v4, v6) = (Ip::v4(), Ip::v6());
    let options = frames::options_header;
    let fragment = frames::fragment_header;
    vec![
        ("IPv4", Ip { traffic_class: 0xb9, ttl: 3, ..v4.clone() }),
        ("IPv4 with options", Ip { options: vec![1; 8], ..v4.clone() }),
        ("first fragment", Ip { fragment: 0x2000, ..v4.clone() }),
        ("later fragment", Ip { fragment: 0x2003, ..v4.clone() }),
        ("last fragment", Ip { fragment: 0x0003, ..v4.clone() }),
        ("not to be fragmented", Ip { fragment: 0x4000, ..v4 }),
        ("IPv6", Ip { traffic_class: 0xb9, ttl: 3, ..v6.clone() }),
        ("hop by hop", v6.clone().extended(0, &options(8))),
        ("hop by hop, not first", v6.clone().extended(60, &options(8)).extended(0, &options(8))),
        ("routing and mobility", v6.clone().extended(43, &options(24)).extended(135, &options(8))),
        ("authentication", v6.clone().extended(51, &frames::authentication_header(24))),
        ("atomic fragment", v6.clone().extended(44, &fragment(0, false))),
        (
            "first IPv6 fragment",
            v6.clone().extended(60, &options(16)).extended(44, &fragment(0, true)),
        ),
        (
            "later IPv6 fragment",
            v6.clone().extended(44, &fragment(9, true)).extended(60, &options(8)),
        ),
        (
            "two fragment headers",
            v6.clone().extended(44, &fragment(0, true)).extended(44, &fragment(0, false)),
        ),
        ("eight extensions", extensions(8)),
        ("nine extensions", extensions(9)),
    ]
}

fn extensions(count: usize) -> Ip {
    (0..count).fold(Ip::v6(), |ip, _| ip.extended(60, &frames::options_header(8)))
}

/// Compares the two, and holds what ours says against etherparse's walk over the whole frame.
fn compare(frame: &[u8]) {
    let ours = parse(PORT, frame);
    assert_eq!(ours, model::read(PORT, frame), "{frame:02x?}");
    if let Some(parsed) = ours
        && let Ok(whole) = SlicedPacket::from_ethernet(frame)
        && parsed.headers.fragment == Fragment::Not
        && let Some((segment, ports)) = transport(&whole)
    {
        let place = u16::try_from(segment.as_ptr() as usize - frame.as_ptr() as usize).unwrap();
        let found = parsed.headers.l4.map(|place| (place, [parsed.key.l4_src, parsed.key.l4_dst]));
        let alike = found == Some((place, ports));
        assert!(alike || (found.is_none() && is_policy(&parsed, &whole)), "{frame:02x?}");
    }
}

/// Whether etherparse shows a transport header that is hidden by our policy (see the model).
fn is_policy(parsed: &Parsed, whole: &SlicedPacket<'_>) -> bool {
    let third_tag = whole.link_exts.len() > 2;
    let other_version = match &whole.net {
        Some(NetSlice::Ipv4(_)) => parsed.headers.ethertype != frames::IPV4,
        Some(NetSlice::Ipv6(_)) => parsed.headers.ethertype != frames::IPV6,
        _ => false,
    };
    let unfollowed = match &whole.net {
        Some(NetSlice::Ipv4(ip)) => ip.extensions().auth.is_some(),
        Some(NetSlice::Ipv6(ip)) => {
            let extensions = ip.extensions().clone().into_iter().count();
            ip.header().payload_length() == 0 || extensions > model::MOST_EXTENSIONS
        }
        _ => false,
    };
    let jumbo = matches!(&whole.transport, Some(TransportSlice::Udp(udp)) if udp.length() == 0);
    third_tag || other_version || unfollowed || jumbo
}

fn transport<'a>(whole: &SlicedPacket<'a>) -> Option<(&'a [u8], [u16; 2])> {
    Some(match whole.transport.as_ref()? {
        TransportSlice::Tcp(it) => (it.slice(), [it.source_port(), it.destination_port()]),
        TransportSlice::Udp(it) => (it.slice(), [it.source_port(), it.destination_port()]),
        TransportSlice::Icmpv4(it) => (it.slice(), [it.type_u8().into(), it.code_u8().into()]),
        TransportSlice::Icmpv6(it) => (it.slice(), [it.type_u8().into(), it.code_u8().into()]),
        TransportSlice::Igmp(_) => return None,
    })
}

#[test]
fn frames_of_all_kinds_are_read_alike_cut_anywhere() {
    for (_, frame) in kinds() {
        (0..=frame.len()).for_each(|length| compare(&frame[..length]));
    }
}

#[test]
fn a_whole_frame_shows_the_headers_that_its_name_says() {
    let hidden =
        ["later", "last", "nine", "3 tags", "802.3", "unknown", "ARP", "protocol 47", "MPLS"];
    for (name, frame) in kinds() {
        let parsed = parse(PORT, &frame).unwrap();
        let expected = !hidden.iter().any(|word| name.contains(word));
        assert_eq!(parsed.headers.l4.is_some(), expected, "{name}");
    }
}

#[test]
fn a_cut_frame_never_shows_a_network_header() {
    for (name, frame) in kinds() {
        if parse(PORT, &frame).unwrap().headers.l3.is_some() {
            for length in 14..frame.len() {
                let parsed = parse(PORT, &frame[..length]).unwrap();
                assert_eq!((parsed.headers.l3, parsed.headers.l4), (None, None), "{name} {length}");
                assert_eq!(parsed.key.layers, 0, "{name}, cut to {length}");
            }
        }
    }
}

#[test]
fn the_outermost_label_is_read_if_it_is_whole() {
    let label = frames::label(0xabcde, 5, false, 0xff);
    let frame = frames::ethernet(&[[0x8100, 5]], frames::MPLS, &label);
    let expected = 0xabcd_ea00 | mpls::PRESENT;
    for (length, expected) in [(18, 0), (21, 0), (22, expected)] {
        assert_eq!(parse(PORT, &frame[..length]).unwrap().key.mpls, expected, "{length} bytes");
    }
    let last = frames::ethernet(&[], frames::MPLS, &frames::label(3, 0, true, 0));
    assert_eq!(parse(PORT, &last).unwrap().key.mpls, 0x3100 | mpls::PRESENT);
}

#[test]
fn padding_changes_nothing() {
    for (name, frame) in kinds() {
        for (length, byte) in [(1, 0), (7, 0xff), (46, 0x45), (1400, 0)] {
            let padded = [&frame[..], &vec![byte; length]].concat();
            assert_eq!(parse(PORT, &padded), parse(PORT, &frame), "{name}, padded by {length}");
        }
    }
}

#[test]
fn a_length_that_lies_hides_the_header_and_what_is_behind_it() {
    let v4 = Ip::v4().sealed(&[], frames::udp([1, 2], &[0; 8]));
    let tcp = Ip::v4().with(frames::TCP).sealed(&[], frames::tcp([1, 2], 2, &[0; 4], &[0; 8]));
    let v6 = Ip::v6().sealed(&[], frames::udp([1, 2], &[0; 8]));
    let seen = |frame: &[u8], place: usize, byte: u8| {
        let mut frame = frame.to_vec();
        frame[place] = byte;
        let headers = parse(PORT, &frame).unwrap().headers;
        (headers.l3.is_some(), headers.l4.is_some())
    };
    let (nothing, network, both) = ((false, false), (true, false), (true, true));
    // IPv4's version and header length; its total length; UDP's length.
    for (byte, expected) in [(0x45, both), (0x44, nothing), (0x4f, nothing), (0x65, nothing)] {
        assert_eq!(seen(&v4, 14, byte), expected, "{byte:#x}");
    }
    for (byte, expected) in [(36, both), (35, network), (28, network), (19, nothing), (37, nothing)]
    {
        assert_eq!(seen(&v4, 17, byte), expected, "total length {byte}");
    }
    for (byte, expected) in [(16, both), (8, both), (7, network), (0, network), (17, network)] {
        assert_eq!(seen(&v4, 39, byte), expected, "UDP length {byte}");
    }
    // IPv6's payload length; TCP's data offset.
    for (byte, expected) in [(16, both), (15, network), (0, network), (17, nothing)] {
        assert_eq!(seen(&v6, 19, byte), expected, "payload length {byte}");
    }
    for (words, expected) in [(5, both), (6, both), (8, both), (9, network), (4, network)] {
        assert_eq!(seen(&tcp, 46, words << 4), expected, "data offset {words}");
    }
}

/// Changes to a frame: bytes written anywhere, and more often where lengths and types are.
fn mutations() -> impl Strategy<Value = Vec<(usize, u8)>> {
    let place = prop_oneof![3 => 12_usize..60, 1 => 0_usize..200];
    let telling =
        select(vec![0, 1, 4, 5, 6, 8, 17, 43, 44, 51, 58, 60, 132, 135, 0x45, 0x81, 0xff]);
    let byte = prop_oneof![any::<u8>(), telling, (0_u8..8).prop_map(|bit| 1 << bit)];
    proptest::collection::vec((place, byte), 1..6)
}

proptest! {
    #![proptest_config(support::tries(6_000))]

    #[test]
    fn frames_with_bytes_changed_are_read_alike(
        (_, mut frame) in select(kinds()),
        changes in mutations(),
        cut in proptest::option::weighted(0.3, any::<prop::sample::Index>()),
        padding in proptest::collection::vec(any::<u8>(), 0..24),
    ) {
        frame.extend(padding);
        for (place, byte) in changes {
            let place = place % frame.len();
            frame[place] = byte;
        }
        frame.truncate(cut.map_or(frame.len(), |cut| cut.index(frame.len())));
        compare(&frame);
    }

    #[test]
    fn noise_behind_an_ethertype_is_read_alike(
        ethertype in select(vec![0x0800_u16, 0x86dd, 0x0806, 0x8847, 0x8100, 0x88a8, 0x0100]),
        first in select(vec![0x45_u8, 0x46, 0x60, 0x6f, 0x00]),
        noise in proptest::collection::vec(any::<u8>(), 0..120),
    ) {
        compare(&frames::ethernet(&[], ethertype, &[&[first][..], &noise].concat()));
    }
}
