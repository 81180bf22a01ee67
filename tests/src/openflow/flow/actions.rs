use std::net::IpAddr;

use super::{
    super::rule::{Action, CopiedField, Field, Port, mac},
    fields::protocol_name,
    kind::{ARP, IPV4, IPV6, Kind, MPLS},
};

/// What is done with packets of a kind that came by a port, up to what Weft drops them for.
pub(super) fn actions(actions: &[Action], mut kind: Kind, in_port: Port) -> String {
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
    let is_mpls = kind.family == Some(MPLS);
    Some(match action {
        Action::Output(port) if port == in_port => "in_port".to_owned(),
        Action::Output(port) => format!("output:{}", port.0),
        Action::Drop => return None,
        Action::DecrementTtl if kind.is_ip() => "dec_ttl".to_owned(),
        Action::DecrementTtl => return None,
        Action::PushVlan { tpid, vid, pcp } => {
            kind.tagged = Some(true);
            format!("push_vlan:{tpid:#06x},mod_vlan_vid:{vid},mod_vlan_pcp:{pcp}")
        }
        Action::PopVlan if kind.tagged == Some(true) => "pop_vlan".to_owned(),
        Action::PopVlan => return None,
        Action::PushMpls { label, tc } => {
            kind.family = Some(MPLS);
            format!("push_mpls:{MPLS:#06x},set_mpls_label:{label},set_mpls_tc:{tc}")
        }
        // What is behind a label that is not the last is another.
        Action::PopMpls(_) if is_mpls && kind.bottom == Some(false) => {
            format!("pop_mpls:{MPLS:#06x}")
        }
        Action::PopMpls(ethertype) if is_mpls => format!("pop_mpls:{ethertype:#06x}"),
        Action::PopMpls(_) => return None,
        Action::DecrementMplsTtl if is_mpls => "dec_mpls_ttl".to_owned(),
        Action::DecrementMplsTtl => return None,
        Action::Goto(table) => format!("goto_table:{table}"),
        Action::Set(field) => set(field, *kind)?,
        Action::Copy(from, to) => copy(from, to, *kind)?,
    })
}

fn set(field: Field, kind: Kind) -> Option<String> {
    let of = |is_there: bool, name: &str, value: String| {
        is_there.then(|| format!("set_field:{value}->{name}"))
    };
    let ip = |name: &str, value: u8| of(kind.is_ip(), name, value.to_string());
    let arp = |name: &str, value: String| of(kind.family == Some(ARP), name, value);
    let port = |end: &str, value: u16| {
        let protocol = protocol_name(Some(kind.ports.filter(|ports| ports.can_be_set)?.protocol));
        Some(format!("set_field:{value}->{protocol}_{end}"))
    };
    let address = |address: IpAddr, end: &str| {
        let (family, name) = if address.is_ipv4() { (IPV4, "ip") } else { (IPV6, "ipv6") };
        of(kind.family == Some(family), &format!("{name}_{end}"), address.to_string())
    };
    let tag = |text: String| (kind.tagged == Some(true)).then_some(text);
    let label = |text: String| (kind.family == Some(MPLS)).then_some(text);
    match field {
        Field::EthSrc(address) => of(true, "eth_src", mac(address)),
        Field::EthDst(address) => of(true, "eth_dst", mac(address)),
        Field::IpSrc(source) => address(source, "src"),
        Field::IpDst(destination) => address(destination, "dst"),
        Field::Dscp(value) => ip("ip_dscp", value),
        Field::Ecn(value) => ip("nw_ecn", value),
        Field::Ttl(value) => ip("nw_ttl", value),
        Field::Ipv6Label(value) => of(kind.family == Some(IPV6), "ipv6_label", value.to_string()),
        Field::L4Src(value) => port("src", value),
        Field::L4Dst(value) => port("dst", value),
        Field::VlanVid(vid) => tag(format!("mod_vlan_vid:{vid}")),
        Field::VlanPcp(pcp) => tag(format!("mod_vlan_pcp:{pcp}")),
        Field::MplsLabel(value) => label(format!("set_mpls_label:{value}")),
        Field::MplsTc(class) => label(format!("set_mpls_tc:{class}")),
        Field::MplsTtl(ttl) => label(format!("set_mpls_ttl:{ttl}")),
        Field::ArpOp(operation) => arp("arp_op", operation.to_string()),
        Field::ArpSpa(address) => arp("arp_spa", address.to_string()),
        Field::ArpTpa(address) => arp("arp_tpa", address.to_string()),
        Field::ArpSha(address) => arp("arp_sha", mac(address)),
        Field::ArpTha(address) => arp("arp_tha", mac(address)),
        Field::Metadata(value, mask) => of(true, "metadata", format!("{value:#x}/{mask:#x}")),
    }
}

fn copy(from: CopiedField, to: CopiedField, kind: Kind) -> Option<String> {
    let (read, read_bits) = copied(from, kind)?;
    let (written, written_bits) = copied(to, kind)?;
    let sets_ports = matches!(to, CopiedField::L4Src | CopiedField::L4Dst);
    if sets_ports && !kind.ports?.can_be_set {
        return None;
    }
    let bits = match (read_bits.min(written_bits) - 1, read_bits == written_bits) {
        (_, true) => ("[]".to_owned(), "[]".to_owned()),
        (last, false) if read_bits > written_bits => (format!("[0..{last}]"), "[]".to_owned()),
        (last, false) => ("[]".to_owned(), format!("[0..{last}]")),
    };
    Some(format!("move:{read}{}->{written}{}", bits.0, bits.1))
}

/// What a field is called, and how many bits it has; none if packets of the kind do not have it.
fn copied(field: CopiedField, kind: Kind) -> Option<(String, u32)> {
    let arp = |name: &str, bits| (kind.family == Some(ARP)).then(|| (name.to_owned(), bits));
    let address = |end: &str| match kind.family {
        Some(IPV4) => Some((format!("NXM_OF_IP_{end}"), 32)),
        Some(IPV6) => Some((format!("NXM_NX_IPV6_{end}"), 128)),
        _ => None,
    };
    let port = |end: &str| {
        let protocol = protocol_name(Some(kind.ports?.protocol)).to_uppercase();
        Some((format!("OXM_OF_{protocol}_{end}"), 16))
    };
    match field {
        CopiedField::EthSrc => Some(("NXM_OF_ETH_SRC".to_owned(), 48)),
        CopiedField::EthDst => Some(("NXM_OF_ETH_DST".to_owned(), 48)),
        CopiedField::IpSrc => address("SRC"),
        CopiedField::IpDst => address("DST"),
        CopiedField::ArpSpa => arp("NXM_OF_ARP_SPA", 32),
        CopiedField::ArpTpa => arp("NXM_OF_ARP_TPA", 32),
        CopiedField::ArpSha => arp("NXM_NX_ARP_SHA", 48),
        CopiedField::ArpTha => arp("NXM_NX_ARP_THA", 48),
        CopiedField::L4Src => port("SRC"),
        CopiedField::L4Dst => port("DST"),
        CopiedField::Metadata => Some(("OXM_OF_METADATA".to_owned(), 64)),
    }
}
