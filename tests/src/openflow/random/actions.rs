use std::net::IpAddr;

use super::{
    super::{
        chance::Chance,
        rule::{Action, CopiedField, Field, PORTS},
        traffic::values,
    },
    About, Place,
};

/// Pairs of which one can be copied into the other.
const COPIES: [(CopiedField, CopiedField); 12] = [
    (CopiedField::EthSrc, CopiedField::EthDst),
    (CopiedField::EthDst, CopiedField::Metadata),
    (CopiedField::Metadata, CopiedField::EthSrc),
    (CopiedField::IpSrc, CopiedField::IpDst),
    (CopiedField::IpDst, CopiedField::IpSrc),
    (CopiedField::L4Src, CopiedField::L4Dst),
    (CopiedField::L4Dst, CopiedField::Metadata),
    (CopiedField::Metadata, CopiedField::L4Src),
    (CopiedField::ArpSpa, CopiedField::ArpTpa),
    (CopiedField::ArpTha, CopiedField::ArpSha),
    (CopiedField::EthSrc, CopiedField::ArpSha),
    (CopiedField::ArpTpa, CopiedField::Metadata),
];

/// What a rule does: changes, outputs between them, and an end.
pub(super) fn actions(chance: &mut Chance, about: About, place: Place<'_>) -> Vec<Action> {
    let Place { table, later, pops } = place;
    let mut actions = Vec::new();
    let mut may_tag = true;
    while chance.percent(50) {
        let Some(action) = change(chance, about) else { continue };
        let pushes = matches!(action, Action::PushVlan { .. });
        // After a pop nobody knows whether there is another tag.
        if (is_about_tag(action) && !may_tag) || (pushes && table != 0) {
            continue;
        }
        may_tag &= !is_about_tag(action);
        actions.push(action);
        if chance.percent(20) {
            actions.push(Action::Output(chance.pick(&PORTS)));
        }
    }
    // Labels come last, as what is behind them is not known to the rule.
    actions.extend(labels(chance, about, pops));
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

fn is_about_tag(action: Action) -> bool {
    matches!(
        action,
        Action::PushVlan { .. }
            | Action::PopVlan
            | Action::Set(Field::VlanVid(_) | Field::VlanPcp(_))
    )
}

/// Whether a rule that says that its packets are not IP, ARP or MPLS may not have an action.
pub(super) fn needs_ip(action: Action) -> bool {
    match action {
        Action::DecrementTtl | Action::PopMpls(_) | Action::DecrementMplsTtl => true,
        Action::Set(field) => !matches!(
            field,
            Field::EthSrc(_)
                | Field::EthDst(_)
                | Field::VlanVid(_)
                | Field::VlanPcp(_)
                | Field::Metadata(..)
        ),
        Action::Copy(from, to) => [from, to].iter().any(|field| {
            !matches!(field, CopiedField::EthSrc | CopiedField::EthDst | CopiedField::Metadata)
        }),
        _ => false,
    }
}

/// A label that is put on or taken off, and what is done to it.
fn labels(chance: &mut Chance, about: About, pops: bool) -> Vec<Action> {
    let label =
        Action::PushMpls { label: chance.pick(&values::LABELS), tc: chance.pick(&values::PCPS) };
    let may_push = !pops || matches!(about, About::V4 | About::Mpls);
    match chance.below(20) {
        0..=3 if pops && matches!(about, About::Frames | About::Mpls) => {
            vec![Action::PopMpls(0x0800)]
        }
        4 if may_push => vec![label],
        5 if may_push => vec![label, Action::DecrementMplsTtl],
        _ => Vec::new(),
    }
}

/// A change, unless the rule would be refused with it.
fn change(chance: &mut Chance, about: About) -> Option<Action> {
    match chance.below(8) {
        0 => {
            let (tpid, vid) = (chance.pick(&[0x8100, 0x88a8]), chance.pick(&values::VIDS));
            Some(Action::PushVlan { tpid, vid, pcp: chance.pick(&values::PCPS) })
        }
        1 => Some(Action::PopVlan),
        2 => (!matches!(about, About::Arp | About::Mpls)).then_some(Action::DecrementTtl),
        3 => copy(chance, about),
        _ => Some(Action::Set(field(chance, about))),
    }
}

fn copy(chance: &mut Chance, about: About) -> Option<Action> {
    let (from, to) = chance.pick(&COPIES);
    let is_ip = |field: CopiedField| {
        use CopiedField::{IpDst, IpSrc, L4Dst, L4Src};
        matches!(field, IpSrc | IpDst | L4Src | L4Dst)
    };
    let is_arp = |field: CopiedField| {
        use CopiedField::{ArpSha, ArpSpa, ArpTha, ArpTpa};
        matches!(field, ArpSpa | ArpTpa | ArpSha | ArpTha)
    };
    let (needs_ip, needs_arp) = (is_ip(from) || is_ip(to), is_arp(from) || is_arp(to));
    let fits = match about {
        About::Frames => true,
        About::Arp => !needs_ip,
        About::Mpls => !needs_ip && !needs_arp,
        About::Ip | About::V4 | About::V6 => !needs_arp,
    };
    fits.then_some(Action::Copy(from, to))
}

fn field(chance: &mut Chance, about: About) -> Field {
    let about = match (about, chance.below(10)) {
        (About::Frames, 0) => About::Arp,
        (About::Frames, 1) => About::Mpls,
        (About::Frames, 2..=5) => About::Ip,
        (about, _) => about,
    };
    match (chance.below(10), about) {
        (0, _) | (1..=5, About::Frames) => Field::EthSrc(chance.pick(&values::MACS)),
        (1, _) => Field::EthDst(chance.pick(&values::MACS)),
        (6 | 7, _) => Field::VlanVid(chance.pick(&values::VIDS)),
        (8, _) => Field::VlanPcp(chance.pick(&values::PCPS)),
        (9, _) => {
            let (value, mask) = chance.pick(&values::METADATA);
            Field::Metadata(value, mask)
        }
        (_, About::Arp) => arp_field(chance),
        (_, About::Mpls) => mpls_field(chance),
        _ => ip_field(chance, about),
    }
}

fn arp_field(chance: &mut Chance) -> Field {
    let (address, mac) = (chance.pick(&values::V4).into(), chance.pick(&values::MACS));
    let fields = [
        Field::ArpOp(chance.pick(&[1, 2])),
        Field::ArpSpa(address),
        Field::ArpTpa(address),
        Field::ArpSha(mac),
        Field::ArpTha(mac),
    ];
    chance.pick(&fields)
}

fn mpls_field(chance: &mut Chance) -> Field {
    let fields = [
        Field::MplsLabel(chance.pick(&values::LABELS)),
        Field::MplsTc(chance.pick(&values::PCPS)),
        Field::MplsTtl(chance.pick(&values::TTLS)),
    ];
    chance.pick(&fields)
}

fn ip_field(chance: &mut Chance, about: About) -> Field {
    let is_v4 = match about {
        About::V4 => true,
        About::V6 => false,
        _ => chance.percent(50),
    };
    let address = if is_v4 {
        IpAddr::V4(chance.pick(&values::V4).into())
    } else {
        IpAddr::V6(chance.pick(&values::V6).into())
    };
    let class = Field::Dscp(chance.pick(&values::DSCPS));
    let fields = [
        Field::IpSrc(address),
        Field::IpDst(address),
        class,
        Field::Ecn(chance.pick(&values::ECNS)),
        Field::Ttl(chance.pick(&values::TTLS)),
        Field::L4Src(chance.pick(&values::PORTS)),
        Field::L4Dst(chance.pick(&values::PORTS)),
        if is_v4 { class } else { Field::Ipv6Label(chance.pick(&values::FLOW_LABELS)) },
    ];
    chance.pick(&fields)
}
