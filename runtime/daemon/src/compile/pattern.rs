use api_model::{
    EtherType, Invalid, IpFragment, IpMatch, IpProtocol, L4PortMatch, Match, VlanMatch,
    VlanPriority,
};
use dataplane::{
    classify::Pattern,
    flow::{FlowKey, layers, mpls, vlan},
};

use super::{
    Names,
    range::{self, Masked},
};

/// The keys that a match is about: every field that is given adds to a value and its mask. Ranges
/// of ports make several patterns, of which no two share a key.
pub(super) fn compile(written: &Match, names: &Names) -> Result<Vec<Pattern>, Invalid> {
    let mut bits = Bits::default();
    if let Some(port) = &written.in_port {
        bits.value.in_port = names.port(port).map_err(|invalid| invalid.under("in_port"))?.0;
        bits.mask.in_port = u16::MAX;
    }
    bits.ethernet(written);
    bits.mpls(written);
    bits.arp(written);
    bits.network(written);
    bits.transport(written);
    if let Some(metadata) = written.metadata {
        (bits.value.metadata, bits.mask.metadata) = (metadata.value, metadata.mask);
    }
    Ok(bits.with_ports(&ports(written.l4_src), &ports(written.l4_dst)))
}

/// The ports of a match, as values and masks; one that says nothing if there is none.
fn ports(written: Option<L4PortMatch>) -> Vec<Masked> {
    match written {
        None => vec![(0, 0)],
        Some(L4PortMatch::Masked { port, mask }) => vec![(port, mask)],
        Some(L4PortMatch::Range { first, last }) => range::prefixes(first, last),
    }
}

#[derive(Default, Clone, Copy)]
struct Bits {
    value: FlowKey,
    mask: FlowKey,
}

impl Bits {
    fn ethernet(&mut self, written: &Match) {
        if let Some(source) = written.eth_src {
            (self.value.eth_src, self.mask.eth_src) = (source.address.0, source.mask.0);
        }
        if let Some(destination) = written.eth_dst {
            (self.value.eth_dst, self.mask.eth_dst) = (destination.address.0, destination.mask.0);
        }
        if let Some(ethertype) = written.eth_type {
            self.ethertype(ethertype);
        }
        self.tag(0, written.vlan_vid, written.vlan_pcp);
        self.tag(1, written.inner_vlan_vid, written.inner_vlan_pcp);
    }

    /// Adds the outer tag or the inner one.
    fn tag(&mut self, place: usize, vlan: Option<VlanMatch>, priority: Option<VlanPriority>) {
        let (value, mask) = (&mut self.value.vlan[place], &mut self.mask.vlan[place]);
        match vlan {
            None => {}
            Some(VlanMatch::Untagged) => *mask |= vlan::PRESENT,
            Some(VlanMatch::Tagged(vid)) => {
                *value |= vlan::PRESENT | vid.get();
                *mask |= vlan::PRESENT | vlan::VID;
            }
        }
        if let Some(pcp) = priority {
            *value |= u16::from(pcp.get()) << vlan::PCP_SHIFT;
            *mask |= vlan::PCP;
        }
    }

    fn mpls(&mut self, written: &Match) {
        if let Some(label) = written.mpls_label {
            self.entry(mpls::LABEL, label.get() << mpls::LABEL_SHIFT);
        }
        if let Some(class) = written.mpls_tc {
            let class = u32::from(class.get()) << mpls::TRAFFIC_CLASS_SHIFT;
            self.entry(mpls::TRAFFIC_CLASS, class);
        }
        if let Some(bottom) = written.mpls_bos {
            let bottom = if bottom.get() == 1 { mpls::BOTTOM } else { 0 };
            self.entry(mpls::BOTTOM, bottom);
        }
    }

    /// Adds bits of the outermost label, which must be there.
    fn entry(&mut self, mask: u32, value: u32) {
        self.mask.mpls |= mask | mpls::PRESENT;
        self.value.mpls |= value | mpls::PRESENT;
    }

    /// Adds ARP's fields, which a key has in the places of IP's.
    fn arp(&mut self, written: &Match) {
        if let Some(operation) = written.arp_op {
            self.layer(layers::NETWORK, true);
            (self.value.protocol, self.mask.protocol) = (operation.get(), u8::MAX);
        }
        if let Some(IpMatch::V4 { address, mask }) = written.arp_spa {
            self.layer(layers::NETWORK, true);
            (self.value.ipv4_src, self.mask.ipv4_src) = (address.octets(), mask.octets());
        }
        if let Some(IpMatch::V4 { address, mask }) = written.arp_tpa {
            self.layer(layers::NETWORK, true);
            (self.value.ipv4_dst, self.mask.ipv4_dst) = (address.octets(), mask.octets());
        }
        if let Some(sender) = written.arp_sha {
            self.layer(layers::NETWORK, true);
            self.value.ipv6_src[..6].copy_from_slice(&sender.address.0);
            self.mask.ipv6_src[..6].copy_from_slice(&sender.mask.0);
        }
        if let Some(target) = written.arp_tha {
            self.layer(layers::NETWORK, true);
            self.value.ipv6_dst[..6].copy_from_slice(&target.address.0);
            self.mask.ipv6_dst[..6].copy_from_slice(&target.mask.0);
        }
    }

    fn ethertype(&mut self, ethertype: EtherType) {
        (self.value.ethertype, self.mask.ethertype) = (ethertype.get(), u16::MAX);
    }

    fn network(&mut self, written: &Match) {
        if let Some(address) = written.ip_src {
            self.address(address, |key| (&mut key.ipv4_src, &mut key.ipv6_src));
        }
        if let Some(address) = written.ip_dst {
            self.address(address, |key| (&mut key.ipv4_dst, &mut key.ipv6_dst));
        }
        if let Some(protocol) = written.ip_proto {
            self.layer(layers::IP, true);
            self.family_of(protocol);
            (self.value.protocol, self.mask.protocol) = (protocol.0, u8::MAX);
        }
        if let Some(dscp) = written.ip_dscp {
            self.layer(layers::IP, true);
            self.value.traffic_class |= dscp.get() << 2;
            self.mask.traffic_class |= 0xfc;
        }
        if let Some(ecn) = written.ip_ecn {
            self.layer(layers::IP, true);
            self.value.traffic_class |= ecn.get();
            self.mask.traffic_class |= 0x03;
        }
        if let Some(ttl) = written.ip_ttl {
            self.layer(layers::IP, true);
            (self.value.ttl, self.mask.ttl) = (ttl, u8::MAX);
        }
        if let Some(fragment) = written.ip_frag {
            self.layer(layers::IP, true);
            self.fragment(fragment);
        }
        if let Some(label) = written.ipv6_label {
            self.layer(layers::IP, true);
            self.ethertype(EtherType::IPV6);
            (self.value.ipv6_label, self.mask.ipv6_label) = (label.get(), u32::MAX);
        }
    }

    /// ICMP is IPv4's and ICMPv6 is IPv6's, though the other could carry the number.
    fn family_of(&mut self, protocol: IpProtocol) {
        match protocol {
            IpProtocol::ICMP => self.ethertype(EtherType::IPV4),
            IpProtocol::ICMPV6 => self.ethertype(EtherType::IPV6),
            _ => {}
        }
    }

    /// Adds an address of one of the two families, at its place in a key.
    fn address(
        &mut self,
        address: IpMatch,
        place: fn(&mut FlowKey) -> (&mut [u8; 4], &mut [u8; 16]),
    ) {
        self.layer(layers::IP, true);
        let (value, bits) = (place(&mut self.value), place(&mut self.mask));
        match address {
            IpMatch::V4 { address, mask } => {
                (*value.0, *bits.0) = (address.octets(), mask.octets());
                self.ethertype(EtherType::IPV4);
            }
            IpMatch::V6 { address, mask } => {
                (*value.1, *bits.1) = (address.octets(), mask.octets());
                self.ethertype(EtherType::IPV6);
            }
        }
    }

    fn fragment(&mut self, fragment: IpFragment) {
        match fragment {
            IpFragment::No => self.layer(layers::FRAGMENT, false),
            IpFragment::Any => self.layer(layers::FRAGMENT, true),
            IpFragment::Later => self.layer(layers::LATER_FRAGMENT, true),
            IpFragment::First => {
                self.layer(layers::FRAGMENT, true);
                self.layer(layers::LATER_FRAGMENT, false);
            }
        }
    }

    fn transport(&mut self, written: &Match) {
        if written.l4_src.is_some() || written.l4_dst.is_some() {
            self.layer(layers::TRANSPORT, true);
        }
        if let Some(kind) = written.icmp_type {
            self.layer(layers::TRANSPORT, true);
            (self.value.l4_src, self.mask.l4_src) = (kind.into(), u16::MAX);
        }
        if let Some(code) = written.icmp_code {
            self.layer(layers::TRANSPORT, true);
            (self.value.l4_dst, self.mask.l4_dst) = (code.into(), u16::MAX);
        }
        if let Some(flags) = written.tcp_flags {
            self.layer(layers::TRANSPORT, true);
            (self.value.tcp_flags, self.mask.tcp_flags) = (flags.flags, flags.mask);
        }
    }

    /// A pattern for each source with each destination. Both are ranges of the worst kind at most,
    /// so these are 900 patterns at most.
    fn with_ports(self, sources: &[Masked], destinations: &[Masked]) -> Vec<Pattern> {
        let mut patterns = Vec::with_capacity(sources.len() * destinations.len());
        for source in sources {
            for destination in destinations {
                let Self { mut value, mut mask } = self;
                (value.l4_src, mask.l4_src) = (value.l4_src | source.0, mask.l4_src | source.1);
                (value.l4_dst, mask.l4_dst) =
                    (value.l4_dst | destination.0, mask.l4_dst | destination.1);
                patterns.push(Pattern::new(&value, &mask));
            }
        }
        patterns
    }

    fn layer(&mut self, layer: u8, there: bool) {
        self.mask.layers |= layer;
        self.value.layers |= if there { layer } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use dataplane::{PortId, packet::parse};
    use serde_json::{Value, json};

    use super::*;

    /// A tagged TCP SYN from 10.1.2.3:4000 to 10.9.9.9:443, TTL 64, DSCP 46.
    const SYN: &[u8] = &[
        2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x81, 0, 0x60, 7, 8, 0, // Ethernet, VLAN 7
        0x45, 0xb8, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 1, 2, 3, 10, 9, 9, 9, // IPv4
        0x0f, 0xa0, 1, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 2, 0, 0, 0, 0, 0, 0, // TCP
    ];

    fn matches(written: Value, frame: &[u8]) -> bool {
        let names = Names {
            ports: BTreeMap::from([("lan".parse().unwrap(), PortId(4))]),
            ..Names::default()
        };
        let patterns = compile(&serde_json::from_value(written).unwrap(), &names).unwrap();
        let key = parse(PortId(4), frame).unwrap().key;
        let matching = patterns.iter().filter(|pattern| pattern.matches(&key)).count();
        assert!(matching <= 1, "patterns of a rule share no key");
        matching == 1
    }

    #[test]
    fn each_field_matches_what_it_says_and_not_its_neighbour() {
        for (yes, no) in [
            (json!({"in_port": "lan"}), json!({"in_port": "lan", "eth_type": "arp"})),
            (json!({"eth_src": "02:00:00:00:00:01"}), json!({"eth_src": "02:00:00:00:00:02"})),
            (
                json!({"eth_dst": "02:00:00:00:00:00/ff:ff:ff:ff:ff:00"}),
                json!({"eth_dst": "01:00:00:00:00:00/01:00:00:00:00:00"}),
            ),
            (json!({"eth_type": "ipv4"}), json!({"eth_type": "ipv6"})),
            (json!({"vlan_vid": 7, "vlan_pcp": 3}), json!({"vlan_vid": 8})),
            (json!({"vlan_vid": 7}), json!({"vlan_vid": "none"})),
            (json!({"ip_src": "10.1.0.0/16"}), json!({"ip_src": "10.2.0.0/16"})),
            (json!({"ip_dst": "10.9.9.9"}), json!({"ip_dst": "2001:db8::/32"})),
            (json!({"ip_proto": "tcp"}), json!({"ip_proto": "udp"})),
            (json!({"ip_dscp": 46, "ip_ecn": 0}), json!({"ip_ecn": 1})),
            (json!({"ip_ttl": 64}), json!({"ip_ttl": 63})),
            (json!({"ip_frag": "no"}), json!({"ip_frag": "any"})),
            (json!({"ip_proto": "tcp", "l4_dst": 443}), json!({"ip_proto": "tcp", "l4_dst": 80})),
            (
                json!({"ip_proto": "tcp", "l4_src": "4000/0xfff0"}),
                json!({"ip_proto": "tcp", "l4_src": "8000/0xfff0"}),
            ),
            (
                json!({"ip_proto": "tcp", "l4_src": "4000-4001", "l4_dst": "1-443"}),
                json!({"ip_proto": "tcp", "l4_src": "4001-65535", "l4_dst": "1-443"}),
            ),
            (
                json!({"ip_proto": "tcp", "l4_dst": "443-65535"}),
                json!({"ip_proto": "tcp", "l4_dst": "0-442"}),
            ),
            (json!({"inner_vlan_vid": "none"}), json!({"vlan_vid": 7, "inner_vlan_vid": 7})),
            (json!({"metadata": "0x0/0xff"}), json!({"metadata": "0x1/0x1"})),
            (
                json!({"ip_proto": "tcp", "tcp_flags": "0x02/0x12"}),
                json!({"ip_proto": "tcp", "tcp_flags": "0x12/0x12"}),
            ),
        ] {
            assert!(matches(yes.clone(), SYN), "{yes}");
            assert!(!matches(no.clone(), SYN), "{no}");
        }
    }

    #[test]
    fn each_field_of_other_headers_matches_what_it_says_and_not_its_neighbour() {
        let two_tags = [&SYN[..12], &[0x88, 0xa8, 0, 6], &SYN[12..]].concat();
        assert!(matches(json!({"inner_vlan_vid": 7, "inner_vlan_pcp": 3}), &two_tags));
        assert!(!matches(json!({"inner_vlan_vid": 6}), &two_tags));
        assert!(!matches(json!({"inner_vlan_vid": 7, "inner_vlan_pcp": 2}), &two_tags));
        assert!(!matches(json!({"inner_vlan_vid": "none"}), &two_tags));

        let labelled = [&SYN[..12], &[0x88, 0x47, 0xab, 0xcd, 0xea, 64]].concat();
        let mpls =
            |field: &str, value: u32| matches(json!({"eth_type": "mpls", field: value}), &labelled);
        assert!(mpls("mpls_label", 0xabcde) && !mpls("mpls_label", 0xabcdf));
        assert!(mpls("mpls_tc", 5) && !mpls("mpls_tc", 4));
        assert!(mpls("mpls_bos", 0) && !mpls("mpls_bos", 1));
        let cut = &labelled[..labelled.len() - 1];
        assert!(!matches(json!({"eth_type": "mpls", "mpls_bos": 0}), cut));

        let mut v6 = [&SYN[..12], &[0x86, 0xdd, 0x60, 0x0a, 0xbc, 0xde, 0, 0, 59, 64]].concat();
        v6.resize(14 + 40, 0);
        assert!(matches(json!({"ipv6_label": 0xabcde}), &v6));
        assert!(!matches(json!({"ipv6_label": 0}), &v6));
        assert!(!matches(json!({"ipv6_label": 0}), SYN), "IPv4 has none");
    }

    #[test]
    fn fields_of_arp_match_what_they_say_and_nothing_else() {
        let mut arp = [&SYN[..12], &[8, 6, 0, 1, 8, 0, 6, 4, 0, 2]].concat();
        arp.extend([2, 0, 0, 0, 0, 1, 10, 0, 0, 1, 2, 0, 0, 0, 0, 2, 10, 0, 0, 2]);
        let is = |field: &str, value: &str| matches(json!({"eth_type": "arp", field: value}), &arp);
        for (field, yes, no) in [
            ("arp_op", "reply", "request"),
            ("arp_spa", "10.0.0.1", "10.0.0.2"),
            ("arp_tpa", "10.0.0.0/24", "10.0.1.0/24"),
            ("arp_sha", "02:00:00:00:00:01", "02:00:00:00:00:02"),
            ("arp_tha", "02:00:00:00:00:02/ff:00:00:00:00:ff", "02:00:00:00:00:01"),
        ] {
            assert!(is(field, yes), "{field} {yes}");
            assert!(!is(field, no), "{field} {no}");
        }
        let cut = &arp[..arp.len() - 1];
        assert!(!matches(json!({"eth_type": "arp", "arp_spa": "0.0.0.0/0"}), cut));
    }

    #[test]
    fn a_rule_has_at_most_900_patterns() {
        let worst = json!({"ip_proto": "tcp", "l4_src": "1-65534", "l4_dst": "1-65534"});
        let patterns = compile(&serde_json::from_value(worst).unwrap(), &Names::default());
        assert_eq!(patterns.unwrap().len(), 900);
    }

    #[test]
    fn what_is_cut_matches_nothing_about_what_is_gone() {
        let cut = &SYN[..SYN.len() - 1];
        assert!(matches(json!({"eth_type": "ipv4"}), cut));
        assert!(!matches(json!({"ip_src": "0.0.0.0/0"}), cut));
        assert!(!matches(json!({"ip_proto": 0}), cut));
    }

    #[test]
    fn an_arp_operation_is_no_ip_protocol() {
        let mut arp = vec![0xff; 12];
        arp.extend([8, 6, 0, 1, 8, 0, 6, 4, 0, 6]);
        arp.resize(60, 0);
        assert!(matches(json!({"eth_type": "arp"}), &arp));
        assert!(!matches(json!({"ip_proto": 6}), &arp));
    }

    #[test]
    fn says_which_port_it_does_not_know() {
        let written = serde_json::from_value(json!({"in_port": "wan"})).unwrap();
        let refused = compile(&written, &Names::default()).unwrap_err().to_string();
        assert_eq!(refused, "/in_port: there is no port wan (add the port first)");
    }
}
