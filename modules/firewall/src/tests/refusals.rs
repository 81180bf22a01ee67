use alloc::{format, string::String};

use weft_sdk::testing::FakeHost;

use crate::Firewall;

fn message(config: &str) -> String {
    FakeHost::<Firewall>::new(config).unwrap_err().message().into()
}

/// What is said of a rule that is the second of two.
fn message_of_rule(members: &str) -> String {
    message(&format!(
        r#"{{"default": "deny", "rules": [{{"action": "allow"}}, {{"action": "deny", {members}}}]}}"#
    ))
}

#[test]
fn a_configuration_of_another_shape_is_refused_with_the_place() {
    for (config, expected) in [
        ("{}", "missing field `default`"),
        (r#"{"default": "drop"}"#, "default: unknown variant `drop`, expected `allow` or `deny`"),
        (r#"{"default": "deny", "rule": []}"#, "unknown field `rule`, expected one of `rules`"),
        (r#"{"default": "deny", "non_ip": true}"#, "non_ip: "),
        (r#"{"default": "deny", "rules": [{}]}"#, "rules[0]: missing field `action`"),
        (r#"{"default": "deny"} {}"#, "trailing characters"),
        (r#"{"default": "deny""#, "EOF while parsing"),
    ] {
        let message = message(config);
        assert!(message.contains(expected), "{config}: {message}");
    }
}

#[test]
fn a_rule_with_a_value_that_is_none_is_refused_with_what_is_right() {
    for (members, expected) in [
        (r#""port": 80"#, "rules[1].port: unknown field `port`, expected one of `name`, `action`"),
        (
            r#""source": "10.0.0""#,
            "rules[1].source: `10.0.0` holds no address; expected an address",
        ),
        (r#""source": 10"#, "rules[1].source: `10` holds no address"),
        (r#""source": "10.0.0.0/33""#, "`10.0.0.0/33` has a length that is not 0 to 32"),
        (r#""source": "10.0.0.0/""#, "`10.0.0.0/` has a length that is not 0 to 32"),
        (r#""source": "::/129""#, "`::/129` has a length that is not 0 to 128"),
        (r#""source": "10.1.2.3/8""#, "bits beyond its length, perhaps 10.0.0.0/8 is meant"),
        (r#""destination": "2001:db8::1/32""#, "perhaps 2001:db8::/32 is meant"),
        (
            r#""protocol": "tpc""#,
            "rules[1].protocol: `tpc` is no protocol that this firewall knows",
        ),
        (r#""protocol": 256"#, "`256` is no protocol that this firewall knows; expected tcp, udp"),
        (r#""protocol": 1.5"#, "rules[1].protocol: invalid type: floating point"),
        (r#""source_ports": 65536"#, "rules[1].source_ports: `65536` is not made of numbers"),
        (
            r#""source_ports": "80-""#,
            "`80-` is not made of numbers from 0 to 65535; expected a port",
        ),
        (r#""source_ports": "90-80""#, "`90-80` begins above its end"),
    ] {
        let message = message_of_rule(members);
        assert!(message.contains(expected), "{members}: {message}");
    }
}

#[test]
fn a_rule_that_no_packet_can_match_is_refused() {
    for (members, expected) in [
        (
            r#""name": "mixed", "source": "10.0.0.0/8", "destination": "::/0""#,
            "rules[1] (mixed): no packet goes from 10.0.0.0/8 to ::/0: one is IPv4, one IPv6",
        ),
        (
            r#""protocol": "icmp", "destination_ports": 80"#,
            "rules[1]: icmp has no ports that this firewall knows: name tcp, udp or sctp, or leave \
             the ports out",
        ),
        (
            r#""protocol": 47, "source_ports": 80"#,
            "rules[1]: protocol 47 has no ports that this firewall knows: name tcp, udp or sctp, \
             or leave the ports out",
        ),
        (
            r#""destination_ports": 80, "later_fragments": true"#,
            "rules[1]: later fragments have no ports: leave either out",
        ),
    ] {
        assert_eq!(message_of_rule(members), expected);
    }
}
