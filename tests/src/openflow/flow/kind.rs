use super::super::rule::{
    Action, Conditions, CopiedField, Field, IpCondition, Rule, VlanCondition,
};

pub(super) const IPV4: u16 = 0x0800;
pub(super) const IPV6: u16 = 0x86dd;
pub(super) const ARP: u16 = 0x0806;
pub(super) const MPLS: u16 = 0x8847;
pub(super) const ICMP: u8 = 1;
pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;
pub(super) const ICMPV6: u8 = 58;
pub(super) const SCTP: u8 = 132;

/// A kind of packets: what is known of them besides that they match.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Kind {
    /// The EtherType of IP, ARP or MPLS.
    pub(super) family: Option<u16>,
    pub(super) ports: Option<Ports>,
    pub(super) tagged: Option<bool>,
    /// Whether the outermost label is the last.
    pub(super) bottom: Option<bool>,
}

/// A header that holds ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ports {
    /// TCP, UDP or SCTP.
    pub(super) protocol: u8,
    /// Whether Weft sets them: not those of SCTP in a fragment, whose checksum hangs on the others.
    pub(super) can_be_set: bool,
}

/// What a field or an action is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    All,
    Tag,
    Ip,
    Ports,
    Arp,
    Mpls,
}

impl Kind {
    pub(super) fn is_ip(self) -> bool {
        matches!(self.family, Some(IPV4 | IPV6))
    }

    /// How special it is, by which it takes precedence over others of its rule.
    pub(super) fn level(self) -> u32 {
        u32::from(self.family.is_some()) + u32::from(self.ports.is_some())
    }
}

/// The kinds that a rule's actions tell apart.
pub(super) fn kinds(rule: &Rule) -> Vec<Kind> {
    let mut kinds = Vec::new();
    for family in families(rule) {
        for ports in transports(rule, family) {
            for tagged in taggings(rule) {
                for bottom in bottoms(rule, family) {
                    kinds.push(Kind { family, ports, tagged, bottom });
                }
            }
        }
    }
    kinds
}

fn families(rule: &Rule) -> Vec<Option<u16>> {
    let conditions = &rule.conditions;
    let by_address = [conditions.ip_src, conditions.ip_dst].into_iter().flatten().next();
    let known = match (conditions.eth_type, by_address, conditions.ip_proto) {
        (Some(known @ (IPV4 | IPV6 | ARP | MPLS)), ..) => Some(known),
        (_, Some(IpCondition::V4(..)), _) | (_, _, Some(ICMP)) => Some(IPV4),
        (_, Some(IpCondition::V6(..)), _) | (_, _, Some(ICMPV6)) => Some(IPV6),
        _ if conditions.ipv6_label.is_some() => Some(IPV6),
        _ => None,
    };
    if known.is_some() {
        return vec![known];
    }
    if has_ip(conditions) {
        return vec![Some(IPV4), Some(IPV6)];
    }
    let mut families = vec![None];
    if conditions.eth_type.is_none() {
        let needs = |layers: &[Layer]| rule.actions.iter().any(|it| layers.contains(&layer(*it)));
        for (family, is_needed) in [
            (MPLS, needs(&[Layer::Mpls])),
            (ARP, needs(&[Layer::Arp])),
            (IPV6, needs(&[Layer::Ip, Layer::Ports])),
            (IPV4, needs(&[Layer::Ip, Layer::Ports])),
        ] {
            if is_needed {
                families.insert(0, Some(family));
            }
        }
    }
    families
}

fn has_ip(conditions: &Conditions) -> bool {
    conditions.ip_proto.is_some()
        || conditions.ip_dscp.is_some()
        || conditions.ip_ecn.is_some()
        || conditions.ip_ttl.is_some()
        || conditions.ip_frag.is_some()
}

fn transports(rule: &Rule, family: Option<u16>) -> Vec<Option<Ports>> {
    let needs_ports = rule.actions.iter().any(|action| layer(*action) == Layer::Ports);
    if !needs_ports || !matches!(family, Some(IPV4 | IPV6)) {
        return vec![None];
    }
    let ports = |protocol, can_be_set| Some(Ports { protocol, can_be_set });
    let all = [ports(TCP, true), ports(UDP, true), ports(SCTP, true), ports(SCTP, false), None];
    let fits = |it: &Option<Ports>| match (it, rule.conditions.ip_proto) {
        (Some(ports), Some(protocol)) => ports.protocol == protocol,
        _ => true,
    };
    all.into_iter().filter(fits).collect()
}

fn taggings(rule: &Rule) -> Vec<Option<bool>> {
    let first = rule.actions.iter().find(|action| layer(**action) == Layer::Tag);
    match rule.conditions.vlan {
        Some(VlanCondition::Untagged) => vec![Some(false)],
        Some(VlanCondition::Tagged(..)) => vec![Some(true)],
        None if first.is_none_or(|action| matches!(action, Action::PushVlan { .. })) => vec![None],
        None => vec![Some(true), Some(false)],
    }
}

fn bottoms(rule: &Rule, family: Option<u16>) -> Vec<Option<bool>> {
    let pops = rule.actions.iter().any(|action| matches!(action, Action::PopMpls(_)));
    match rule.conditions.mpls_bos {
        Some(bottom) => vec![Some(bottom == 1)],
        None if pops && family == Some(MPLS) => vec![Some(true), Some(false)],
        None => vec![None],
    }
}

/// What packets need for an action. A push needs nothing, but is about tags.
fn layer(action: Action) -> Layer {
    match action {
        Action::Output(_) | Action::Drop | Action::Goto(_) | Action::PushMpls { .. } => Layer::All,
        Action::DecrementTtl => Layer::Ip,
        Action::PushVlan { .. } | Action::PopVlan => Layer::Tag,
        Action::PopMpls(_) | Action::DecrementMplsTtl => Layer::Mpls,
        Action::Set(field) => match field {
            Field::EthSrc(_) | Field::EthDst(_) | Field::Metadata(..) => Layer::All,
            Field::VlanVid(_) | Field::VlanPcp(_) => Layer::Tag,
            Field::MplsLabel(_) | Field::MplsTc(_) | Field::MplsTtl(_) => Layer::Mpls,
            Field::ArpOp(_)
            | Field::ArpSpa(_)
            | Field::ArpTpa(_)
            | Field::ArpSha(_)
            | Field::ArpTha(_) => Layer::Arp,
            Field::L4Src(_) | Field::L4Dst(_) => Layer::Ports,
            Field::IpSrc(_)
            | Field::IpDst(_)
            | Field::Dscp(_)
            | Field::Ecn(_)
            | Field::Ttl(_)
            | Field::Ipv6Label(_) => Layer::Ip,
        },
        Action::Copy(from, to) => match (copied_layer(from), copied_layer(to)) {
            (Layer::All, other) | (other, _) => other,
        },
    }
}

fn copied_layer(field: CopiedField) -> Layer {
    match field {
        CopiedField::EthSrc | CopiedField::EthDst | CopiedField::Metadata => Layer::All,
        CopiedField::IpSrc | CopiedField::IpDst => Layer::Ip,
        CopiedField::L4Src | CopiedField::L4Dst => Layer::Ports,
        CopiedField::ArpSpa | CopiedField::ArpTpa | CopiedField::ArpSha | CopiedField::ArpTha => {
            Layer::Arp
        }
    }
}
