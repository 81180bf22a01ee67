//! The fake host sees in a frame what Weft's own parser sees.

use dataplane::{
    PortId,
    packet::{Fragment, parse},
};
use proptest::{collection::vec, prelude::*, sample::select};
use weft_sdk::{
    abi::{NO_OFFSET, traits},
    testing::describe,
};

fn traits_of(fragment: Fragment) -> u8 {
    match fragment {
        Fragment::Not => 0,
        Fragment::First => traits::FRAGMENT,
        Fragment::Later => traits::FRAGMENT | traits::LATER_FRAGMENT,
    }
}

/// The beginning of a frame that is likely enough to be of use, up to a network header.
fn start() -> impl Strategy<Value = Vec<u8>> {
    let tags = vec(select(&[[0x81, 0, 0, 7], [0x88, 0xa8, 0, 8], [0x91, 0, 0, 9]][..]), 0..4);
    let ethertype = select(&[[8, 0], [0x86, 0xdd], [8, 6], [0, 46], [0x88, 0xcc]][..]);
    (tags, ethertype)
        .prop_map(|(tags, ethertype)| [&[2; 12][..], &tags.concat(), &ethertype].concat())
}

fn protocol() -> impl Strategy<Value = u8> {
    select(&[0, 43, 44, 51, 60, 135, 1, 6, 17, 58, 132, 47, 59][..])
}

fn word() -> impl Strategy<Value = [u8; 2]> {
    prop_oneof![Just(0), Just(1), Just(0x2000), 0_u16..90, any::<u16>()].prop_map(u16::to_be_bytes)
}

fn ipv4() -> impl Strategy<Value = Vec<u8>> {
    let first = prop_oneof![4 => Just(0x45), 1 => Just(0x47), 1 => any::<u8>()];
    (first, word(), word(), protocol()).prop_map(|(first, total, fragment, protocol)| {
        [&[first, 0][..], &total, &[0, 0], &fragment, &[64, protocol], &[10; 10]].concat()
    })
}

fn ipv6() -> impl Strategy<Value = Vec<u8>> {
    let extension = (protocol(), 0_u8..3, word())
        .prop_map(|(next, length, fragment)| [&[next, length][..], &fragment, &[0; 4]].concat());
    (word(), protocol(), vec(extension, 0..11)).prop_map(|(payload, next, extensions)| {
        [&[0x60, 0, 0, 0][..], &payload, &[next, 64], &[9; 32], &extensions.concat()].concat()
    })
}

fn transport() -> impl Strategy<Value = Vec<u8>> {
    let offset = prop_oneof![Just(0x50), any::<u8>()];
    (any::<[u8; 4]>(), word(), offset, 0_usize..60).prop_map(|(ports, length, offset, rest)| {
        [&ports[..], &length, &[0; 6], &[offset], &vec![0; rest]].concat()
    })
}

fn frame() -> impl Strategy<Value = Vec<u8>> {
    let arp = Just([&[0, 1, 8, 0, 6, 4, 0, 1][..], &[0; 20]].concat());
    let network = prop_oneof![ipv4(), ipv6(), arp];
    let frame = (start(), network, transport()).prop_map(|(a, b, c)| [a, b, c].concat());
    (frame, any::<prop::sample::Index>(), any::<bool>()).prop_map(|(mut frame, end, cut)| {
        if cut {
            frame.truncate(end.index(frame.len()));
        }
        frame
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn the_fake_host_finds_the_headers_that_weft_finds(frame in frame()) {
        let found = describe(&frame, 128);
        let fake = (found.ethertype, found.l3, found.l4, found.protocol, found.traits);
        let headers = parse(PortId(1), &frame).map(|parsed| parsed.headers).unwrap_or_default();
        let weft = (
            headers.ethertype,
            headers.l3.unwrap_or(NO_OFFSET),
            headers.l4.unwrap_or(NO_OFFSET),
            headers.protocol,
            traits_of(headers.fragment),
        );
        prop_assert_eq!(fake, weft);
    }
}
