//! Actions as text: `output:wan`, `drop`, `push_vlan:vid=10,pcp=0`.

use std::{fmt::Display, str::FromStr};

use api_model::Action;

use super::pairs;

/// Reads one action.
pub(crate) fn parse(text: &str) -> Result<Action, String> {
    let (word, argument) =
        text.split_once(':').map_or((text, None), |(word, argument)| (word, Some(argument)));
    match (word, argument) {
        ("output", Some(port)) => name(port).map(Action::Output),
        ("stage", Some(stage)) => name(stage).map(Action::Stage),
        ("goto", Some(table)) => name(table).map(Action::Goto),
        ("set_field", Some(field)) => fields(field).map(Action::SetField),
        ("push_vlan", Some(tag)) => fields(tag).map(Action::PushVlan),
        ("pop_vlan", None) => Ok(Action::PopVlan),
        ("push_mpls", Some(label)) => fields(label).map(Action::PushMpls),
        ("pop_mpls", Some(ether_type)) => name(ether_type).map(Action::PopMpls),
        ("decrement_mpls_ttl", None) => Ok(Action::DecrementMplsTtl),
        ("copy_field", Some(ends)) => fields(ends).map(Action::CopyField),
        ("decrement_ttl", None) => Ok(Action::DecrementTtl),
        ("normal", None) => Ok(Action::Normal),
        ("flood", None) => Ok(Action::Flood),
        ("mirror", Some(port)) => name(port).map(Action::Mirror),
        ("sample", Some(sample)) => fields(sample).map(Action::Sample),
        ("meter", Some(meter)) => name(meter).map(Action::Meter),
        ("group", Some(group)) => name(group).map(Action::Group),
        ("drop", None) => Ok(Action::Drop),
        _ => Err(format!("expected one of {}", FORMS.join(", "))),
    }
}

/// Writes an action as [`parse`] reads it.
pub(crate) fn format(action: &Action) -> String {
    match action {
        Action::Output(port) => format!("output:{port}"),
        Action::Stage(stage) => format!("stage:{stage}"),
        Action::Goto(table) => format!("goto:{table}"),
        Action::SetField(field) => format!("set_field:{}", pairs::write(field)),
        Action::PushVlan(tag) => format!("push_vlan:{}", pairs::write(tag)),
        Action::PopVlan => "pop_vlan".to_owned(),
        Action::PushMpls(label) => format!("push_mpls:{}", pairs::write(label)),
        Action::PopMpls(ether_type) => format!("pop_mpls:{ether_type}"),
        Action::DecrementMplsTtl => "decrement_mpls_ttl".to_owned(),
        Action::CopyField(ends) => format!("copy_field:{}", pairs::write(ends)),
        Action::DecrementTtl => "decrement_ttl".to_owned(),
        Action::Normal => "normal".to_owned(),
        Action::Flood => "flood".to_owned(),
        Action::Mirror(port) => format!("mirror:{port}"),
        Action::Sample(sample) => format!("sample:{}", pairs::write(sample)),
        Action::Meter(meter) => format!("meter:{meter}"),
        Action::Group(group) => format!("group:{group}"),
        Action::Drop => "drop".to_owned(),
    }
}

/// The forms that an action can take.
pub(crate) const FORMS: [&str; 18] = [
    "output:PORT",
    "stage:STAGE",
    "goto:TABLE",
    "set_field:FIELD=VALUE",
    "push_vlan:vid=VID[,pcp=PCP][,tpid=TPID]",
    "pop_vlan",
    "push_mpls:label=LABEL[,tc=TC][,ttl=TTL][,eth_type=TYPE]",
    "pop_mpls:ETH_TYPE",
    "copy_field:from=FIELD,to=FIELD",
    "decrement_ttl",
    "decrement_mpls_ttl",
    "normal",
    "flood",
    "mirror:PORT",
    "sample:rate=N,output=PORT",
    "meter:METER",
    "group:GROUP",
    "drop",
];

fn name<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn fields<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    pairs::read(&pairs::split(text)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_action_is_read_as_the_api_writes_it_and_written_as_it_is_read() {
        for (text, value) in [
            ("output:wan", json!({"output": "wan"})),
            ("output:10", json!({"output": "10"})),
            ("stage:fw", json!({"stage": "fw"})),
            ("goto:1", json!({"goto": 1})),
            ("drop", json!("drop")),
            ("decrement_ttl", json!("decrement_ttl")),
            ("pop_vlan", json!("pop_vlan")),
            ("push_vlan:vid=10,pcp=3,tpid=0x88a8", {
                json!({"push_vlan": {"vid": 10, "pcp": 3, "tpid": "0x88a8"}})
            }),
            ("push_mpls:label=16,tc=1,ttl=9,eth_type=mpls_multicast", {
                json!({"push_mpls": {"label": 16, "tc": 1, "ttl": 9, "eth_type": "mpls_multicast"}})
            }),
            ("normal", json!("normal")),
            ("flood", json!("flood")),
            ("mirror:tap", json!({"mirror": "tap"})),
            ("sample:rate=1000,output=tap", { json!({"sample": {"rate": 1000, "output": "tap"}}) }),
            ("meter:gold", json!({"meter": "gold"})),
            ("group:uplinks", json!({"group": "uplinks"})),
            ("pop_mpls:ipv4", json!({"pop_mpls": "ipv4"})),
            ("pop_mpls:0x6558", json!({"pop_mpls": "0x6558"})),
            ("decrement_mpls_ttl", json!("decrement_mpls_ttl")),
            ("copy_field:from=arp_sha,to=arp_tha", {
                json!({"copy_field": {"from": "arp_sha", "to": "arp_tha"}})
            }),
        ] {
            let action = parse(text).unwrap();
            assert_eq!(serde_json::to_value(&action).unwrap(), value, "{text}");
            assert_eq!(format(&action), text);
        }
    }

    #[test]
    fn each_field_is_set_as_the_api_writes_it() {
        for (field, value) in [
            ("eth_src", json!("02:00:00:00:00:01")),
            ("eth_dst", json!("02:00:00:00:00:02")),
            ("ip_src", json!("10.0.0.1")),
            ("ip_dst", json!("2001:db8::1")),
            ("ip_dscp", json!(46)),
            ("ip_ecn", json!(1)),
            ("ip_ttl", json!(64)),
            ("l4_src", json!(1024)),
            ("l4_dst", json!(443)),
            ("vlan_vid", json!(10)),
            ("vlan_pcp", json!(7)),
            ("mpls_label", json!(16)),
            ("mpls_tc", json!(7)),
            ("mpls_ttl", json!(9)),
            ("arp_op", json!("reply")),
            ("arp_spa", json!("10.0.0.1")),
            ("arp_tpa", json!("10.0.0.2")),
            ("arp_sha", json!("02:00:00:00:00:01")),
            ("arp_tha", json!("02:00:00:00:00:02")),
            ("ipv6_label", json!(1)),
            ("metadata", json!("0x10/0xff")),
        ] {
            let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let text = format!("set_field:{field}={written}");
            let action = parse(&text).unwrap();
            let expected = json!({"set_field": {field: value}});
            assert_eq!(serde_json::to_value(&action).unwrap(), expected, "{text}");
            assert_eq!(format(&action), text);
        }
    }

    #[test]
    fn a_tag_has_the_defaults_of_the_api() {
        let tag = format(&parse("push_vlan:vid=10").unwrap());
        assert_eq!(tag, "push_vlan:vid=10,pcp=0,tpid=0x8100");
    }

    #[test]
    fn what_is_no_action_is_refused_with_the_reason() {
        let forms = format!("expected one of {}", FORMS.join(", "));
        for text in ["", "dorp", "output", "goto", "push_vlan", "drop:", "drop:now", "Drop", ":"] {
            assert_eq!(parse(text), Err(forms.clone()), "{text}");
        }
        for (text, reason) in [
            ("output:", "\"\" is not a name"),
            ("output:a b", "\"a b\" is not a name"),
            ("goto:254", "a table is a number from 0 to 253"),
            ("goto:x", "a table is a number from 0 to 253"),
            ("push_vlan:10", "expected KEY=VALUE, got `10`"),
            ("push_vlan:pcp=1", "missing field `vid`"),
            ("push_vlan:vid=4096", "invalid value: integer `4096`, expected a VLAN id"),
            ("push_vlan:vid=1,tpid=0x9100", "unknown variant `0x9100`"),
            ("push_mpls:tc=1", "missing field `label`"),
            ("pop_mpls:vlan", "\"vlan\" is not an EtherType"),
            ("copy_field:from=ip_ttl,to=l4_src", "unknown variant `ip_ttl`"),
            ("set_field:ttl=1", "unknown field `ttl`"),
            ("set_field:ip_ttl=1,l4_src=2", "2 keys in an object that has exactly one"),
            ("set_field:ip_src=10.0.0.0/8", "\"10.0.0.0/8\" is not an IP address"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(reason), "{text}: {error}");
        }
    }
}
