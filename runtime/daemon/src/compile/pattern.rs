use api_model::{EtherType, Invalid, IpFragment, IpMatch, IpProtocol, Match, VlanMatch};
use dataplane::{
    classify::Pattern,
    flow::{FlowKey, layers, vlan},
};

use super::Names;

/// The keys that a match is about: every field that is given adds to a value and its mask.
pub(super) fn compile(written: &Match, names: &Names) -> Result<Pattern, Invalid> {
    let mut bits = Bits::default();
    if let Some(port) = &written.in_port {
        bits.value.in_port = names.port(port).map_err(|invalid| invalid.under("in_port"))?.0;
        bits.mask.in_port = u16::MAX;
    }
    bits.ethernet(written);
    bits.network(written);
    bits.transport(written);
    Ok(Pattern::new(&bits.value, &bits.mask))
}

#[derive(Default)]
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
        match written.vlan_vid {
            None => {}
            Some(VlanMatch::Untagged) => self.mask.vlan[0] |= vlan::PRESENT,
            Some(VlanMatch::Tagged(vid)) => {
                self.value.vlan[0] |= vlan::PRESENT | vid.get();
                self.mask.vlan[0] |= vlan::PRESENT | vlan::VID;
            }
        }
        if let Some(pcp) = written.vlan_pcp {
            self.value.vlan[0] |= u16::from(pcp.get()) << vlan::PCP_SHIFT;
            self.mask.vlan[0] |= vlan::PCP;
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
        let source = written.l4_src.map(|it| (it.port, it.mask));
        let destination = written.l4_dst.map(|it| (it.port, it.mask));
        let kind = written.icmp_type.map(|kind| (u16::from(kind), u16::MAX));
        let code = written.icmp_code.map(|code| (u16::from(code), u16::MAX));
        if let Some(bits) = source.or(kind) {
            self.layer(layers::TRANSPORT, true);
            (self.value.l4_src, self.mask.l4_src) = bits;
        }
        if let Some(bits) = destination.or(code) {
            self.layer(layers::TRANSPORT, true);
            (self.value.l4_dst, self.mask.l4_dst) = bits;
        }
        if let Some(flags) = written.tcp_flags {
            self.layer(layers::TRANSPORT, true);
            (self.value.tcp_flags, self.mask.tcp_flags) = (flags.flags, flags.mask);
        }
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
            stages: BTreeMap::new(),
        };
        let pattern = compile(&serde_json::from_value(written).unwrap(), &names).unwrap();
        pattern.matches(&parse(PortId(4), frame).unwrap().key)
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
                json!({"ip_proto": "tcp", "tcp_flags": "0x02/0x12"}),
                json!({"ip_proto": "tcp", "tcp_flags": "0x12/0x12"}),
            ),
        ] {
            assert!(matches(yes.clone(), SYN), "{yes}");
            assert!(!matches(no.clone(), SYN), "{no}");
        }
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
