use super::super::{
    chance::Chance,
    rule::{Conditions, FragmentCondition, IpCondition, PORTS, PortsCondition, VlanCondition},
    traffic::values,
};

const MAC_MASKS: [[u8; 6]; 3] = [[0xff; 6], [0xff, 0xff, 0xff, 0xff, 0xff, 0], [1, 0, 0, 0, 0, 0]];
const V4_MASKS: [u32; 5] = [u32::MAX, 0xffff_ff00, 0xffff_0000, 0xff00_00ff, 0x0000_0001];
const V6_MASKS: [u128; 4] = [u128::MAX, u128::MAX << 64, u128::MAX << 8, 0xffff];
const PORT_MASKS: [u16; 4] = [u16::MAX, 0xfff0, 0xff00, 1];
const PORT_RANGES: [(u16, u16); 4] = [(0, 1023), (1024, u16::MAX), (50, 443), (443, 40_000)];
const TCP_FLAGS: [(u16, u16); 5] =
    [(0x002, 0x012), (0x010, 0x010), (0x012, 0x1ff), (0x000, 0x005), (0x100, 0x1c0)];

/// What packets a rule is about, as far as fields need each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    Frames,
    Arp,
    Mpls,
    Ip,
    V4,
    V6,
}

impl About {
    pub(super) fn any(chance: &mut Chance) -> Self {
        use About::{Arp, Frames, Ip, Mpls, V4, V6};
        chance.pick(&[Frames, Frames, Arp, Mpls, Ip, V4, V4, V4, V6, V6])
    }
}

pub(super) fn conditions(chance: &mut Chance, about: About) -> Conditions {
    let mut conditions = frame_conditions(chance);
    match about {
        About::Frames => conditions.eth_type = chance.maybe(30, &values::OTHER_TYPES),
        About::Arp => arp_conditions(chance, &mut conditions),
        About::Mpls => {
            conditions.eth_type = Some(0x8847);
            conditions.mpls_label = chance.maybe(40, &values::LABELS);
            conditions.mpls_tc = chance.maybe(20, &values::PCPS);
            conditions.mpls_bos = chance.maybe(30, &[0, 1]);
        }
        About::Ip | About::V4 | About::V6 => ip_conditions(chance, about, &mut conditions),
    }
    conditions
}

fn frame_conditions(chance: &mut Chance) -> Conditions {
    let metadata = chance.pick(&values::METADATA);
    Conditions {
        in_port: chance.maybe(20, &PORTS),
        eth_src: mac(chance, 8),
        eth_dst: mac(chance, 8),
        vlan: match chance.below(10) {
            0 => Some(VlanCondition::Untagged),
            1 => {
                let vid = chance.pick(&values::VIDS);
                Some(VlanCondition::Tagged(vid, chance.maybe(30, &values::PCPS)))
            }
            _ => None,
        },
        metadata: chance.percent(8).then_some(metadata),
        ..Conditions::default()
    }
}

fn mac(chance: &mut Chance, share: usize) -> Option<([u8; 6], [u8; 6])> {
    let (address, mask) = (chance.pick(&values::MACS), chance.pick(&MAC_MASKS));
    let value = std::array::from_fn(|place| address[place] & mask[place]);
    chance.percent(share).then_some((value, mask))
}

fn arp_conditions(chance: &mut Chance, conditions: &mut Conditions) {
    conditions.eth_type = Some(0x0806);
    conditions.arp_op = chance.maybe(40, &[1, 2]);
    conditions.arp_spa = v4(chance, 20);
    conditions.arp_tpa = v4(chance, 20);
    conditions.arp_sha = mac(chance, 12);
    conditions.arp_tha = mac(chance, 12);
}

fn ip_conditions(chance: &mut Chance, about: About, conditions: &mut Conditions) {
    match about {
        About::V4 => {
            conditions.ip_src = v4(chance, 35);
            conditions.ip_dst = v4(chance, 35);
        }
        About::V6 => {
            conditions.ip_src = v6(chance);
            conditions.ip_dst = v6(chance);
            conditions.ipv6_label = chance.maybe(10, &values::FLOW_LABELS);
        }
        _ => {}
    }
    let is_known = conditions.ip_src.is_some() || conditions.ip_dst.is_some();
    let ethertype = if about == About::V4 { 0x0800 } else { 0x86dd };
    if about != About::Ip && (!is_known || chance.percent(50)) {
        conditions.eth_type = Some(ethertype);
    }
    conditions.ip_dscp = chance.maybe(8, &values::DSCPS);
    conditions.ip_ecn = chance.maybe(6, &values::ECNS);
    conditions.ip_ttl = chance.maybe(6, &values::TTLS);
    let fragments = [
        FragmentCondition::No,
        FragmentCondition::First,
        FragmentCondition::Later,
        FragmentCondition::Any,
    ];
    conditions.ip_frag = chance.maybe(10, &fragments);
    if chance.percent(60) || (about == About::Ip && !is_ip(conditions)) {
        transport_conditions(chance, about, conditions);
    }
}

fn is_ip(conditions: &Conditions) -> bool {
    conditions.ip_dscp.is_some()
        || conditions.ip_ecn.is_some()
        || conditions.ip_ttl.is_some()
        || conditions.ip_frag.is_some()
}

fn v4(chance: &mut Chance, share: usize) -> Option<IpCondition> {
    let (address, mask) = (chance.pick(&values::V4), chance.pick(&V4_MASKS));
    chance.percent(share).then(|| IpCondition::V4((address & mask).into(), mask.into()))
}

fn v6(chance: &mut Chance) -> Option<IpCondition> {
    let (address, mask) = (chance.pick(&values::V6), chance.pick(&V6_MASKS));
    chance.percent(35).then(|| IpCondition::V6((address & mask).into(), mask.into()))
}

fn transport_conditions(chance: &mut Chance, about: About, conditions: &mut Conditions) {
    let icmp = if about == About::V6 { 58 } else { 1 };
    let protocols = [6, 17, 132, 47, icmp];
    // Without a version, ICMP would say one.
    let protocol = chance.pick(if about == About::Ip { &protocols[..4] } else { &protocols });
    conditions.ip_proto = Some(protocol);
    let is_later = conditions.ip_frag == Some(FragmentCondition::Later);
    let mut behind = false;
    if !is_later && [6, 17, 132].contains(&protocol) {
        conditions.l4_src = ports(chance);
        conditions.l4_dst = ports(chance);
        behind = conditions.l4_src.is_some() || conditions.l4_dst.is_some();
    }
    if !is_later && protocol == 6 && chance.percent(30) {
        conditions.tcp_flags = Some(chance.pick(&TCP_FLAGS));
        behind = true;
    }
    if !is_later && protocol == icmp && chance.percent(60) {
        conditions.icmp_type = Some(chance.pick(&values::ICMP_TYPES));
        conditions.icmp_code = chance.maybe(40, &[0, 1]);
        behind = true;
    }
    let may_be_later =
        !matches!(conditions.ip_frag, Some(FragmentCondition::No | FragmentCondition::First));
    if !behind && about != About::V4 && may_be_later {
        let whole = [FragmentCondition::No, FragmentCondition::First];
        conditions.ip_frag = Some(chance.pick(&whole));
    }
}

fn ports(chance: &mut Chance) -> Option<PortsCondition> {
    let (port, mask) = (chance.pick(&values::PORTS), chance.pick(&PORT_MASKS));
    let (first, last) = chance.pick(&PORT_RANGES);
    match chance.below(100) {
        0..=24 => Some(PortsCondition::Masked(port & mask, mask)),
        25..=34 => Some(PortsCondition::Range(first, last)),
        _ => None,
    }
}
