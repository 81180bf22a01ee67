mod family;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub(crate) use self::family::Family;
use crate::{
    ArpOperation, Dscp, Ecn, EtherType, Invalid, IpFragment, IpMatch, IpProtocol, Ipv6Label,
    L4PortMatch, MacMatch, Metadata, MplsBottom, MplsLabel, MplsTrafficClass, Name, TcpFlagsMatch,
    VlanMatch, VlanPriority,
};

/// The packets that a rule is about: those that match every field that is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// The port that they came by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_port: Option<Name>,
    /// Who sent the frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eth_src: Option<MacMatch>,
    /// Whom the frame is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eth_dst: Option<MacMatch>,
    /// What is in the frame, behind its VLAN tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eth_type: Option<EtherType>,
    /// The outer VLAN tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlan_vid: Option<VlanMatch>,
    /// The outer VLAN tag's priority. Needs a `vlan_vid`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlan_pcp: Option<VlanPriority>,
    /// The VLAN tag behind the outer one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inner_vlan_vid: Option<VlanMatch>,
    /// The inner VLAN tag's priority. Needs an `inner_vlan_vid`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inner_vlan_pcp: Option<VlanPriority>,
    /// The outermost MPLS label. Needs the `eth_type` mpls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mpls_label: Option<MplsLabel>,
    /// The outermost label's traffic class. Needs the `eth_type` mpls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mpls_tc: Option<MplsTrafficClass>,
    /// Whether the outermost label is the last: 1 or 0. Needs the `eth_type` mpls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mpls_bos: Option<MplsBottom>,
    /// What an ARP packet asks or answers. Needs the `eth_type` arp.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arp_op: Option<ArpOperation>,
    /// The IPv4 address of ARP's sender. Needs the `eth_type` arp.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arp_spa: Option<IpMatch>,
    /// The IPv4 address of ARP's target. Needs the `eth_type` arp.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arp_tpa: Option<IpMatch>,
    /// The Ethernet address of ARP's sender. Needs the `eth_type` arp.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arp_sha: Option<MacMatch>,
    /// The Ethernet address of ARP's target. Needs the `eth_type` arp.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arp_tha: Option<MacMatch>,
    /// Who sent the IP packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_src: Option<IpMatch>,
    /// Whom the IP packet is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_dst: Option<IpMatch>,
    /// What the IP packet carries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_proto: Option<IpProtocol>,
    /// The IP packet's differentiated services.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_dscp: Option<Dscp>,
    /// The IP packet's congestion notification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_ecn: Option<Ecn>,
    /// The IP packet's TTL or hop limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_ttl: Option<u8>,
    /// Whether the IP packet is a fragment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_frag: Option<IpFragment>,
    /// The flow label of IPv6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipv6_label: Option<Ipv6Label>,
    /// The source port of TCP, UDP or SCTP. Needs such an `ip_proto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l4_src: Option<L4PortMatch>,
    /// The destination port of TCP, UDP or SCTP. Needs such an `ip_proto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l4_dst: Option<L4PortMatch>,
    /// The control bits of TCP. Needs the `ip_proto` tcp.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_flags: Option<TcpFlagsMatch>,
    /// The type of an ICMP message. Needs the `ip_proto` icmp or icmpv6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icmp_type: Option<u8>,
    /// The code of an ICMP message. Needs the `ip_proto` icmp or icmpv6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icmp_code: Option<u8>,
    /// What stages and rules have written beside the packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

impl Match {
    /// Checks that no field contradicts another or lacks the one that it needs. Answers with what
    /// the packets are then known to be.
    pub(crate) fn validate(&self) -> Result<Option<Family>, Invalid> {
        self.vlan_fields()?;
        self.fields_of_their_ether_type()?;
        self.transport_fields()?;
        self.family()
    }

    fn vlan_fields(&self) -> Result<(), Invalid> {
        for (pcp, priority, vid, vlan) in [
            ("vlan_pcp", self.vlan_pcp, "vlan_vid", self.vlan_vid),
            ("inner_vlan_pcp", self.inner_vlan_pcp, "inner_vlan_vid", self.inner_vlan_vid),
        ] {
            if priority.is_some() && !matches!(vlan, Some(VlanMatch::Tagged(_))) {
                return Err(Invalid::at(&[pcp], "only a packet with a VLAN tag has a priority")
                    .hint(format!("add {vid} with a VLAN's number")));
            }
        }
        match (self.vlan_vid, self.inner_vlan_vid) {
            (Some(VlanMatch::Untagged), Some(VlanMatch::Tagged(_))) => {
                let reason = "a packet without an outer tag has no inner one";
                Err(Invalid::at(&["inner_vlan_vid"], reason)
                    .hint("leave out vlan_vid, or write a VLAN's number there"))
            }
            _ => Ok(()),
        }
    }

    fn fields_of_their_ether_type(&self) -> Result<(), Invalid> {
        let is_arp = self.eth_type == Some(EtherType::ARP);
        let is_mpls = self.eth_type.is_some_and(EtherType::is_mpls);
        for (field, given, allowed, ether_type) in [
            ("mpls_label", self.mpls_label.is_some(), is_mpls, "mpls"),
            ("mpls_tc", self.mpls_tc.is_some(), is_mpls, "mpls"),
            ("mpls_bos", self.mpls_bos.is_some(), is_mpls, "mpls"),
            ("arp_op", self.arp_op.is_some(), is_arp, "arp"),
            ("arp_spa", self.arp_spa.is_some(), is_arp, "arp"),
            ("arp_tpa", self.arp_tpa.is_some(), is_arp, "arp"),
            ("arp_sha", self.arp_sha.is_some(), is_arp, "arp"),
            ("arp_tha", self.arp_tha.is_some(), is_arp, "arp"),
        ] {
            if given && !allowed {
                return Err(Invalid::at(&[field], format!("only {ether_type} has this field"))
                    .hint(format!("add eth_type with {ether_type}")));
            }
        }
        for (field, address) in [("arp_spa", self.arp_spa), ("arp_tpa", self.arp_tpa)] {
            if matches!(address, Some(IpMatch::V6 { .. })) {
                return Err(Invalid::at(&[field], "the addresses of ARP are IPv4's")
                    .hint("for IPv6's, match neighbour discovery: ip_proto icmpv6 and icmp_type 135 or 136"));
            }
        }
        Ok(())
    }

    fn transport_fields(&self) -> Result<(), Invalid> {
        let is = |protocols: &[IpProtocol]| {
            self.ip_proto.is_some_and(|protocol| protocols.contains(&protocol))
        };
        let has_ports = self.ip_proto.is_some_and(IpProtocol::has_ports);
        let is_icmp = is(&[IpProtocol::ICMP, IpProtocol::ICMPV6]);
        for (field, given, allowed, protocols) in [
            ("l4_src", self.l4_src.is_some(), has_ports, "tcp, udp or sctp"),
            ("l4_dst", self.l4_dst.is_some(), has_ports, "tcp, udp or sctp"),
            ("tcp_flags", self.tcp_flags.is_some(), is(&[IpProtocol::TCP]), "tcp"),
            ("icmp_type", self.icmp_type.is_some(), is_icmp, "icmp or icmpv6"),
            ("icmp_code", self.icmp_code.is_some(), is_icmp, "icmp or icmpv6"),
        ] {
            if given && !allowed {
                return Err(Invalid::at(&[field], format!("only {protocols} has this field"))
                    .hint(format!("add ip_proto with {protocols}")));
            }
            if given && self.ip_frag == Some(IpFragment::Later) {
                return Err(Invalid::at(&[field], "later fragments have no transport header")
                    .hint("leave out this field, or match another ip_frag"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn validate(value: Value) -> Result<Option<Family>, String> {
        let matching: Match = serde_json::from_value(value).unwrap();
        matching.validate().map_err(|invalid| invalid.to_string())
    }

    #[test]
    fn knows_the_family_if_a_field_implies_it() {
        for (value, family) in [
            (json!({}), None),
            (json!({"ip_proto": "tcp", "l4_dst": 443, "tcp_flags": "0x02/0x12"}), None),
            (json!({"ip_dscp": 46, "ip_ecn": 1, "ip_ttl": 1, "ip_frag": "any"}), None),
            (
                json!({"eth_type": "ipv4", "ip_proto": "udp", "l4_src": "0x8000/0x8000"}),
                Some(Family::V4),
            ),
            (json!({"ip_src": "10.0.0.0/8", "ip_dst": "10.1.0.0/16"}), Some(Family::V4)),
            (json!({"ip_proto": "icmpv6", "icmp_type": 135, "icmp_code": 0}), Some(Family::V6)),
            (json!({"eth_type": "arp", "vlan_vid": 10, "vlan_pcp": 7}), Some(Family::Arp)),
            (
                json!({"eth_type": "arp", "arp_op": "reply", "arp_spa": "10.0.0.0/8"}),
                Some(Family::Arp),
            ),
            (json!({"eth_type": "mpls_multicast", "mpls_label": 16}), Some(Family::Mpls)),
            (json!({"vlan_vid": 1, "inner_vlan_vid": 2, "inner_vlan_pcp": 1}), None),
            (json!({"vlan_vid": "none", "inner_vlan_vid": "none"}), None),
            (json!({"eth_type": "0x88cc", "metadata": "0x1/0x3"}), Some(Family::Other)),
            (json!({"ipv6_label": 1}), Some(Family::V6)),
        ] {
            assert_eq!(validate(value.clone()), Ok(family), "{value}");
        }
    }

    #[test]
    fn refuses_contradictions_and_fields_without_their_header() {
        for (value, expected) in [
            (json!({"vlan_pcp": 1}), "/vlan_pcp: only a packet with a VLAN tag"),
            (
                json!({"vlan_pcp": 1, "vlan_vid": "none"}),
                "/vlan_pcp: only a packet with a VLAN tag",
            ),
            (json!({"inner_vlan_pcp": 1, "vlan_vid": 1}), "/inner_vlan_pcp: only a packet with"),
            (
                json!({"inner_vlan_vid": 1, "vlan_vid": "none"}),
                "/inner_vlan_vid: a packet without an outer tag",
            ),
            (json!({"mpls_label": 1}), "/mpls_label: only mpls has this field (add eth_type"),
            (json!({"mpls_tc": 1, "eth_type": "ipv4"}), "/mpls_tc: only mpls has"),
            (json!({"mpls_bos": 1, "eth_type": "arp"}), "/mpls_bos: only mpls has"),
            (json!({"arp_op": 1}), "/arp_op: only arp has this field (add eth_type with arp)"),
            (json!({"arp_spa": "10.0.0.1", "eth_type": "ipv4"}), "/arp_spa: only arp has"),
            (json!({"arp_tpa": "::1", "eth_type": "arp"}), "/arp_tpa: the addresses of ARP"),
            (json!({"arp_sha": "02:00:00:00:00:01"}), "/arp_sha: only arp has"),
            (json!({"arp_tha": "02:00:00:00:00:01"}), "/arp_tha: only arp has"),
            (json!({"eth_type": "mpls", "ip_ttl": 1}), "/ip_ttl: eth_type says that this is not"),
            (
                json!({"ipv6_label": 1, "ip_src": "10.0.0.1"}),
                "/ipv6_label: it is of IPv6, but ip_src says IPv4",
            ),
            (json!({"l4_dst": "80-90"}), "/l4_dst: only tcp, udp or sctp has this field"),
            (json!({"l4_dst": 80}), "/l4_dst: only tcp, udp or sctp has this field"),
            (json!({"l4_src": 80, "ip_proto": "icmp"}), "/l4_src: only tcp, udp or sctp"),
            (json!({"tcp_flags": "0x02", "ip_proto": "udp"}), "/tcp_flags: only tcp has"),
            (json!({"icmp_code": 0, "ip_proto": "tcp"}), "/icmp_code: only icmp or icmpv6"),
            (
                json!({"ip_proto": "tcp", "l4_dst": 80, "ip_frag": "later"}),
                "/l4_dst: later fragments",
            ),
            (json!({"eth_type": "arp", "ip_ttl": 1}), "/ip_ttl: eth_type says that this is not IP"),
            (
                json!({"ip_src": "10.0.0.1", "ip_dst": "::1"}),
                "/ip_dst: it is of IPv6, but ip_src says IPv4",
            ),
            (
                json!({"eth_type": "ipv6", "ip_src": "10.0.0.1"}),
                "/ip_src: it is of IPv4, but eth_type says IPv6",
            ),
            (
                json!({"ip_src": "::1", "ip_proto": "icmp"}),
                "/ip_proto: it is of IPv4, but ip_src says IPv6",
            ),
        ] {
            let refused = validate(value.clone()).unwrap_err();
            assert!(refused.starts_with(expected), "{value}: {refused}");
        }
    }

    #[test]
    fn shows_only_what_was_given() {
        let value = json!({"in_port": "lan", "eth_dst": "02:00:00:00:00:01", "ip_ttl": 0});
        let matching: Match = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(json!(matching), value);
    }
}
