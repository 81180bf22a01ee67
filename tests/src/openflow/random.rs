//! Rules at random. Values come from the few that [`frame`](super::frame) knows too, so that rules
//! are hit.
//!
//! What the two systems are known to see in different ways is not drawn:
//! - rules of one priority in one table, of which neither says which wins;
//! - a third VLAN tag, as Open vSwitch keeps two: only rules of the first table push one, and frames
//!   have fewer then, as [`Scope`](super::Scope) says;
//! - the protocol of IPv6's later fragments, which is that of the fragment header in Open vSwitch: a
//!   rule that asks for a protocol, and not for what lies behind, says that it means none of these.

use std::net::IpAddr;

use super::{
    chance::Chance,
    rule::{Action, Conditions, Field, FragmentCondition, IpCondition, PORTS, Rule, VlanCondition},
    traffic::values,
};

const MAC_MASKS: [[u8; 6]; 3] = [[0xff; 6], [0xff, 0xff, 0xff, 0xff, 0xff, 0], [1, 0, 0, 0, 0, 0]];
const V4_MASKS: [u32; 5] = [u32::MAX, 0xffff_ff00, 0xffff_0000, 0xff00_00ff, 0x0000_0001];
const V6_MASKS: [u128; 4] = [u128::MAX, u128::MAX << 64, u128::MAX << 8, 0xffff];
const PORT_MASKS: [u16; 4] = [u16::MAX, 0xfff0, 0xff00, 1];
const TABLES: [u8; 4] = [0, 1, 7, 200];

/// What packets a rule is about, as far as fields need each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    Frames,
    Ip,
    V4,
    V6,
}

/// The rules of one to four tables.
#[must_use]
pub fn rules(chance: &mut Chance) -> Vec<Rule> {
    let tables = &TABLES[..=chance.below(TABLES.len())];
    let mut rules = Vec::new();
    for (place, &table) in tables.iter().enumerate() {
        let count = 3 + chance.below(14);
        for priority in (2..).take(count) {
            rules.push(rule(chance, table, priority, &tables[place + 1..]));
        }
        // What nothing else is about goes somewhere, most of the time.
        if chance.percent(80) {
            let actions = actions(chance, About::Frames, table, &tables[place + 1..]);
            rules.push(Rule { table, priority: 1, conditions: Conditions::default(), actions });
        }
    }
    rules
}

fn rule(chance: &mut Chance, table: u8, priority: u16, later: &[u8]) -> Rule {
    let about = chance.pick(&[
        About::Frames,
        About::Frames,
        About::Ip,
        About::V4,
        About::V4,
        About::V4,
        About::V6,
        About::V6,
    ]);
    let mut conditions = frame_conditions(chance);
    if about == About::Frames {
        conditions.eth_type = chance.maybe(30, &values::OTHER_TYPES);
    } else {
        ip_conditions(chance, about, &mut conditions);
    }
    let known = match conditions.eth_type {
        Some(0x0800) => About::V4,
        Some(0x86dd) => About::V6,
        _ => about,
    };
    let actions = actions(chance, known, table, later);
    let actions = match conditions.eth_type {
        // Refused for what is not IP.
        Some(other) if about == About::Frames => {
            debug_assert!(values::OTHER_TYPES.contains(&other));
            actions.into_iter().filter(|action| !needs_ip(*action)).collect()
        }
        _ => actions,
    };
    Rule { table, priority, conditions, actions: or_drop(actions) }
}

fn or_drop(actions: Vec<Action>) -> Vec<Action> {
    if actions.is_empty() { vec![Action::Drop] } else { actions }
}

fn needs_ip(action: Action) -> bool {
    match action {
        Action::DecrementTtl => true,
        Action::Set(field) => !matches!(
            field,
            Field::EthSrc(_) | Field::EthDst(_) | Field::VlanVid(_) | Field::VlanPcp(_)
        ),
        _ => false,
    }
}

fn frame_conditions(chance: &mut Chance) -> Conditions {
    let mac = |chance: &mut Chance| {
        let (address, mask) = (chance.pick(&values::MACS), chance.pick(&MAC_MASKS));
        let value = std::array::from_fn(|place| address[place] & mask[place]);
        chance.percent(15).then_some((value, mask))
    };
    let tagged = |chance: &mut Chance| {
        let vid = chance.pick(&values::VIDS);
        VlanCondition::Tagged(vid, chance.maybe(30, &values::PCPS))
    };
    Conditions {
        in_port: chance.maybe(30, &PORTS),
        eth_src: mac(chance),
        eth_dst: mac(chance),
        vlan: match chance.below(10) {
            0 => Some(VlanCondition::Untagged),
            1 | 2 => Some(tagged(chance)),
            _ => None,
        },
        ..Conditions::default()
    }
}

fn ip_conditions(chance: &mut Chance, about: About, conditions: &mut Conditions) {
    match about {
        About::V4 => {
            conditions.eth_type = chance.maybe(50, &[0x0800]);
            conditions.ip_src = v4(chance);
            conditions.ip_dst = v4(chance);
        }
        About::V6 => {
            conditions.eth_type = chance.maybe(50, &[0x86dd]);
            conditions.ip_src = v6(chance);
            conditions.ip_dst = v6(chance);
        }
        About::Ip | About::Frames => {}
    }
    if conditions.ip_src.is_none() && conditions.ip_dst.is_none() {
        match about {
            About::V4 => conditions.eth_type = Some(0x0800),
            About::V6 => conditions.eth_type = Some(0x86dd),
            About::Ip | About::Frames => {}
        }
    }
    conditions.ip_dscp = chance.maybe(15, &values::DSCPS);
    conditions.ip_ecn = chance.maybe(10, &values::ECNS);
    conditions.ip_ttl = chance.maybe(10, &values::TTLS);
    let fragments = [
        FragmentCondition::No,
        FragmentCondition::First,
        FragmentCondition::Later,
        FragmentCondition::Any,
    ];
    conditions.ip_frag = chance.maybe(15, &fragments);
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

fn v4(chance: &mut Chance) -> Option<IpCondition> {
    let (address, mask) = (chance.pick(&values::V4), chance.pick(&V4_MASKS));
    chance.percent(45).then(|| IpCondition::V4((address & mask).into(), mask.into()))
}

fn v6(chance: &mut Chance) -> Option<IpCondition> {
    let (address, mask) = (chance.pick(&values::V6), chance.pick(&V6_MASKS));
    chance.percent(45).then(|| IpCondition::V6((address & mask).into(), mask.into()))
}

fn transport_conditions(chance: &mut Chance, about: About, conditions: &mut Conditions) {
    let icmp = if about == About::V6 { 58 } else { 1 };
    let protocols: &[u8] =
        if about == About::Ip { &[6, 17, 132, 47] } else { &[6, 17, 132, 47, icmp] };
    let protocol = chance.pick(protocols);
    conditions.ip_proto = Some(protocol);
    let is_later = conditions.ip_frag == Some(FragmentCondition::Later);
    let mut behind = false;
    if !is_later && [6, 17, 132].contains(&protocol) {
        conditions.l4_src = port(chance);
        conditions.l4_dst = port(chance);
        behind = conditions.l4_src.is_some() || conditions.l4_dst.is_some();
    }
    if !is_later && protocol == 6 && chance.percent(30) {
        let flags =
            [(0x002, 0x012), (0x010, 0x010), (0x012, 0x1ff), (0x000, 0x005), (0x100, 0x1c0)];
        conditions.tcp_flags = Some(chance.pick(&flags));
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

fn port(chance: &mut Chance) -> Option<(u16, u16)> {
    let (port, mask) = (chance.pick(&values::PORTS), chance.pick(&PORT_MASKS));
    chance.percent(45).then_some((port & mask, mask))
}

/// What a rule does: changes, outputs between them, and an end.
fn actions(chance: &mut Chance, about: About, table: u8, later: &[u8]) -> Vec<Action> {
    let mut actions = Vec::new();
    let mut may_tag = true;
    while chance.percent(50) {
        let action = change(chance, about);
        let tags = matches!(
            action,
            Action::PushVlan { .. }
                | Action::PopVlan
                | Action::Set(Field::VlanVid(_) | Field::VlanPcp(_))
        );
        let pushes = matches!(action, Action::PushVlan { .. });
        // After a pop nobody knows whether there is another tag.
        if (tags && !may_tag) || (pushes && table != 0) {
            continue;
        }
        may_tag &= !tags;
        actions.push(action);
        if chance.percent(20) {
            actions.push(Action::Output(chance.pick(&PORTS)));
        }
    }
    match chance.below(10) {
        0 => actions.push(Action::Drop),
        // No end is one, too.
        1 if !actions.is_empty() => {}
        2..=5 if !later.is_empty() => actions.push(Action::Goto(chance.pick(later))),
        // Where there are no rules.
        6 if table < 250 => actions.push(Action::Goto(250)),
        _ => actions.push(Action::Output(chance.pick(&PORTS))),
    }
    actions
}

fn change(chance: &mut Chance, about: About) -> Action {
    let field = match chance.below(14) {
        0 => Field::EthSrc(chance.pick(&values::MACS)),
        1 => Field::EthDst(chance.pick(&values::MACS)),
        2 => Field::IpSrc(address(chance, about)),
        3 => Field::IpDst(address(chance, about)),
        4 => Field::Dscp(chance.pick(&values::DSCPS)),
        5 => Field::Ecn(chance.pick(&values::ECNS)),
        6 => Field::Ttl(chance.pick(&values::TTLS)),
        7 => Field::L4Src(chance.pick(&values::PORTS)),
        8 => Field::L4Dst(chance.pick(&values::PORTS)),
        9 => Field::VlanVid(chance.pick(&values::VIDS)),
        10 => Field::VlanPcp(chance.pick(&values::PCPS)),
        11 => {
            let (tpid, vid) = (chance.pick(&[0x8100, 0x88a8]), chance.pick(&values::VIDS));
            return Action::PushVlan { tpid, vid, pcp: chance.pick(&values::PCPS) };
        }
        12 => return Action::PopVlan,
        _ => return Action::DecrementTtl,
    };
    Action::Set(field)
}

fn address(chance: &mut Chance, about: About) -> IpAddr {
    let is_v4 = match about {
        About::V4 => true,
        About::V6 => false,
        About::Frames | About::Ip => chance.percent(50),
    };
    if is_v4 {
        IpAddr::V4(chance.pick(&values::V4).into())
    } else {
        IpAddr::V6(chance.pick(&values::V6).into())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_seed_makes_one_set_without_equal_priorities_in_a_table() {
        for seed in 0..200 {
            let set = rules(&mut Chance::new(seed));
            assert_eq!(set, rules(&mut Chance::new(seed)));
            let places: BTreeSet<(u8, u16)> =
                set.iter().map(|rule| (rule.table, rule.priority)).collect();
            assert_eq!(places.len(), set.len());
        }
    }
}
