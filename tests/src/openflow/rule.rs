use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

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

/// Ports, by a value and its mask or by the first and the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum PortsCondition {
    Masked(u16, u16),
    Range(u16, u16),
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
    pub mpls_label: Option<u32>,
    pub mpls_tc: Option<u8>,
    pub mpls_bos: Option<u8>,
    pub arp_op: Option<u8>,
    pub arp_spa: Option<IpCondition>,
    pub arp_tpa: Option<IpCondition>,
    pub arp_sha: Option<([u8; 6], [u8; 6])>,
    pub arp_tha: Option<([u8; 6], [u8; 6])>,
    pub ip_src: Option<IpCondition>,
    pub ip_dst: Option<IpCondition>,
    pub ip_proto: Option<u8>,
    pub ip_dscp: Option<u8>,
    pub ip_ecn: Option<u8>,
    pub ip_ttl: Option<u8>,
    pub ip_frag: Option<FragmentCondition>,
    pub ipv6_label: Option<u32>,
    pub l4_src: Option<PortsCondition>,
    pub l4_dst: Option<PortsCondition>,
    pub tcp_flags: Option<(u16, u16)>,
    pub icmp_type: Option<u8>,
    pub icmp_code: Option<u8>,
    pub metadata: Option<(u64, u64)>,
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
    PushMpls { label: u32, tc: u8 },
    PopMpls(u16),
    DecrementMplsTtl,
    Copy(CopiedField, CopiedField),
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
    MplsLabel(u32),
    MplsTc(u8),
    MplsTtl(u8),
    ArpOp(u8),
    ArpSpa(Ipv4Addr),
    ArpTpa(Ipv4Addr),
    ArpSha([u8; 6]),
    ArpTha([u8; 6]),
    Ipv6Label(u32),
    Metadata(u64, u64),
}

/// A field that is copied, or copied into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the API")]
pub enum CopiedField {
    EthSrc,
    EthDst,
    IpSrc,
    IpDst,
    ArpSpa,
    ArpTpa,
    ArpSha,
    ArpTha,
    L4Src,
    L4Dst,
    Metadata,
}

/// A hardware address as both systems write it.
pub(super) fn mac(address: [u8; 6]) -> String {
    address.map(|byte| format!("{byte:02x}")).join(":")
}
