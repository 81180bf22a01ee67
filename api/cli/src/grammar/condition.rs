//! Matches as text: `in_port=lan,ip_proto=tcp,l4_dst=443`.

use api_model::Match;

use super::pairs;

/// How the match of every packet is written.
const EVERY: &str = "any";

/// Reads a match whose fields may be spread over several texts.
pub(crate) fn parse(texts: &[String]) -> Result<Match, String> {
    let pairs = texts.iter().map(|text| pairs::split(text)).collect::<Result<Vec<_>, _>>()?;
    pairs::read(&pairs.concat())
}

/// Writes a match as [`parse`] reads it, or says that it is of every packet.
pub(crate) fn format(condition: &Match) -> String {
    let text = pairs::write(condition);
    if text.is_empty() { EVERY.to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(texts: &[&str]) -> Result<Value, String> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        parse(&texts).map(|condition| serde_json::to_value(condition).unwrap())
    }

    #[test]
    fn each_field_is_read_as_the_api_writes_it_and_written_as_it_is_read() {
        for (text, value) in [
            ("in_port=lan", json!({"in_port": "lan"})),
            ("in_port=10", json!({"in_port": "10"})),
            ("eth_src=02:00:00:00:00:01", json!({"eth_src": "02:00:00:00:00:01"})),
            ("eth_dst=01:00:00:00:00:00/01:00:00:00:00:00", {
                json!({"eth_dst": "01:00:00:00:00:00/01:00:00:00:00:00"})
            }),
            ("eth_type=0x88cc", json!({"eth_type": "0x88cc"})),
            ("eth_type=arp", json!({"eth_type": "arp"})),
            ("vlan_vid=none", json!({"vlan_vid": "none"})),
            ("vlan_vid=10,vlan_pcp=7", json!({"vlan_vid": 10, "vlan_pcp": 7})),
            ("ip_src=10.0.0.0/8", json!({"ip_src": "10.0.0.0/8"})),
            ("ip_dst=2001:db8::/32", json!({"ip_dst": "2001:db8::/32"})),
            ("ip_proto=tcp", json!({"ip_proto": "tcp"})),
            ("ip_proto=47", json!({"ip_proto": 47})),
            ("ip_dscp=46,ip_ecn=3,ip_ttl=64", json!({"ip_dscp": 46, "ip_ecn": 3, "ip_ttl": 64})),
            ("ip_frag=later", json!({"ip_frag": "later"})),
            ("l4_src=0x8000/0x8000", json!({"l4_src": "0x8000/0x8000"})),
            ("l4_dst=443", json!({"l4_dst": 443})),
            ("ip_proto=udp,l4_dst=1000-1999", json!({"ip_proto": "udp", "l4_dst": "1000-1999"})),
            ("inner_vlan_vid=20,inner_vlan_pcp=1", {
                json!({"inner_vlan_vid": 20, "inner_vlan_pcp": 1})
            }),
            ("mpls_label=16,mpls_tc=7,mpls_bos=1", {
                json!({"mpls_label": 16, "mpls_tc": 7, "mpls_bos": 1})
            }),
            ("eth_type=arp,arp_op=request", json!({"eth_type": "arp", "arp_op": "request"})),
            ("arp_spa=10.0.0.0/8,arp_tpa=10.0.0.1", {
                json!({"arp_spa": "10.0.0.0/8", "arp_tpa": "10.0.0.1"})
            }),
            ("arp_sha=02:00:00:00:00:01", json!({"arp_sha": "02:00:00:00:00:01"})),
            ("arp_tha=02:00:00:00:00:02", json!({"arp_tha": "02:00:00:00:00:02"})),
            ("ipv6_label=74565", json!({"ipv6_label": 74_565})),
            ("metadata=0x10/0xff", json!({"metadata": "0x10/0xff"})),
            ("tcp_flags=0x02/0x12", json!({"tcp_flags": "0x02/0x12"})),
            ("icmp_type=8,icmp_code=0", json!({"icmp_type": 8, "icmp_code": 0})),
        ] {
            assert_eq!(read(&[text]), Ok(value), "{text}");
            assert_eq!(format(&parse(&[text.to_owned()]).unwrap()), text);
        }
    }

    #[test]
    fn fields_may_be_spread_over_texts_and_none_is_every_packet() {
        let expected = json!({"in_port": "lan", "ip_proto": "udp", "l4_dst": 53});
        assert_eq!(read(&["in_port=lan", "ip_proto=udp,l4_dst=53"]), Ok(expected));
        assert_eq!(read(&[]), Ok(json!({})));
        assert_eq!(format(&Match::default()), "any");
    }

    #[test]
    fn what_is_no_match_is_refused_with_the_reason() {
        for (texts, reason) in [
            (&["in_port"][..], "expected KEY=VALUE, got `in_port`"),
            (&["=lan"], "expected KEY=VALUE, got `=lan`"),
            (&["in_port="], "expected KEY=VALUE, got `in_port=`"),
            (&["in_port=lan,"], "expected KEY=VALUE, got ``"),
            (&["in_port=lan", "in_port=wan"], "duplicate field `in_port`"),
            (
                &["ip_dscp=64"],
                "invalid value: integer `64`, expected a DSCP, a number from 0 to 63",
            ),
            (&["ip_ttl=256"], "invalid value: integer `256`, expected u8"),
            (&["ip_ttl=x"], "invalid type: string \"x\", expected u8"),
            (
                &["ip_frag=some"],
                "unknown variant `some`, expected one of `no`, `first`, `later`, `any`",
            ),
        ] {
            assert_eq!(read(texts), Err(reason.to_owned()), "{texts:?}");
        }
        let unknown = read(&["l4_dts=443"]).unwrap_err();
        assert!(
            unknown.starts_with("unknown field `l4_dts`, expected one of `in_port`"),
            "{unknown}"
        );
    }
}
