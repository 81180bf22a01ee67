//! Rules in the language of `ovs-ofctl`.
//!
//! OpenFlow wants a match to say that the headers are there which the actions need, and Weft drops
//! a packet whose headers an action misses. So a rule becomes a flow for each kind of packet for
//! which its actions mean something else, the more special ones with higher priorities; and as Open
//! vSwitch sends nothing back to where it came from unless told so, a flow for each port.

use super::rule::{
    Action, Conditions, Field, FragmentCondition, IpCondition, PORTS, Port, Rule, VlanCondition,
    mac,
};

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;
const SCTP: u8 = 132;
/// As many kinds of packets can have different priorities within one of a rule.
const LEVELS: u32 = 4;

/// A kind of packets: what is known of them besides that they match.
#[derive(Debug, Clone, Copy, Default)]
struct Kind {
    /// The EtherType of their version of IP.
    family: Option<u16>,
    /// TCP, UDP or SCTP, with a header that holds ports.
    ports: Option<u8>,
    tagged: Option<bool>,
}

/// The flows of a rule.
#[must_use]
pub fn flows(rule: &Rule) -> Vec<String> {
    let mut flows = Vec::new();
    let conditions = &rule.conditions;
    let in_ports = conditions.in_port.map_or(PORTS.to_vec(), |port| vec![port]);
    for kind in kinds(rule) {
        let Some(fields) = fields(conditions, kind) else { continue };
        for &port in &in_ports {
            let priority = u32::from(rule.priority) * LEVELS + kind.level();
            let actions = actions(&rule.actions, kind, port);
            flows.push(format!(
                "table={},priority={priority},in_port={}{fields},actions={actions}",
                rule.table, port.0
            ));
        }
    }
    flows
}

impl Kind {
    fn level(self) -> u32 {
        u32::from(self.family.is_some()) + u32::from(self.ports.is_some())
    }
}

/// The kinds that a rule's actions tell apart.
fn kinds(rule: &Rule) -> Vec<Kind> {
    let mut kinds = Vec::new();
    for family in families(rule) {
        for ports in transports(rule, family) {
            for tagged in taggings(rule) {
                kinds.push(Kind { family, ports, tagged });
            }
        }
    }
    kinds
}

fn families(rule: &Rule) -> Vec<Option<u16>> {
    let conditions = &rule.conditions;
    let by_address = [conditions.ip_src, conditions.ip_dst].into_iter().flatten().next();
    let known = match (conditions.eth_type, by_address, conditions.ip_proto) {
        (Some(IPV4), ..) | (_, Some(IpCondition::V4(..)), _) | (_, _, Some(ICMP)) => Some(IPV4),
        (Some(IPV6), ..) | (_, Some(IpCondition::V6(..)), _) | (_, _, Some(ICMPV6)) => Some(IPV6),
        _ => None,
    };
    let has_ip = conditions.ip_proto.is_some()
        || conditions.ip_dscp.is_some()
        || conditions.ip_ecn.is_some()
        || conditions.ip_ttl.is_some()
        || conditions.ip_frag.is_some();
    let needs_ip = rule.actions.iter().any(|action| {
        let needs = |field: Field| {
            !matches!(
                field,
                Field::EthSrc(_) | Field::EthDst(_) | Field::VlanVid(_) | Field::VlanPcp(_)
            )
        };
        matches!(action, Action::DecrementTtl)
            || matches!(action, Action::Set(field) if needs(*field))
    });
    match known {
        Some(family) => vec![Some(family)],
        None if has_ip => vec![Some(IPV4), Some(IPV6)],
        None if needs_ip && conditions.eth_type.is_none() => vec![Some(IPV4), Some(IPV6), None],
        None => vec![None],
    }
}

fn transports(rule: &Rule, family: Option<u16>) -> Vec<Option<u8>> {
    let needs_ports = rule
        .actions
        .iter()
        .any(|action| matches!(action, Action::Set(Field::L4Src(_) | Field::L4Dst(_))));
    if !needs_ports || family.is_none() {
        return vec![None];
    }
    match rule.conditions.ip_proto {
        None => vec![Some(TCP), Some(UDP), Some(SCTP), None],
        Some(protocol @ (TCP | UDP | SCTP)) => vec![Some(protocol), None],
        Some(_) => vec![None],
    }
}

fn taggings(rule: &Rule) -> Vec<Option<bool>> {
    let about_tag = |action: &&Action| {
        matches!(
            action,
            Action::PushVlan { .. }
                | Action::PopVlan
                | Action::Set(Field::VlanVid(_) | Field::VlanPcp(_))
        )
    };
    let first = rule.actions.iter().find(about_tag);
    match rule.conditions.vlan {
        Some(VlanCondition::Untagged) => vec![Some(false)],
        Some(VlanCondition::Tagged(..)) => vec![Some(true)],
        None if first.is_none_or(|action| matches!(action, Action::PushVlan { .. })) => vec![None],
        None => vec![Some(true), Some(false)],
    }
}

/// The match, each field with a comma before it. None if no packet is of this kind.
fn fields(conditions: &Conditions, kind: Kind) -> Option<String> {
    let mut text = String::new();
    let mut add = |field: &str, value: String| text += &format!(",{field}={value}");
    for (field, condition) in [("dl_src", conditions.eth_src), ("dl_dst", conditions.eth_dst)] {
        if let Some((value, mask)) = condition {
            add(field, format!("{}/{}", mac(value), mac(mask)));
        }
    }
    if let Some(ethertype) = kind.family.or(conditions.eth_type) {
        add("dl_type", format!("{ethertype:#06x}"));
    }
    match (conditions.vlan, kind.tagged) {
        (Some(VlanCondition::Tagged(vid, None)), _) => {
            add("vlan_tci", format!("{:#06x}/0x1fff", vid | 0x1000));
        }
        (Some(VlanCondition::Tagged(vid, Some(pcp))), _) => {
            add("vlan_tci", format!("{:#06x}/0xffff", vid | 0x1000 | u16::from(pcp) << 13));
        }
        (_, Some(tagged)) => add("vlan_tci", format!("{:#06x}/0x1000", u16::from(tagged) << 12)),
        (_, None) => {}
    }
    for (v4, v6, condition) in
        [("nw_src", "ipv6_src", conditions.ip_src), ("nw_dst", "ipv6_dst", conditions.ip_dst)]
    {
        match condition {
            Some(IpCondition::V4(value, mask)) => add(v4, format!("{value}/{mask}")),
            Some(IpCondition::V6(value, mask)) => add(v6, format!("{value}/{mask}")),
            None => {}
        }
    }
    for (field, value) in [
        ("nw_proto", kind.ports.or(conditions.ip_proto)),
        ("ip_dscp", conditions.ip_dscp),
        ("nw_ecn", conditions.ip_ecn),
        ("nw_ttl", conditions.ip_ttl),
    ] {
        if let Some(value) = value {
            add(field, value.to_string());
        }
    }
    if let Some(fragment) = fragment(conditions, kind)? {
        add("nw_frag", fragment.to_owned());
    }
    Some(text + &transport_fields(conditions, kind))
}

/// What is said of fragments. None if no packet is of this kind: Open vSwitch takes a later one's
/// ports for zeros, so what is about ports is not about those, and Weft does not set SCTP's ports in
/// any fragment, whose checksum hangs on the others.
fn fragment(conditions: &Conditions, kind: Kind) -> Option<Option<&'static str>> {
    let has_transport = kind.ports.is_some()
        || conditions.l4_src.is_some()
        || conditions.l4_dst.is_some()
        || conditions.tcp_flags.is_some()
        || conditions.icmp_type.is_some()
        || conditions.icmp_code.is_some();
    let is_whole = kind.ports == Some(SCTP);
    match conditions.ip_frag {
        Some(FragmentCondition::No) => Some(Some("no")),
        None if is_whole => Some(Some("no")),
        None if has_transport => Some(Some("not_later")),
        None => Some(None),
        Some(_) if is_whole => None,
        Some(FragmentCondition::First) => Some(Some("first")),
        Some(FragmentCondition::Any) if has_transport => Some(Some("first")),
        Some(FragmentCondition::Any) => Some(Some("yes")),
        Some(FragmentCondition::Later) if has_transport => None,
        Some(FragmentCondition::Later) => Some(Some("later")),
    }
}

fn transport_fields(conditions: &Conditions, kind: Kind) -> String {
    let mut text = String::new();
    let mut add = |field: String, value: String| text += &format!(",{field}={value}");
    let name = protocol_name(conditions.ip_proto);
    for (end, condition) in [("src", conditions.l4_src), ("dst", conditions.l4_dst)] {
        if let Some((value, mask)) = condition {
            add(format!("{name}_{end}"), format!("{:#x}/{mask:#x}", value & mask));
        }
    }
    if let Some((value, mask)) = conditions.tcp_flags {
        add("tcp_flags".to_owned(), format!("{:#x}/{mask:#x}", value & mask));
    }
    let icmp = if kind.family == Some(IPV6) { "icmpv6" } else { "icmp" };
    for (what, condition) in [("type", conditions.icmp_type), ("code", conditions.icmp_code)] {
        if let Some(value) = condition {
            add(format!("{icmp}_{what}"), value.to_string());
        }
    }
    text
}

fn protocol_name(protocol: Option<u8>) -> &'static str {
    match protocol {
        Some(TCP) => "tcp",
        Some(UDP) => "udp",
        Some(SCTP) => "sctp",
        _ => "no such protocol",
    }
}

/// What is done with packets of a kind that came by a port, up to what Weft drops them for.
fn actions(actions: &[Action], mut kind: Kind, in_port: Port) -> String {
    let mut written = Vec::new();
    for action in actions {
        match in_openflow(*action, &mut kind, in_port) {
            Some(text) => written.push(text),
            None => break,
        }
    }
    if written.is_empty() { "drop".to_owned() } else { written.join(",") }
}

fn in_openflow(action: Action, kind: &mut Kind, in_port: Port) -> Option<String> {
    let is_ip = kind.family.is_some();
    Some(match action {
        Action::Output(port) if port == in_port => "in_port".to_owned(),
        Action::Output(port) => format!("output:{}", port.0),
        Action::Drop => return None,
        Action::DecrementTtl if is_ip => "dec_ttl".to_owned(),
        Action::DecrementTtl => return None,
        Action::PushVlan { tpid, vid, pcp } => {
            kind.tagged = Some(true);
            format!("push_vlan:{tpid:#06x},mod_vlan_vid:{vid},mod_vlan_pcp:{pcp}")
        }
        Action::PopVlan if kind.tagged == Some(true) => "pop_vlan".to_owned(),
        Action::PopVlan => return None,
        Action::Goto(table) => format!("goto_table:{table}"),
        Action::Set(field) => set(field, *kind)?,
    })
}

fn set(field: Field, kind: Kind) -> Option<String> {
    let ip = |name: &str, value: u8| kind.family.map(|_| format!("set_field:{value}->{name}"));
    let port = |end: &str, value: u16| {
        let protocol = protocol_name(Some(kind.ports?));
        Some(format!("set_field:{value}->{protocol}_{end}"))
    };
    let address = |address: std::net::IpAddr, end: &str| {
        let family = if address.is_ipv4() { IPV4 } else { IPV6 };
        let name = if address.is_ipv4() { "ip" } else { "ipv6" };
        (kind.family == Some(family)).then(|| format!("set_field:{address}->{name}_{end}"))
    };
    let tag = |text: String| (kind.tagged == Some(true)).then_some(text);
    match field {
        Field::EthSrc(address) => Some(format!("set_field:{}->eth_src", mac(address))),
        Field::EthDst(address) => Some(format!("set_field:{}->eth_dst", mac(address))),
        Field::IpSrc(source) => address(source, "src"),
        Field::IpDst(destination) => address(destination, "dst"),
        Field::Dscp(value) => ip("ip_dscp", value),
        Field::Ecn(value) => ip("nw_ecn", value),
        Field::Ttl(value) => ip("nw_ttl", value),
        Field::L4Src(value) => port("src", value),
        Field::L4Dst(value) => port("dst", value),
        Field::VlanVid(vid) => tag(format!("mod_vlan_vid:{vid}")),
        Field::VlanPcp(pcp) => tag(format!("mod_vlan_pcp:{pcp}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(conditions: Conditions, actions: Vec<Action>) -> Vec<String> {
        flows(&Rule { table: 0, priority: 5, conditions, actions })
    }

    #[test]
    fn an_action_that_needs_a_header_makes_a_flow_for_packets_without_it() {
        let conditions = Conditions { in_port: Some(Port(1)), ..Conditions::default() };
        let actions = vec![Action::Output(Port(2)), Action::DecrementTtl, Action::Output(Port(1))];
        assert_eq!(
            rule(conditions, actions),
            [
                "table=0,priority=21,in_port=1,dl_type=0x0800,actions=output:2,dec_ttl,in_port",
                "table=0,priority=21,in_port=1,dl_type=0x86dd,actions=output:2,dec_ttl,in_port",
                "table=0,priority=20,in_port=1,actions=output:2",
            ]
        );
    }

    #[test]
    fn ports_are_those_of_packets_that_have_them() {
        let conditions = Conditions {
            in_port: Some(Port(3)),
            eth_type: Some(IPV4),
            ip_proto: Some(UDP),
            ..Conditions::default()
        };
        let actions = vec![Action::Set(Field::L4Dst(7)), Action::Output(Port(1))];
        assert_eq!(
            rule(conditions, actions),
            [
                "table=0,priority=22,in_port=3,dl_type=0x0800,nw_proto=17,nw_frag=not_later,\
                 actions=set_field:7->udp_dst,output:1",
                "table=0,priority=21,in_port=3,dl_type=0x0800,nw_proto=17,actions=drop",
            ]
        );
    }

    #[test]
    fn a_tag_that_was_pushed_is_there() {
        let conditions = Conditions { in_port: Some(Port(1)), ..Conditions::default() };
        let push = Action::PushVlan { tpid: 0x88a8, vid: 9, pcp: 1 };
        let pushed = rule(conditions.clone(), vec![push, Action::Set(Field::VlanPcp(2))]);
        let actions = "push_vlan:0x88a8,mod_vlan_vid:9,mod_vlan_pcp:1,mod_vlan_pcp:2";
        assert_eq!(pushed, [format!("table=0,priority=20,in_port=1,actions={actions}")]);
        let popped = rule(conditions, vec![Action::PopVlan, Action::Goto(2)]);
        assert_eq!(
            popped,
            [
                "table=0,priority=20,in_port=1,vlan_tci=0x1000/0x1000,actions=pop_vlan,goto_table:2",
                "table=0,priority=20,in_port=1,vlan_tci=0x0000/0x1000,actions=drop",
            ]
        );
    }
}
