//! Frames, rules and actions by chance, out of so few values that they often meet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use dataplane::{
    DropReason, GroupId, MeterId, PortId, StageId, TableId,
    classify::{Pattern, Rule},
    flow::{FlowKey, layers, mpls, vlan},
    group::Kind,
    meter::Treatment,
    program::{Action, Field, PushMpls, SetField, Tag},
};

use super::{
    dice::Dice,
    equipment::{Equipment, Way},
    frames::{self, Ip},
    model, new_rule,
};

/// The ports that there can be; one more is named by actions.
pub const PORTS: u16 = 4;

const PROTOCOLS: [u8; 10] = [
    frames::TCP,
    frames::TCP,
    frames::UDP,
    frames::UDP,
    frames::ICMP,
    frames::ICMPV6,
    frames::SCTP,
    frames::UDP_LITE,
    frames::DCCP,
    47,
];

/// A frame: mostly of a kind that the engine knows, at times cut, padded or with a byte changed.
pub fn frame(dice: &mut Dice) -> Vec<u8> {
    let mut frame = match dice.below(20) {
        0 => frames::ethernet(&tags(dice), 0x88cc, &[7; 9]),
        1 => vec![0; dice.below(20)],
        2 | 3 => frames::ethernet(&tags(dice), frames::ARP, &frames::arp(dice.pick(&[1, 2]))),
        4 | 5 => labelled_frame(dice),
        _ => ip_frame(dice),
    };
    frame.extend(vec![0; dice.pick(&[0, 0, 1, 6])]);
    if dice.once_in(10) && !frame.is_empty() {
        let place = dice.below(frame.len());
        frame[place] = dice.byte();
    }
    if dice.once_in(20) {
        frame.truncate(dice.below(frame.len() + 1));
    }
    frame
}

fn labelled_frame(dice: &mut Dice) -> Vec<u8> {
    let count = dice.pick(&[1, 1, 2]);
    let entry = |dice: &mut Dice, is_last| {
        frames::label(
            dice.pick(&[3, 16, 0xfffff]),
            dice.pick(&[0, 5]),
            is_last,
            dice.pick(&[0, 1, 2, 64]),
        )
    };
    let entries: Vec<[u8; 4]> = (1..=count).map(|place| entry(dice, place == count)).collect();
    let packet = ip_frame(dice).split_off(14);
    let ethertype = dice.pick(&[frames::MPLS, frames::MPLS, frames::MPLS_MULTICAST]);
    frames::ethernet(&tags(dice), ethertype, &[entries.concat(), packet].concat())
}

fn ip_frame(dice: &mut Dice) -> Vec<u8> {
    let mut ip = if dice.once_in(2) { Ip::v4() } else { Ip::v6() };
    let last = ip.source.len() - 1;
    ip.source[last] = dice.pick(&[1, 2, 3]);
    ip.destination[last] = dice.pick(&[1, 2, 255]);
    ip.ttl = dice.pick(&[0, 1, 2, 3, 64, 255]);
    ip.traffic_class = dice.pick(&[0, 0, 4, 0xb9]);
    ip.label = dice.pick(&[0, 1, 0xfffff]);
    ip.protocol = dice.pick(&PROTOCOLS);
    if dice.once_in(6) {
        let address = dice.bytes(16).try_into().unwrap();
        ip = ip.extended(43, &frames::routing_header(dice.pick(&[0, 1, 2]), address));
    }
    let mut segment = ip.seal(segment(ip.protocol, dice));
    if ip.protocol == frames::UDP && dice.once_in(4) {
        segment[6..8].fill(0);
    }
    if dice.once_in(5) {
        segment.truncate(segment.len() / 8 * 8);
        let (offset, more) = dice.pick(&[(0, true), (3, false)]);
        ip.fragment = if more { 0x2000 } else { offset };
        ip = ip.extended(44, &frames::fragment_header(offset, more));
    } else if dice.once_in(6) {
        ip.options = vec![1; 4];
        ip = ip.extended(60, &frames::options_header(8));
    }
    ip.frame(&tags(dice), &segment)
}

fn segment(protocol: u8, dice: &mut Dice) -> Vec<u8> {
    let ports = [dice.pick(&[1, 53]), dice.pick(&[2, 53, 0xff00])];
    let length = dice.below(10);
    let payload = dice.bytes(length);
    match protocol {
        frames::TCP => frames::tcp(ports, dice.pick(&[2, 0x10, 0x12]), &[], &payload),
        frames::UDP => frames::udp(ports, &payload),
        frames::ICMP | frames::ICMPV6 => frames::icmp(dice.pick(&[8, 0, 128]), 0, &payload),
        frames::SCTP => frames::sctp(ports, &payload),
        frames::UDP_LITE => frames::udp_lite(ports, dice.pick(&[0, 8]), &payload),
        frames::DCCP => frames::dccp(ports, &payload),
        _ => dice.bytes(8),
    }
}

fn tags(dice: &mut Dice) -> Vec<[u16; 2]> {
    let count = dice.pick(&[0, 0, 0, 0, 1, 1, 2, 3]);
    (0..count).map(|_| [dice.pick(&model::TAGS), dice.pick(&[5, 0x6005, 0x1007])]).collect()
}

/// A rule, of which the pattern is some fields of a frame's key.
pub fn rule(id: u64, dice: &mut Dice) -> (TableId, Rule) {
    let in_port = PortId(u16::try_from(dice.below(PORTS.into())).unwrap());
    let value = model::read(in_port, &frame(dice)).map(|parsed| parsed.key).unwrap_or_default();
    let mask = (0..dice.below(4)).fold(FlowKey::default(), |mask, _| mask.union(&field(dice)));
    let actions = (0..dice.pick(&[0, 1, 1, 2, 2, 3, 4, 6])).map(|_| action(dice)).collect();
    let priority = dice.pick(&[1, 1, 2, 3]);
    // A range of ports is several patterns.
    let mut patterns = vec![Pattern::new(&value, &mask)];
    if dice.once_in(8) {
        let value = FlowKey { l4_dst: dice.pick(&[53, 0xff00]), ..value };
        patterns.push(Pattern::new(&value, &mask.union(&field(dice))));
    }
    let table = TableId(dice.pick(&[0, 0, 0, 1, 2, 3]));
    (table, new_rule(id, priority, patterns, actions))
}

/// The mask of one field, or of a part of one.
pub fn field(dice: &mut Dice) -> FlowKey {
    let none = FlowKey::default;
    let number = dice.pick(&[u16::MAX, 0x00ff, 1]);
    let mut address = [0; 16];
    address[..dice.pick(&[16, 4, 3, 1])].fill(0xff);
    let [a, b, c, d, ..] = address;
    match dice.below(19) {
        0 => FlowKey { in_port: u16::MAX, ..none() },
        1 => FlowKey { ethertype: u16::MAX, ..none() },
        2 => FlowKey { vlan: [dice.pick(&[vlan::PRESENT, vlan::VID, vlan::PCP]), 0], ..none() },
        3 => FlowKey { vlan: [0, u16::MAX], ..none() },
        4 => FlowKey { eth_dst: [0xff; 6], ..none() },
        5 => FlowKey { protocol: u8::MAX, layers: layers::IP, ..none() },
        6 => FlowKey { traffic_class: dice.pick(&[0xfc, 0x03]), ..none() },
        7 => FlowKey { ttl: u8::MAX, ..none() },
        8 => FlowKey { layers: dice.pick(&[0x02, 0x0c, 0x1f]), ..none() },
        9 => FlowKey { ipv4_src: [a, b, c, d], ipv6_src: address, ..none() },
        10 => FlowKey { ipv4_dst: [a, b, c, d], ipv6_dst: address, ..none() },
        11 => FlowKey { l4_src: number, layers: layers::TRANSPORT, ..none() },
        12 => FlowKey { l4_dst: number, layers: layers::TRANSPORT, ..none() },
        13 => FlowKey { mpls: dice.pick(&[mpls::LABEL | mpls::PRESENT, mpls::BOTTOM]), ..none() },
        14 => FlowKey { ipv6_label: dice.pick(&[u32::MAX, 1]), ..none() },
        15 | 16 => FlowKey { metadata: dice.pick(&[u64::MAX, 1, 0xff00]), ..none() },
        17 => FlowKey { protocol: u8::MAX, ethertype: u16::MAX, ..none() },
        _ => FlowKey { tcp_flags: dice.pick(&[0x002, 0xfff]), ..none() },
    }
}

fn action(dice: &mut Dice) -> Action {
    let small = |dice: &mut Dice, limit| u8::try_from(dice.below(limit)).unwrap();
    match dice.below(28) {
        0..=3 => Action::Output(PortId(small(dice, usize::from(PORTS) + 1).into())),
        4 => Action::Drop(DropReason::RuleDrop),
        5..=7 => Action::Set(set_field(dice)),
        8 | 9 => Action::DecrementTtl,
        10 => {
            let tci = dice.pick(&[5, 0x6005, 0xe00a]);
            Action::PushVlan(Tag { tpid: dice.pick(&[0x8100, 0x88a8, 0x1234]), tci })
        }
        11 => Action::PopVlan,
        12 | 13 => Action::Stage(StageId(small(dice, 3).into())),
        14 => Action::PushMpls(push_mpls(dice)),
        15 => Action::PopMpls { ethertype: dice.pick(&[frames::IPV4, frames::IPV6, 0x8100, 7]) },
        16 => Action::DecrementMplsTtl,
        17 => {
            let bits = [u64::MAX, 0, 1, 0x0100, 0xff00];
            Action::SetMetadata { value: dice.pick(&bits), mask: dice.pick(&bits) }
        }
        20 => dice.pick(&[Action::Normal, Action::Flood]),
        21 => Action::Mirror(PortId(small(dice, usize::from(PORTS) + 1).into())),
        22 => Action::Sample { rate: 1, port: PortId(1) },
        23 | 24 => Action::Meter(MeterId(small(dice, 7).into())),
        25 | 26 => Action::Group(GroupId(small(dice, 5).into())),
        18 | 19 => Action::Copy { from: field_to_copy(dice), to: field_to_copy(dice) },
        _ => Action::Goto(TableId(small(dice, 5))),
    }
}

fn push_mpls(dice: &mut Dice) -> PushMpls {
    PushMpls {
        ethertype: dice.pick(&[frames::MPLS, frames::MPLS_MULTICAST]),
        label: dice.pick(&[3, 16, 0xfffff]),
        traffic_class: dice.pick(&[0, 7]),
        ttl: dice.pick(&[None, None, Some(1), Some(9)]),
    }
}

fn field_to_copy(dice: &mut Dice) -> Field {
    dice.pick(&[
        Field::EthSrc,
        Field::EthDst,
        Field::IpSrc,
        Field::IpDst,
        Field::ArpSpa,
        Field::ArpTpa,
        Field::ArpSha,
        Field::ArpTha,
        Field::L4Src,
        Field::L4Dst,
        Field::Metadata,
        Field::Metadata,
    ])
}

/// Meters 0 to 5 and groups 0 to 3; the next numbers, which actions name too, are of none.
pub fn equipment(dice: &mut Dice) -> Equipment {
    let treatments = [Treatment::Pass, Treatment::Drop, Treatment::Remark(46)];
    let meters = (0..6).map(|id| (MeterId(id), treatments[usize::from(id) / 2]));
    let kinds = [Kind::All, Kind::Select, Kind::Select, Kind::FastFailover];
    let groups = (0..).zip(kinds).map(|(id, kind)| (GroupId(id), (kind, ways(dice))));
    let groups = groups.collect();
    let up = (0..PORTS).filter(|_| !dice.once_in(3)).map(PortId).collect();
    Equipment { treatments: meters.collect(), groups, up }
}

fn ways(dice: &mut Dice) -> Vec<Way> {
    let count = dice.pick(&[1, 2, 3, 5]);
    let way = |dice: &mut Dice| Way {
        actions: (0..dice.pick(&[0, 1, 1, 2, 3])).map(|_| bucket_action(dice)).collect(),
        weight: dice.pick(&[1, 1, 2, 100]),
        watch: dice.pick(&[None, Some(0), Some(1), Some(2)]).map(PortId),
    };
    (0..count).map(|_| way(dice)).collect()
}

/// What a bucket may do: no goto, no stage, nothing with a state.
fn bucket_action(dice: &mut Dice) -> Action {
    loop {
        match action(dice) {
            Action::Goto(_)
            | Action::Stage(_)
            | Action::Group(_)
            | Action::Meter(_)
            | Action::Normal
            | Action::Flood
            | Action::Mirror(_)
            | Action::Sample { .. } => {}
            change => return change,
        }
    }
}

fn set_field(dice: &mut Dice) -> SetField {
    let address = |dice: &mut Dice| match dice.below(2) {
        0 => IpAddr::V4(Ipv4Addr::new(10, 0, 0, dice.pick(&[1, 2, 255]))),
        _ => IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, dice.pick(&[1, 2, 0xffff]))),
    };
    let mac = [2, 0, 0, 0, 0, dice.pick(&[1, 9])];
    match dice.below(20) {
        0 => SetField::EthSrc(mac),
        1 => SetField::EthDst(mac),
        2 => SetField::VlanVid(dice.pick(&[0, 5, 0xfff])),
        3 => SetField::VlanPcp(dice.pick(&[0, 7])),
        4 => SetField::IpSrc(address(dice)),
        5 => SetField::IpDst(address(dice)),
        6 => SetField::Dscp(dice.pick(&[0, 1, 63])),
        7 => SetField::Ecn(dice.pick(&[0, 3])),
        8 => SetField::Ttl(dice.pick(&[0, 1, 2, 255])),
        9 => SetField::L4Src(dice.pick(&[0, 1, 0xffff])),
        10 => SetField::MplsLabel(dice.pick(&[3, 0xfffff])),
        11 => SetField::MplsTrafficClass(dice.pick(&[0, 5])),
        12 => SetField::MplsTtl(dice.pick(&[0, 1, 255])),
        13 => SetField::ArpOperation(dice.pick(&[1, 2])),
        14 => SetField::ArpSpa([10, 0, 0, dice.pick(&[1, 9])]),
        15 => SetField::ArpTpa([10, 0, 0, dice.pick(&[1, 9])]),
        16 => SetField::ArpSha(mac),
        17 => SetField::ArpTha(mac),
        18 => SetField::Ipv6Label(dice.pick(&[0, 1, 0xfffff])),
        _ => SetField::L4Dst(dice.pick(&[0, 2, 0xffff])),
    }
}
