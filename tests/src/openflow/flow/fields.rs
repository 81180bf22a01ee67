use super::{
    super::rule::{Conditions, FragmentCondition, IpCondition, PortsCondition, VlanCondition, mac},
    kind::{IPV6, Kind, SCTP, TCP, UDP},
};

/// The matches, each with a comma before each field: one for each pair of masks that ranges of ports
/// are made of. None if no packet is of this kind.
pub(super) fn fields(conditions: &Conditions, kind: Kind) -> Vec<String> {
    let Some(fragment) = fragment(conditions, kind) else { return Vec::new() };
    let mut text = frame_fields(conditions, kind);
    text += &ip_fields(conditions, kind);
    if let Some(fragment) = fragment {
        text += &format!(",nw_frag={fragment}");
    }
    text += &transport_fields(conditions, kind);
    let (sources, destinations) = (masks(conditions.l4_src), masks(conditions.l4_dst));
    let name = protocol_name(conditions.ip_proto);
    let ports = |end: &str, (value, mask): (u16, u16)| match mask {
        0 => String::new(),
        _ => format!(",{name}_{end}={value:#x}/{mask:#x}"),
    };
    let pairs = sources.iter().flat_map(|source| {
        destinations.iter().map(|destination| ports("src", *source) + &ports("dst", *destination))
    });
    pairs.map(|pair| format!("{text}{pair}")).collect()
}

fn frame_fields(conditions: &Conditions, kind: Kind) -> String {
    let mut text = String::new();
    let mut add = |field: &str, value: String| text += &format!(",{field}={value}");
    if let Some((value, mask)) = conditions.metadata {
        add("metadata", format!("{value:#x}/{mask:#x}"));
    }
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
    for (field, value) in [
        ("mpls_label", conditions.mpls_label),
        ("mpls_tc", conditions.mpls_tc.map(u32::from)),
        ("mpls_bos", kind.bottom.map(u32::from)),
        ("arp_op", conditions.arp_op.map(u32::from)),
        ("ipv6_label", conditions.ipv6_label),
    ] {
        if let Some(value) = value {
            add(field, value.to_string());
        }
    }
    for (field, condition) in [("arp_sha", conditions.arp_sha), ("arp_tha", conditions.arp_tha)] {
        if let Some((value, mask)) = condition {
            add(field, format!("{}/{}", mac(value), mac(mask)));
        }
    }
    text
}

fn ip_fields(conditions: &Conditions, kind: Kind) -> String {
    let mut text = String::new();
    let mut add = |field: &str, value: String| text += &format!(",{field}={value}");
    for (v4, v6, condition) in [
        ("nw_src", "ipv6_src", conditions.ip_src),
        ("nw_dst", "ipv6_dst", conditions.ip_dst),
        ("arp_spa", "no such field", conditions.arp_spa),
        ("arp_tpa", "no such field", conditions.arp_tpa),
    ] {
        match condition {
            Some(IpCondition::V4(value, mask)) => add(v4, format!("{value}/{mask}")),
            Some(IpCondition::V6(value, mask)) => add(v6, format!("{value}/{mask}")),
            None => {}
        }
    }
    for (field, value) in [
        ("nw_proto", kind.ports.map(|ports| ports.protocol).or(conditions.ip_proto)),
        ("ip_dscp", conditions.ip_dscp),
        ("nw_ecn", conditions.ip_ecn),
        ("nw_ttl", conditions.ip_ttl),
    ] {
        if let Some(value) = value {
            add(field, value.to_string());
        }
    }
    text
}

/// What is said of fragments. None if no packet is of this kind: Open vSwitch takes a later one's
/// ports for zeros, so what is about ports is not about those.
fn fragment(conditions: &Conditions, kind: Kind) -> Option<Option<&'static str>> {
    use FragmentCondition::{Any, First, Later, No};
    let has_transport = kind.ports.is_some()
        || conditions.l4_src.is_some()
        || conditions.l4_dst.is_some()
        || conditions.tcp_flags.is_some()
        || conditions.icmp_type.is_some()
        || conditions.icmp_code.is_some();
    let sctp = kind.ports.filter(|ports| ports.protocol == SCTP);
    match (conditions.ip_frag, sctp.map(|ports| ports.can_be_set)) {
        (None | Some(No), Some(true)) | (Some(No), None) => Some(Some("no")),
        (None | Some(First | Any), Some(false)) | (Some(First), None) => Some(Some("first")),
        (_, Some(_)) => None,
        (None, None) => Some(has_transport.then_some("not_later")),
        (Some(Any), None) => Some(Some(if has_transport { "first" } else { "yes" })),
        (Some(Later), None) => (!has_transport).then_some(Some("later")),
    }
}

fn transport_fields(conditions: &Conditions, kind: Kind) -> String {
    let mut text = String::new();
    let mut add = |field: String, value: String| text += &format!(",{field}={value}");
    if let Some((value, mask)) = conditions.tcp_flags {
        add("tcp_flags".to_owned(), format!("{value:#x}/{mask:#x}"));
    }
    let icmp = if kind.family == Some(IPV6) { "icmpv6" } else { "icmp" };
    for (what, condition) in [("type", conditions.icmp_type), ("code", conditions.icmp_code)] {
        if let Some(value) = condition {
            add(format!("{icmp}_{what}"), value.to_string());
        }
    }
    text
}

pub(super) fn protocol_name(protocol: Option<u8>) -> &'static str {
    match protocol {
        Some(TCP) => "tcp",
        Some(UDP) => "udp",
        Some(SCTP) => "sctp",
        _ => "no such protocol",
    }
}

/// The masked ports that a condition is made of.
fn masks(condition: Option<PortsCondition>) -> Vec<(u16, u16)> {
    match condition {
        None => vec![(0, 0)],
        Some(PortsCondition::Masked(value, mask)) => vec![(value, mask)],
        Some(PortsCondition::Range(first, last)) => range(first, last),
    }
}

/// Aligned blocks that are a range together.
fn range(first: u16, last: u16) -> Vec<(u16, u16)> {
    let (mut next, end) = (u32::from(first), u32::from(last) + 1);
    let mut blocks = Vec::new();
    while next < end {
        let mut size = 1;
        while next % (size * 2) == 0 && next + size * 2 <= end {
            size *= 2;
        }
        let mask = u16::try_from(0x1_0000 - size).expect("a block has a port at least");
        blocks.push((u16::try_from(next).expect("it is before the end"), mask));
        next += size;
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_hold_each_port_of_a_range_once_and_no_other() {
        for (first, last) in [(1, 1), (1000, 1999), (0, 1023), (1024, u16::MAX)] {
            let blocks = range(first, last);
            for port in 0..=u16::MAX {
                let holding = blocks.iter().filter(|(value, mask)| port & mask == *value).count();
                assert_eq!(holding, usize::from((first..=last).contains(&port)), "{port}");
            }
        }
    }
}
