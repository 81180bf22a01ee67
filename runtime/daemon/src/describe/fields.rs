use std::fmt::Display;

use api_model::{Fields, MacAddress, MacMatch};
use dataplane::{
    PortId,
    flow::{FlowKey, layers, mpls, vlan},
};

use super::{Directory, headers};

/// The fields of a key that a mask has, and what they are: as in a rule's match.
pub(crate) fn matched(key: &FlowKey, mask: &FlowKey, directory: &Directory) -> Fields {
    let mut shown = Shown { key, mask, fields: Vec::new() };
    shown.port(directory);
    shown.mac("eth_src", key.eth_src, mask.eth_src);
    shown.mac("eth_dst", key.eth_dst, mask.eth_dst);
    let full = u16::MAX.into();
    shown.bits("eth_type", key.ethertype, mask.ethertype, full, headers::ether_type);
    headers::tag(&mut shown, 0, ["vlan_vid", "vlan_pcp"]);
    headers::tag(&mut shown, 1, ["inner_vlan_vid", "inner_vlan_pcp"]);
    headers::label(&mut shown);
    headers::network(&mut shown);
    headers::transport(&mut shown);
    shown.bits("metadata", key.metadata, mask.metadata, u64::MAX, |bits| format!("{bits:#x}"));
    Fields(shown.fields)
}

/// The fields that a mask has, and which bits of each: `exact` for all, else what a rule has behind
/// the slash. What the key says decides what a field is called.
pub(crate) fn looked_at(key: &FlowKey, mask: &FlowKey) -> Fields {
    let masked = matched(key, mask, &Directory::default()).0.into_iter().map(|(field, value)| {
        let bits = value.find('/').map_or("exact", |slash| &value[slash..]).to_owned();
        (field, bits)
    });
    masked.collect()
}

/// All that is known of a packet.
pub(crate) fn packet(key: &FlowKey, directory: &Directory) -> Fields {
    matched(key, &there(key), directory)
}

/// The bits of what a packet has.
fn there(key: &FlowKey) -> FlowKey {
    let has = |layer: u8| key.layers & layer != 0;
    let mut mask = FlowKey {
        in_port: u16::MAX,
        eth_src: [0xff; 6],
        eth_dst: [0xff; 6],
        ethertype: u16::MAX,
        metadata: if key.metadata == 0 { 0 } else { u64::MAX },
        ..FlowKey::NONE
    };
    for (mask, tag) in mask.vlan.iter_mut().zip(key.vlan) {
        *mask = if tag & vlan::PRESENT != 0 { u16::MAX } else { 0 };
    }
    if key.mpls & mpls::PRESENT != 0 {
        mask.mpls = mpls::LABEL | mpls::TRAFFIC_CLASS | mpls::BOTTOM;
    }
    if has(layers::NETWORK) {
        mask.protocol = u8::MAX;
        let is_ipv6 = key.ethertype == headers::IPV6;
        if is_ipv6 || !has(layers::IP) {
            (mask.ipv6_src, mask.ipv6_dst) = ([0xff; 16], [0xff; 16]);
            mask.ipv6_label = if is_ipv6 { u32::MAX } else { 0 };
        }
        if !is_ipv6 {
            (mask.ipv4_src, mask.ipv4_dst) = ([0xff; 4], [0xff; 4]);
        }
    }
    if has(layers::IP) {
        (mask.traffic_class, mask.ttl) = (u8::MAX, u8::MAX);
        mask.layers = layers::FRAGMENT | layers::LATER_FRAGMENT;
    }
    if has(layers::TRANSPORT) {
        (mask.l4_src, mask.l4_dst) = (u16::MAX, u16::MAX);
        mask.tcp_flags = if key.protocol == headers::TCP { u16::MAX } else { 0 };
    }
    mask
}

/// The fields that were found so far.
pub(super) struct Shown<'a> {
    pub(super) key: &'a FlowKey,
    pub(super) mask: &'a FlowKey,
    fields: Vec<(String, String)>,
}

impl Shown<'_> {
    pub(super) fn add(&mut self, field: &str, value: impl Display) {
        self.fields.push((field.to_owned(), value.to_string()));
    }

    /// Adds a number: in its own words if all of its bits count, else with those that do.
    pub(super) fn bits<N: Into<u64>>(
        &mut self,
        field: &str,
        value: N,
        mask: N,
        full: u64,
        words: impl FnOnce(u64) -> String,
    ) {
        let mask = mask.into() & full;
        let value = value.into() & mask;
        if mask == full {
            self.add(field, words(value));
        } else if mask != 0 {
            self.add(field, format_args!("{value:#x}/{mask:#x}"));
        }
    }

    pub(super) fn mac(&mut self, field: &str, address: [u8; 6], mask: [u8; 6]) {
        if mask != [0; 6] {
            let (address, mask) = (MacAddress(address), MacAddress(mask));
            self.add(field, MacMatch { address, mask });
        }
    }

    fn port(&mut self, directory: &Directory) {
        let words = |_| directory.port(PortId(self.key.in_port));
        self.bits("in_port", self.key.in_port, self.mask.in_port, u16::MAX.into(), words);
    }
}

#[cfg(test)]
mod tests {
    use dataplane::{SharedTally, classify::RuleId, packet::parse};
    use serde_json::{Value, json};

    use super::*;
    use crate::compile;

    /// A tagged TCP SYN from 10.1.2.3:4000 to 10.9.9.9:443, TTL 64, DSCP 46.
    const SYN: &[u8] = &[
        2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x81, 0, 0x60, 7, 8, 0, // Ethernet, VLAN 7
        0x45, 0xb8, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 1, 2, 3, 10, 9, 9, 9, // IPv4
        0x0f, 0xa0, 1, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 2, 0, 0, 0, 0, 0, 0, // TCP
    ];

    fn directory() -> Directory {
        Directory { ports: [(PortId(4), "lan".parse().unwrap())].into(), ..Directory::default() }
    }

    /// What is shown of what a rule matches.
    fn shown(written: &Value) -> Fields {
        let names = compile::Names {
            ports: [("lan".parse().unwrap(), PortId(4))].into(),
            ..compile::Names::default()
        };
        let spec = json!({"priority": 1, "match": written, "actions": ["drop"]});
        let spec = serde_json::from_value(spec).unwrap();
        let counted = SharedTally::new(1).into();
        let rule = compile::rule(RuleId(1), counted, &spec, &names).unwrap();
        matched(rule.patterns[0].value(), rule.patterns[0].mask(), &directory())
    }

    #[test]
    fn what_a_rule_matches_is_shown_in_its_own_words() {
        for (written, expected) in [
            (json!({}), "any"),
            (
                json!({"in_port": "lan", "eth_src": "02:00:00:00:00:01"}),
                "in_port=lan,eth_src=02:00:00:00:00:01",
            ),
            (
                json!({"eth_dst": "01:00:00:00:00:00/01:00:00:00:00:00", "eth_type": "0x88cc"}),
                "eth_dst=01:00:00:00:00:00/01:00:00:00:00:00,eth_type=0x88cc",
            ),
            (json!({"vlan_vid": "none"}), "vlan_vid=none"),
            (
                json!({"vlan_vid": 7, "vlan_pcp": 3, "inner_vlan_vid": 0}),
                "vlan_vid=7,vlan_pcp=3,inner_vlan_vid=0",
            ),
            (
                json!({"eth_type": "mpls", "mpls_label": 16, "mpls_tc": 5, "mpls_bos": 0}),
                "eth_type=mpls,mpls_label=16,mpls_tc=5,mpls_bos=0",
            ),
            (json!({"eth_type": "mpls", "mpls_tc": 5}), "eth_type=mpls,mpls_label=any,mpls_tc=5"),
            (
                json!({"eth_type": "arp", "arp_op": "reply", "arp_spa": "10.0.0.0/8",
                    "arp_tpa": "10.0.0.1", "arp_sha": "02:00:00:00:00:01"}),
                "eth_type=arp,has_network=yes,arp_op=reply,arp_spa=10.0.0.0/8,arp_tpa=10.0.0.1,\
                 arp_sha=02:00:00:00:00:01",
            ),
            (
                json!({"ip_src": "10.1.0.0/16", "ip_dst": "0.0.0.1/0.0.0.255"}),
                "eth_type=ipv4,has_ip=yes,ip_src=10.1.0.0/16,ip_dst=0.0.0.1/0.0.0.255",
            ),
            (
                json!({"ip_dst": "2001:db8::/32", "ipv6_label": 5}),
                "eth_type=ipv6,has_ip=yes,ip_dst=2001:db8::/32,ipv6_label=5",
            ),
            (
                json!({"ip_proto": "tcp", "l4_dst": 443, "l4_src": "4096/0xf000",
                    "tcp_flags": "0x02/0x12"}),
                "has_ip=yes,ip_proto=tcp,has_transport=yes,l4_src=0x1000/0xf000,l4_dst=443,\
                 tcp_flags=0x2/0x12",
            ),
            (
                json!({"ip_proto": "icmp", "icmp_type": 8, "icmp_code": 0}),
                "eth_type=ipv4,has_ip=yes,ip_proto=icmp,has_transport=yes,icmp_type=8,icmp_code=0",
            ),
            (
                json!({"ip_dscp": 46, "ip_ecn": 1, "ip_ttl": 0}),
                "has_ip=yes,ip_dscp=46,ip_ecn=1,ip_ttl=0",
            ),
            (json!({"ip_frag": "no"}), "has_ip=yes,ip_frag=no"),
            (json!({"ip_frag": "first"}), "has_ip=yes,ip_frag=first"),
            (json!({"ip_frag": "later"}), "has_ip=yes,ip_frag=later"),
            (json!({"ip_frag": "any"}), "has_ip=yes,ip_frag=any"),
            (json!({"metadata": "0x10/0xff"}), "metadata=0x10/0xff"),
            (json!({"metadata": "0x10"}), "metadata=0x10"),
        ] {
            assert_eq!(shown(&written).to_string(), expected, "{written}");
        }
    }

    #[test]
    fn of_a_packet_all_is_shown_that_it_has() {
        let key = parse(PortId(4), SYN).unwrap().key;
        assert_eq!(
            packet(&key, &directory()).to_string(),
            "in_port=lan,eth_src=02:00:00:00:00:01,eth_dst=02:00:00:00:00:02,eth_type=ipv4,\
             vlan_vid=7,vlan_pcp=3,ip_src=10.1.2.3,ip_dst=10.9.9.9,ip_proto=tcp,ip_dscp=46,\
             ip_ecn=0,ip_ttl=64,ip_frag=no,l4_src=4000,l4_dst=443,tcp_flags=0x02"
        );
        let cut = parse(PortId(9), &SYN[..20]).unwrap().key;
        assert_eq!(
            packet(&cut, &directory()).to_string(),
            "in_port=#9,eth_src=02:00:00:00:00:01,eth_dst=02:00:00:00:00:02,eth_type=ipv4,\
             vlan_vid=7,vlan_pcp=3"
        );
    }

    #[test]
    fn what_was_looked_at_is_shown_by_its_bits() {
        let key = parse(PortId(4), SYN).unwrap().key;
        let mask = FlowKey {
            in_port: u16::MAX,
            layers: layers::IP | layers::FRAGMENT,
            ipv4_dst: [0xff, 0xff, 0x80, 0],
            l4_dst: 0xff00,
            ..FlowKey::NONE
        };
        assert_eq!(
            looked_at(&key, &mask).to_string(),
            "in_port=exact,has_ip=exact,ip_dst=/17,ip_frag=exact,l4_dst=/0xff00"
        );
    }

    #[test]
    fn two_families_in_one_mask_have_two_names() {
        let mask = FlowKey { ipv4_src: [0xff; 4], ipv6_src: [0xff; 16], ..FlowKey::NONE };
        let fields = matched(&FlowKey::NONE, &mask, &directory());
        assert_eq!(fields.to_string(), "ip_src=0.0.0.0,ipv6_src=::");
    }
}
