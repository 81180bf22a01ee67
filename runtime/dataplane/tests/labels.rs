//! MPLS labels, ARP, copies and metadata as the engine writes them, against packets put together
//! anew.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use dataplane::{
    DropReason, PortId,
    program::{Action, Field, PushMpls, SetField, Tag},
};
use support::{
    Rig, any,
    frames::{self, ARP, IPV4, Ip, MPLS, MPLS_MULTICAST, TCP},
    reason, rule,
};

const A: PortId = PortId(0);
const TAGS: [[u16; 2]; 2] = [[0x88a8, 5], [0x8100, 6]];
const PUSH: PushMpls = PushMpls { ethertype: MPLS, label: 0xabcde, traffic_class: 5, ttl: Some(9) };

/// What comes of a frame that some actions are done with, or why it was dropped.
fn run(actions: &[Action], frame: &[u8]) -> Result<Vec<u8>, u16> {
    let mut rig = Rig::new(1);
    let actions = [actions, &[Action::Output(A)]].concat();
    rig.rules(vec![rule(1, 1, any(), &actions)]);
    rig.push(A, &[frame.to_vec()]);
    rig.poll();
    rig.sent(A).pop().ok_or_else(|| *rig.drops(A).first_key_value().unwrap().0)
}

fn not_applicable() -> Result<Vec<u8>, u16> {
    Err(reason(DropReason::NotApplicable))
}

/// A packet of TTL 64, and a frame of it behind some tags and labels.
fn packet() -> Vec<u8> {
    Ip::v4().sealed(&[], frames::udp([1, 2], &[3; 9]))[14..].to_vec()
}

fn labelled(tags: &[[u16; 2]], ethertype: u16, entries: &[[u8; 4]]) -> Vec<u8> {
    frames::ethernet(tags, ethertype, &[entries.concat(), packet()].concat())
}

#[test]
fn a_label_goes_behind_the_tags_and_in_front_of_the_other_labels() {
    for count in 0..3 {
        let tags = &TAGS[..count];
        let bare = frames::ethernet(tags, IPV4, &packet());
        let first = frames::label(0xabcde, 5, true, 9);
        let once = labelled(tags, MPLS, &[first]);
        assert_eq!(run(&[Action::PushMpls(PUSH)], &bare), Ok(once.clone()));

        let second = PushMpls { ethertype: MPLS_MULTICAST, label: 3, traffic_class: 0, ttl: None };
        let twice = labelled(tags, MPLS_MULTICAST, &[frames::label(3, 0, false, 9), first]);
        assert_eq!(run(&[Action::PushMpls(second)], &once), Ok(twice.clone()));
        assert_eq!(run(&[Action::PushMpls(PUSH), Action::PushMpls(second)], &bare), Ok(twice));
    }
}

#[test]
fn a_label_has_the_ttl_that_is_said_or_that_of_what_it_is_put_on() {
    let push = Action::PushMpls(PushMpls { ttl: None, ..PUSH });
    let ttl = |frame: &[u8]| run(&[push], frame).unwrap()[17];
    assert_eq!(ttl(&Ip { ttl: 7, ..Ip::v4() }.sealed(&[], frames::udp([1, 2], &[]))), 7);
    assert_eq!(ttl(&Ip { ttl: 8, ..Ip::v6() }.sealed(&[], frames::udp([1, 2], &[]))), 8);
    assert_eq!(ttl(&labelled(&[], MPLS, &[frames::label(1, 0, true, 3)])), 3);
    assert_eq!(ttl(&frames::ethernet(&[], ARP, &frames::arp(1))), 64);
    assert_eq!(ttl(&frames::ethernet(&[], 0x88cc, &[])), 64);
}

#[test]
fn what_has_a_length_for_an_ethertype_takes_no_label() {
    let frame = frames::ethernet(&[], 0x0026, &[0x42; 38]);
    assert_eq!(run(&[Action::PushMpls(PUSH)], &frame), not_applicable());
}

#[test]
fn a_label_comes_off_and_the_last_one_shows_what_it_was_on() {
    let pop = Action::PopMpls { ethertype: IPV4 };
    for count in 0..3 {
        let tags = &TAGS[..count];
        let entries = [frames::label(3, 0, false, 9), frames::label(4, 0, true, 9)];
        let twice = labelled(tags, MPLS_MULTICAST, &entries);
        let once = labelled(tags, MPLS_MULTICAST, &entries[1..]);
        let bare = frames::ethernet(tags, IPV4, &packet());
        assert_eq!(run(&[pop], &twice), Ok(once));
        assert_eq!(run(&[pop, pop], &twice), Ok(bare.clone()));
        assert_eq!(run(&[pop], &bare), not_applicable());
        assert_eq!(run(&[pop, pop, pop], &twice), not_applicable());
    }
    let cut = frames::ethernet(&[], MPLS, &[0, 0, 1]);
    assert_eq!(run(&[pop], &cut), not_applicable());
}

#[test]
fn what_was_behind_a_label_can_be_changed_once_it_is_off() {
    let pop = Action::PopMpls { ethertype: IPV4 };
    let frame = labelled(&[], MPLS, &[frames::label(3, 0, true, 9)]);
    assert_eq!(run(&[Action::DecrementTtl], &frame), not_applicable());
    let expected = Ip { ttl: 63, ..Ip::v4() }.sealed(&[], frames::udp([1, 2], &[3; 9]));
    assert_eq!(run(&[pop, Action::DecrementTtl], &frame), Ok(expected));
}

#[test]
fn a_tag_may_come_before_a_label() {
    let actions = [Action::PushMpls(PUSH), Action::PushVlan(Tag { tpid: 0x8100, tci: 7 })];
    let expected = labelled(&[[0x8100, 7]], MPLS, &[frames::label(0xabcde, 5, true, 9)]);
    assert_eq!(run(&actions, &frames::ethernet(&[], IPV4, &packet())), Ok(expected));
}

#[test]
fn fields_of_a_label_are_written_and_their_neighbours_left() {
    let frame = |label, class, ttl| {
        labelled(&[[0x8100, 5]], MPLS, &[frames::label(label, class, false, ttl)])
    };
    let before = frame(0xfffff, 0, 2);
    for (action, expected) in [
        (Action::Set(SetField::MplsLabel(16)), Ok(frame(16, 0, 2))),
        (Action::Set(SetField::MplsLabel(0xfff0_0010)), Ok(frame(16, 0, 2))),
        (Action::Set(SetField::MplsTrafficClass(7)), Ok(frame(0xfffff, 7, 2))),
        (Action::Set(SetField::MplsTrafficClass(0xfa)), Ok(frame(0xfffff, 2, 2))),
        (Action::Set(SetField::MplsTtl(255)), Ok(frame(0xfffff, 0, 255))),
        (Action::DecrementMplsTtl, Ok(frame(0xfffff, 0, 1))),
    ] {
        assert_eq!(run(&[action], &before), expected, "{action:?}");
        let bare = frames::ethernet(&[], IPV4, &packet());
        assert_eq!(run(&[action], &bare), not_applicable(), "{action:?}");
    }
    for ttl in [0, 1] {
        let expired = Err(reason(DropReason::TtlExpired));
        assert_eq!(run(&[Action::DecrementMplsTtl], &frame(1, 0, ttl)), expired);
    }
}

/// An ARP packet with these addresses.
fn arp(operation: u8, sender: ([u8; 6], [u8; 4]), target: ([u8; 6], [u8; 4])) -> Vec<u8> {
    let head = [0, 1, 8, 0, 6, 4, 0, operation];
    let addresses = [&sender.0[..], &sender.1, &target.0, &target.1].concat();
    frames::ethernet(&[[0x8100, 5]], ARP, &[&head, &addresses[..]].concat())
}

const ME: ([u8; 6], [u8; 4]) = ([2, 0, 0, 0, 0, 9], [10, 0, 0, 9]);
const PEER: ([u8; 6], [u8; 4]) = ([2, 0, 0, 0, 0, 1], [10, 0, 0, 1]);
const NOBODY: [u8; 6] = [0; 6];

#[test]
fn fields_of_arp_are_written_and_their_neighbours_left() {
    let before = arp(1, PEER, (NOBODY, ME.1));
    for (field, expected) in [
        (SetField::ArpOperation(2), arp(2, PEER, (NOBODY, ME.1))),
        (SetField::ArpSha(ME.0), arp(1, (ME.0, PEER.1), (NOBODY, ME.1))),
        (SetField::ArpSpa(ME.1), arp(1, (PEER.0, ME.1), (NOBODY, ME.1))),
        (SetField::ArpTha(PEER.0), arp(1, PEER, (PEER.0, ME.1))),
        (SetField::ArpTpa(PEER.1), arp(1, PEER, (NOBODY, PEER.1))),
    ] {
        assert_eq!(run(&[Action::Set(field)], &before), Ok(expected), "{field:?}");
        let bare = frames::ethernet(&[], IPV4, &packet());
        assert_eq!(run(&[Action::Set(field)], &bare), not_applicable(), "{field:?}");
    }
}

#[test]
fn a_request_becomes_its_reply_by_copies() {
    let copy = |from, to| Action::Copy { from, to };
    let actions = [
        copy(Field::EthSrc, Field::EthDst),
        Action::Set(SetField::EthSrc(ME.0)),
        Action::Set(SetField::ArpOperation(2)),
        copy(Field::ArpSha, Field::ArpTha),
        Action::Set(SetField::ArpSha(ME.0)),
        // The two addresses change places, by way of the metadata.
        copy(Field::ArpTpa, Field::Metadata),
        copy(Field::ArpSpa, Field::ArpTpa),
        copy(Field::Metadata, Field::ArpSpa),
    ];
    let mut expected = arp(2, ME, PEER);
    expected[..12].copy_from_slice(&[[2, 0, 0, 0, 0, 1], ME.0].concat());
    assert_eq!(run(&actions, &arp(1, PEER, (NOBODY, ME.1))), Ok(expected));
}

#[test]
fn a_copy_keeps_checksums_right() {
    let segment = |ports| frames::tcp(ports, 0x18, &[], b"data");
    for ip in [Ip::v4().with(TCP), Ip::v6().with(TCP)] {
        let to = |destination: &[u8]| Ip { destination: destination.to_vec(), ..ip.clone() };
        let addresses = [Action::Copy { from: Field::IpSrc, to: Field::IpDst }];
        let expected = to(&ip.source).sealed(&[], segment([1, 2]));
        assert_eq!(run(&addresses, &ip.sealed(&[], segment([1, 2]))), Ok(expected));

        let ports = [Action::Copy { from: Field::L4Dst, to: Field::L4Src }];
        let expected = ip.sealed(&[], segment([2, 2]));
        assert_eq!(run(&ports, &ip.sealed(&[], segment([1, 2]))), Ok(expected));
    }
}

#[test]
fn metadata_lends_its_low_bits_to_a_field_and_keeps_the_others() {
    let set = |value, mask| Action::SetMetadata { value, mask };
    let copy = |from, to| Action::Copy { from, to };
    let frame = Ip::v4().sealed(&[], frames::udp([1, 2], &[]));
    // Of 0x1111_2222_3333_4444 the low 16 bits become the port 2; then all 48 are the address.
    let actions = [
        set(0x1111_2222_0000_0000, 0xffff_ffff_0000_0000),
        set(0x3333_4444, 0xffff_ffff),
        copy(Field::L4Dst, Field::Metadata),
        copy(Field::Metadata, Field::EthSrc),
    ];
    let mut expected = frame.clone();
    expected[6..12].copy_from_slice(&[0x22, 0x22, 0x33, 0x33, 0, 2]);
    assert_eq!(run(&actions, &frame), Ok(expected));
}

#[test]
fn what_does_not_fit_or_is_not_there_is_not_copied() {
    let copy = |from, to| [Action::Copy { from, to }];
    let v4 = Ip::v4().sealed(&[], frames::udp([1, 2], &[]));
    let v6 = Ip::v6().sealed(&[], frames::udp([1, 2], &[]));
    for (from, to, frame) in [
        (Field::EthSrc, Field::IpSrc, &v4),
        (Field::IpSrc, Field::L4Src, &v4),
        (Field::L4Src, Field::EthSrc, &v4),
        (Field::IpSrc, Field::Metadata, &v6),
        (Field::Metadata, Field::IpSrc, &v6),
        (Field::ArpSpa, Field::IpSrc, &v4),
        (Field::ArpSha, Field::EthSrc, &v4),
        (Field::EthSrc, Field::ArpSha, &v4),
        (Field::L4Src, Field::L4Dst, &arp(1, PEER, ME)),
        (Field::IpSrc, Field::ArpSpa, &arp(1, PEER, ME)),
    ] {
        assert_eq!(run(&copy(from, to), frame), not_applicable(), "{from:?} to {to:?}");
    }
}
