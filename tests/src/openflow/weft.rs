//! Rules as Weft's API takes them.

use serde_json::{Map, Value, json};

use super::rule::{
    Action, Conditions, CopiedField, Field, FragmentCondition, IpCondition, PortsCondition, Rule,
    VlanCondition, mac,
};

impl Rule {
    /// The rule as Weft's API takes it.
    #[must_use]
    pub fn to_weft(&self) -> Value {
        json!({
            "priority": self.priority,
            "match": self.conditions.to_weft(),
            "actions": self.actions_to_weft(),
        })
    }

    /// What it does, as Weft's API takes it.
    #[must_use]
    pub fn actions_to_weft(&self) -> Value {
        self.actions.iter().map(|action| action.to_weft()).collect()
    }
}

fn masked_mac((value, mask): ([u8; 6], [u8; 6])) -> Value {
    json!(format!("{}/{}", mac(value), mac(mask)))
}

fn address(condition: IpCondition) -> Value {
    match condition {
        IpCondition::V4(value, mask) => json!(format!("{value}/{mask}")),
        IpCondition::V6(value, mask) => json!(format!("{value}/{mask}")),
    }
}

fn ports(condition: PortsCondition) -> Value {
    match condition {
        PortsCondition::Masked(value, mask) => json!(format!("{value:#x}/{mask:#x}")),
        PortsCondition::Range(first, last) => json!(format!("{first}-{last}")),
    }
}

fn fragment(condition: FragmentCondition) -> Value {
    match condition {
        FragmentCondition::No => json!("no"),
        FragmentCondition::First => json!("first"),
        FragmentCondition::Later => json!("later"),
        FragmentCondition::Any => json!("any"),
    }
}

impl Conditions {
    fn to_weft(&self) -> Value {
        let number = |number: u8| json!(number);
        let (vid, pcp) = match self.vlan {
            None => (None, None),
            Some(VlanCondition::Untagged) => (Some(json!("none")), None),
            Some(VlanCondition::Tagged(vid, pcp)) => (Some(json!(vid)), pcp.map(number)),
        };
        let flags = self.tcp_flags.map(|(value, mask)| json!(format!("{value:#x}/{mask:#x}")));
        let metadata = self.metadata.map(|(value, mask)| json!(format!("{value:#x}/{mask:#x}")));
        let fields = [
            ("in_port", self.in_port.map(|port| json!(port.name()))),
            ("eth_src", self.eth_src.map(masked_mac)),
            ("eth_dst", self.eth_dst.map(masked_mac)),
            ("eth_type", self.eth_type.map(|it| json!(format!("{it:#06x}")))),
            ("vlan_vid", vid),
            ("vlan_pcp", pcp),
            ("mpls_label", self.mpls_label.map(|label| json!(label))),
            ("mpls_tc", self.mpls_tc.map(number)),
            ("mpls_bos", self.mpls_bos.map(number)),
            ("arp_op", self.arp_op.map(number)),
            ("arp_spa", self.arp_spa.map(address)),
            ("arp_tpa", self.arp_tpa.map(address)),
            ("arp_sha", self.arp_sha.map(masked_mac)),
            ("arp_tha", self.arp_tha.map(masked_mac)),
            ("ip_src", self.ip_src.map(address)),
            ("ip_dst", self.ip_dst.map(address)),
            ("ip_proto", self.ip_proto.map(number)),
            ("ip_dscp", self.ip_dscp.map(number)),
            ("ip_ecn", self.ip_ecn.map(number)),
            ("ip_ttl", self.ip_ttl.map(number)),
            ("ip_frag", self.ip_frag.map(fragment)),
            ("ipv6_label", self.ipv6_label.map(|label| json!(label))),
            ("l4_src", self.l4_src.map(ports)),
            ("l4_dst", self.l4_dst.map(ports)),
            ("tcp_flags", flags),
            ("icmp_type", self.icmp_type.map(number)),
            ("icmp_code", self.icmp_code.map(number)),
            ("metadata", metadata),
        ];
        let given = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Value::Object(Map::from_iter(given))
    }
}

impl Action {
    fn to_weft(self) -> Value {
        match self {
            Self::Output(port) => json!({"output": port.name()}),
            Self::Drop => json!("drop"),
            Self::Set(field) => json!({"set_field": field.to_weft()}),
            Self::DecrementTtl => json!("decrement_ttl"),
            Self::PushVlan { tpid, vid, pcp } => {
                json!({"push_vlan": {"vid": vid, "pcp": pcp, "tpid": format!("{tpid:#06x}")}})
            }
            Self::PopVlan => json!("pop_vlan"),
            Self::PushMpls { label, tc } => json!({"push_mpls": {"label": label, "tc": tc}}),
            Self::PopMpls(ethertype) => json!({"pop_mpls": format!("{ethertype:#06x}")}),
            Self::DecrementMplsTtl => json!("decrement_mpls_ttl"),
            Self::Copy(from, to) => {
                json!({"copy_field": {"from": from.to_weft(), "to": to.to_weft()}})
            }
            Self::Goto(table) => json!({"goto": table}),
        }
    }
}

impl Field {
    fn to_weft(self) -> Value {
        match self {
            Self::EthSrc(address) => json!({"eth_src": mac(address)}),
            Self::EthDst(address) => json!({"eth_dst": mac(address)}),
            Self::IpSrc(address) => json!({"ip_src": address}),
            Self::IpDst(address) => json!({"ip_dst": address}),
            Self::Dscp(value) => json!({"ip_dscp": value}),
            Self::Ecn(value) => json!({"ip_ecn": value}),
            Self::Ttl(value) => json!({"ip_ttl": value}),
            Self::L4Src(port) => json!({"l4_src": port}),
            Self::L4Dst(port) => json!({"l4_dst": port}),
            Self::VlanVid(vid) => json!({"vlan_vid": vid}),
            Self::VlanPcp(pcp) => json!({"vlan_pcp": pcp}),
            Self::MplsLabel(label) => json!({"mpls_label": label}),
            Self::MplsTc(class) => json!({"mpls_tc": class}),
            Self::MplsTtl(ttl) => json!({"mpls_ttl": ttl}),
            Self::ArpOp(operation) => json!({"arp_op": operation}),
            Self::ArpSpa(address) => json!({"arp_spa": address}),
            Self::ArpTpa(address) => json!({"arp_tpa": address}),
            Self::ArpSha(address) => json!({"arp_sha": mac(address)}),
            Self::ArpTha(address) => json!({"arp_tha": mac(address)}),
            Self::Ipv6Label(label) => json!({"ipv6_label": label}),
            Self::Metadata(value, mask) => json!({"metadata": format!("{value:#x}/{mask:#x}")}),
        }
    }
}

impl CopiedField {
    fn to_weft(self) -> &'static str {
        match self {
            Self::EthSrc => "eth_src",
            Self::EthDst => "eth_dst",
            Self::IpSrc => "ip_src",
            Self::IpDst => "ip_dst",
            Self::ArpSpa => "arp_spa",
            Self::ArpTpa => "arp_tpa",
            Self::ArpSha => "arp_sha",
            Self::ArpTha => "arp_tha",
            Self::L4Src => "l4_src",
            Self::L4Dst => "l4_dst",
            Self::Metadata => "metadata",
        }
    }
}
