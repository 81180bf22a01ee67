use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::{Map, Value, json};

/// A port, by the number that OpenFlow knows it by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port(pub u16);

/// What the rules call the ports.
pub const PORTS: [Port; 3] = [Port(1), Port(2), Port(3)];

impl Port {
    /// What Weft's clients call it.
    #[must_use]
    pub fn name(self) -> String {
        format!("p{}", self.0)
    }
}

/// A rule, before it is written for one system or the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The table that it is in.
    pub table: u8,
    /// Of its own in the table, as neither system says what equal ones mean.
    pub priority: u16,
    /// What it matches.
    pub conditions: Conditions,
    /// What it does.
    pub actions: Vec<Action>,
}

/// An address, and the bits of it that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are the versions of IP")]
pub enum IpCondition {
    V4(Ipv4Addr, Ipv4Addr),
    V6(Ipv6Addr, Ipv6Addr),
}

/// The outer tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VlanCondition {
    /// There is none.
    Untagged,
    /// One of this VLAN and, if it is given, this priority.
    Tagged(u16, Option<u8>),
}

/// Where in a fragmented packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the API")]
pub enum FragmentCondition {
    No,
    First,
    Later,
    Any,
}

/// What a rule matches: everything that is given. The pairs are a value and its mask.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields have the names that the API documents")]
pub struct Conditions {
    pub in_port: Option<Port>,
    pub eth_src: Option<([u8; 6], [u8; 6])>,
    pub eth_dst: Option<([u8; 6], [u8; 6])>,
    pub eth_type: Option<u16>,
    pub vlan: Option<VlanCondition>,
    pub ip_src: Option<IpCondition>,
    pub ip_dst: Option<IpCondition>,
    pub ip_proto: Option<u8>,
    pub ip_dscp: Option<u8>,
    pub ip_ecn: Option<u8>,
    pub ip_ttl: Option<u8>,
    pub ip_frag: Option<FragmentCondition>,
    pub l4_src: Option<(u16, u16)>,
    pub l4_dst: Option<(u16, u16)>,
    pub tcp_flags: Option<(u16, u16)>,
    pub icmp_type: Option<u8>,
    pub icmp_code: Option<u8>,
}

/// What a rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the API")]
pub enum Action {
    Output(Port),
    Drop,
    Set(Field),
    DecrementTtl,
    PushVlan { tpid: u16, vid: u16, pcp: u8 },
    PopVlan,
    Goto(u8),
}

/// A field that is set, and to what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the API")]
pub enum Field {
    EthSrc([u8; 6]),
    EthDst([u8; 6]),
    IpSrc(IpAddr),
    IpDst(IpAddr),
    Dscp(u8),
    Ecn(u8),
    Ttl(u8),
    L4Src(u16),
    L4Dst(u16),
    VlanVid(u16),
    VlanPcp(u8),
}

/// A hardware address as both systems write it.
pub(super) fn mac(address: [u8; 6]) -> String {
    address.map(|byte| format!("{byte:02x}")).join(":")
}

impl Rule {
    /// The rule as Weft's API takes it.
    #[must_use]
    pub fn to_weft(&self) -> Value {
        let actions: Vec<Value> = self.actions.iter().map(|action| action.to_weft()).collect();
        json!({
            "priority": self.priority,
            "match": self.conditions.to_weft(),
            "actions": actions,
        })
    }
}

impl Conditions {
    fn to_weft(&self) -> Value {
        let masked_mac =
            |(value, mask): ([u8; 6], [u8; 6])| json!(format!("{}/{}", mac(value), mac(mask)));
        let address = |condition: IpCondition| match condition {
            IpCondition::V4(value, mask) => json!(format!("{value}/{mask}")),
            IpCondition::V6(value, mask) => json!(format!("{value}/{mask}")),
        };
        let bits = |(value, mask): (u16, u16)| json!(format!("{value:#x}/{mask:#x}"));
        let number = |number: u8| json!(number);
        let (vid, pcp) = match self.vlan {
            None => (None, None),
            Some(VlanCondition::Untagged) => (Some(json!("none")), None),
            Some(VlanCondition::Tagged(vid, pcp)) => (Some(json!(vid)), pcp.map(number)),
        };
        let fragment = self.ip_frag.map(|fragment| match fragment {
            FragmentCondition::No => json!("no"),
            FragmentCondition::First => json!("first"),
            FragmentCondition::Later => json!("later"),
            FragmentCondition::Any => json!("any"),
        });
        let fields = [
            ("in_port", self.in_port.map(|port| json!(port.name()))),
            ("eth_src", self.eth_src.map(masked_mac)),
            ("eth_dst", self.eth_dst.map(masked_mac)),
            ("eth_type", self.eth_type.map(|it| json!(format!("{it:#06x}")))),
            ("vlan_vid", vid),
            ("vlan_pcp", pcp),
            ("ip_src", self.ip_src.map(address)),
            ("ip_dst", self.ip_dst.map(address)),
            ("ip_proto", self.ip_proto.map(number)),
            ("ip_dscp", self.ip_dscp.map(number)),
            ("ip_ecn", self.ip_ecn.map(number)),
            ("ip_ttl", self.ip_ttl.map(number)),
            ("ip_frag", fragment),
            ("l4_src", self.l4_src.map(bits)),
            ("l4_dst", self.l4_dst.map(bits)),
            ("tcp_flags", self.tcp_flags.map(bits)),
            ("icmp_type", self.icmp_type.map(number)),
            ("icmp_code", self.icmp_code.map(number)),
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
        }
    }
}
