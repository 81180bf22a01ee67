//! Header fields as the engine writes them, against packets built anew with the other value.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::{collections::BTreeMap, net::IpAddr};

use dataplane::{
    DropReason, PortId,
    program::{Action, SetField},
};
use proptest::{collection::vec, option, prelude::*, sample::select};
use support::{
    Rig, any as any_packet,
    frames::{self, DCCP, ICMP, ICMPV6, Ip, SCTP, TCP, UDP, UDP_LITE},
    reason, rule,
};

const A: PortId = PortId(0);

/// A packet by its parts, so that it can be built again with one of them other.
#[derive(Debug, Clone)]
struct Recipe {
    macs: [[u8; 6]; 2],
    tag: Option<[u16; 2]>,
    ip: Ip,
    ports: [u16; 2],
    payload: Vec<u8>,
    /// Whether a UDP sender makes a checksum.
    summed: bool,
    fragment: Option<Fragment>,
    /// How many bytes the checksum of UDP-Lite covers; all, if 0.
    covered: u16,
}

#[derive(Debug, Clone, Copy)]
enum Fragment {
    First,
    Later,
}

impl Recipe {
    /// The frame, with every checksum made from nothing.
    fn frame(&self) -> Vec<u8> {
        let mut segment = self.ip.seal(self.segment());
        if self.ip.protocol == UDP && !self.summed {
            segment[6..8].fill(0);
        }
        let mut ip = self.ip.clone();
        let cut = 24.min(segment.len() / 8 * 8);
        match self.fragment {
            None => (),
            Some(Fragment::First) => {
                segment.truncate(cut);
                ip.fragment = 0x2000;
                ip.extensions.push((44, frames::fragment_header(0, true)));
            }
            Some(Fragment::Later) => {
                segment.drain(..cut);
                ip.fragment = u16::try_from(cut / 8).unwrap();
                ip.extensions.push((44, frames::fragment_header(ip.fragment, false)));
            }
        }
        let mut frame = ip.frame(self.tag.as_slice(), &segment);
        let [destination, source] = self.macs;
        frame[..12].copy_from_slice(&[destination, source].concat());
        frame
    }

    fn segment(&self) -> Vec<u8> {
        match self.ip.protocol {
            TCP => frames::tcp(self.ports, 0x18, &[1; 4], &self.payload),
            UDP => frames::udp(self.ports, &self.payload),
            SCTP => frames::sctp(self.ports, &self.payload),
            UDP_LITE => frames::udp_lite(self.ports, self.covered, &self.payload),
            DCCP => frames::dccp(self.ports, &self.payload),
            _ => frames::icmp(8, 0, &self.payload),
        }
    }

    /// The packet with another value in a field, if it has the field.
    fn with(&self, field: SetField) -> Option<Self> {
        let mut new = self.clone();
        let class = self.ip.traffic_class;
        let has_ports = match self.ip.protocol {
            TCP | UDP => !self.is_later(),
            // The checksum of a fragment hangs on the others.
            SCTP => self.fragment.is_none(),
            _ => false,
        };
        match field {
            SetField::EthDst(mac) => new.macs[0] = mac,
            SetField::EthSrc(mac) => new.macs[1] = mac,
            SetField::VlanVid(vid) => new.tag.as_mut()?[1] = (self.tag?[1] & 0xf000) | vid,
            SetField::VlanPcp(pcp) => {
                new.tag.as_mut()?[1] = (self.tag?[1] & 0x1fff) | u16::from(pcp) << 13;
            }
            SetField::IpSrc(source) => new.ip.source = self.address(source)?,
            SetField::IpDst(destination) => new.ip.destination = self.address(destination)?,
            SetField::Dscp(dscp) => new.ip.traffic_class = dscp << 2 | (class & 3),
            SetField::Ecn(ecn) => new.ip.traffic_class = (class & 0xfc) | ecn,
            SetField::Ttl(ttl) => new.ip.ttl = ttl,
            SetField::Ipv6Label(label) if self.ip.source.len() == 16 => new.ip.label = label,
            SetField::L4Src(port) if has_ports => new.ports[0] = port,
            SetField::L4Dst(port) if has_ports => new.ports[1] = port,
            _ => return None,
        }
        Some(new)
    }

    fn is_later(&self) -> bool {
        matches!(self.fragment, Some(Fragment::Later))
    }

    /// The bytes of an address of this packet's version.
    fn address(&self, address: IpAddr) -> Option<Vec<u8>> {
        let bytes = match address {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        };
        (bytes.len() == self.ip.source.len()).then_some(bytes)
    }

    /// Chooses a word of the payload such that the checksum, before it is sent, is zero.
    fn aimed_at_zero(mut self) -> Self {
        self.payload[..2].fill(0);
        let place = frames::checksum_place(self.ip.protocol).unwrap();
        let checksum = self.ip.seal(self.segment())[place..place + 2].to_vec();
        self.payload[..2].copy_from_slice(&checksum);
        self
    }
}

fn plain(ip: Ip) -> Recipe {
    Recipe {
        macs: [[2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 1]],
        tag: None,
        ip,
        ports: [1000, 53],
        payload: vec![0; 9],
        summed: true,
        fragment: None,
        covered: 0,
    }
}

fn recipe(protocols: Vec<u8>) -> impl Strategy<Value = Recipe> {
    let ip = (any::<bool>(), select(protocols), any::<[u8; 2]>());
    let ip = ip.prop_map(|(v4, protocol, [ttl, traffic_class])| {
        let ip = if v4 { Ip::v4() } else { Ip::v6() };
        Ip { ttl, traffic_class, protocol, ..ip }
    });
    let fragment = option::weighted(0.3, select(vec![Fragment::First, Fragment::Later]));
    let tag = option::of(any::<u16>().prop_map(|tci| [0x8100, tci]));
    let extended = (any::<bool>(), option::of(0_u8..3), any::<[u8; 16]>());
    let covered = select(vec![0, 8, 9, 10]);
    let payload = (vec(any::<u8>(), 2..40), any::<bool>(), covered);
    (ip, extended, tag, any::<[u16; 2]>(), payload, fragment).prop_map(
        |(mut ip, extended, tag, ports, payload, fragment)| {
            let (extended, segments_left, address) = extended;
            let (payload, summed, covered) = payload;
            if let Some(segments_left) = segments_left {
                ip = ip.extended(43, &frames::routing_header(segments_left, address));
            }
            if extended {
                ip.options = vec![1; 8];
                ip = ip.extended(60, &frames::options_header(16));
            }
            Recipe { tag, ports, payload, summed, fragment, covered, ..plain(ip) }
        },
    )
}

fn field() -> impl Strategy<Value = SetField> {
    let address = || any::<IpAddr>();
    prop_oneof![
        1 => any::<[u8; 6]>().prop_map(SetField::EthSrc),
        1 => any::<[u8; 6]>().prop_map(SetField::EthDst),
        1 => (0_u16..0x1000).prop_map(SetField::VlanVid),
        1 => (0_u8..8).prop_map(SetField::VlanPcp),
        4 => address().prop_map(SetField::IpSrc),
        4 => address().prop_map(SetField::IpDst),
        1 => (0_u8..64).prop_map(SetField::Dscp),
        1 => (0_u8..4).prop_map(SetField::Ecn),
        1 => any::<u8>().prop_map(SetField::Ttl),
        1 => (0_u32..1 << 20).prop_map(SetField::Ipv6Label),
        2 => any::<u16>().prop_map(SetField::L4Src),
        2 => any::<u16>().prop_map(SetField::L4Dst),
    ]
}

/// What comes of a frame in which a field is set; `None` if it was dropped for lacking the field.
fn set(field: SetField, frame: Vec<u8>) -> Option<Vec<u8>> {
    let mut rig = Rig::new(1);
    rig.rules(vec![rule(1, 1, any_packet(), &[Action::Set(field), Action::Output(A)])]);
    rig.push(A, &[frame]);
    rig.poll();
    let sent = rig.sent(A).pop();
    let expected = if sent.is_some() { 0 } else { 1 };
    let drops = rig.drops(A).remove(&reason(DropReason::NotApplicable));
    assert_eq!(drops.unwrap_or(0), expected);
    sent
}

/// Sets a field in each of many frames.
fn set_in_all(field: SetField, frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut rig = Rig::new(1);
    rig.rules(vec![rule(1, 1, any_packet(), &[Action::Set(field), Action::Output(A)])]);
    rig.push(A, frames);
    (0..frames.len().div_ceil(32)).for_each(|_| assert!(rig.poll()));
    rig.sent(A)
}

proptest! {
    #![proptest_config(support::tries(2_000))]

    #[test]
    fn a_field_that_is_set_leaves_the_packet_that_would_have_been_built_with_it(
        recipe in recipe(vec![TCP, UDP, UDP, ICMP, ICMPV6, SCTP, SCTP, UDP_LITE, DCCP, 47]),
        field in field(),
        padding in vec(any::<u8>(), 0..7),
    ) {
        let frame = [recipe.frame(), padding.clone()].concat();
        let expected = recipe.with(field).map(|new| [new.frame(), padding].concat());
        prop_assert_eq!(set(field, frame), expected);
    }

    #[test]
    fn a_checksum_that_was_or_becomes_zero_is_right(
        recipe in recipe(vec![TCP, UDP, ICMPV6, UDP_LITE, DCCP]),
        field in field(),
        was in any::<bool>(),
    ) {
        let Some(new) = recipe.with(field) else { return Ok(()) };
        // The payload that makes the checksum zero with the one or the other value of the field.
        let payload = if was { recipe.clone() } else { new }.aimed_at_zero().payload;
        let recipe = Recipe { payload, summed: true, ..recipe };
        let new = recipe.with(field).unwrap();
        prop_assert_eq!(set(field, recipe.frame()), Some(new.frame()));
    }
}

#[test]
fn every_checksum_that_there_can_be_is_kept_right() {
    let source = SetField::IpSrc("172.31.255.254".parse().unwrap());
    let destination = SetField::IpDst("ffff::1".parse().unwrap());
    let cases = [(UDP, Ip::v4(), source), (ICMPV6, Ip::v6(), destination)];
    for (protocol, ip, field) in cases {
        let recipes: Vec<Recipe> = (0..=u16::MAX)
            .map(|word| Recipe { payload: word.to_be_bytes().to_vec(), ..plain(ip.with(protocol)) })
            .collect();
        let frames: Vec<Vec<u8>> = recipes.iter().map(Recipe::frame).collect();
        let expected: Vec<Vec<u8>> =
            recipes.iter().map(|recipe| recipe.with(field).unwrap().frame()).collect();
        assert!(set_in_all(field, &frames) == expected, "protocol {protocol}, {field:?}");
    }
}

#[test]
fn a_udp_packet_without_a_checksum_gets_none() {
    for ip in [Ip::v4(), Ip::v6()] {
        let recipe = Recipe { summed: false, ..plain(ip) };
        let sent = set(SetField::L4Src(9), recipe.frame()).unwrap();
        assert_eq!(sent, recipe.with(SetField::L4Src(9)).unwrap().frame());
        assert!(sent.ends_with(&[&[0, 0][..], &[0; 9]].concat()));
    }
}

#[test]
fn bits_of_a_value_that_do_not_fit_the_field_go_nowhere() {
    let recipe = Recipe { tag: Some([0x8100, 0x6005]), ..plain(Ip::v4()) };
    let pairs = [
        (SetField::VlanVid(0xf007), SetField::VlanVid(7)),
        (SetField::VlanPcp(0xfa), SetField::VlanPcp(2)),
        (SetField::Dscp(0xc1), SetField::Dscp(1)),
        (SetField::Ecn(0xfe), SetField::Ecn(2)),
    ];
    for (wide, narrow) in pairs {
        let expected = recipe.with(narrow).unwrap().frame();
        assert_eq!(set(wide, recipe.frame()), Some(expected), "{wide:?}");
    }
}

#[test]
fn what_is_no_ip_packet_has_no_ip_fields() {
    let arp = frames::ethernet(&[], frames::ARP, &frames::arp(1));
    let fields = [
        SetField::IpSrc("10.0.0.9".parse().unwrap()),
        SetField::Dscp(1),
        SetField::Ecn(1),
        SetField::Ttl(9),
        SetField::L4Dst(9),
        SetField::VlanVid(9),
        SetField::Ipv6Label(9),
        SetField::MplsLabel(9),
        SetField::MplsTtl(9),
    ];
    let sent: BTreeMap<_, _> =
        fields.iter().map(|field| (format!("{field:?}"), set(*field, arp.clone()))).collect();
    assert!(sent.values().all(Option::is_none), "{sent:?}");
}
