mod copy_field;
mod operand;

use std::fmt;

pub use copy_field::{CopiedField, CopyField};
pub use operand::{LabelProtocol, PushMpls, PushVlan, Sample};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, IntoDeserializer},
};
use utoipa::ToSchema;

use crate::{EtherType, Invalid, Name, RuleSpec, SetField, TableNumber, matching::Family};

/// One thing that is done with a packet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It leaves by a port. If more actions follow, a copy does.
    Output(Name),
    /// It is dropped, and counted as `rule-drop`.
    Drop,
    /// A field of its headers is overwritten. Its checksums stay right.
    SetField(SetField),
    /// Its TTL or hop limit is made one less; at zero it is dropped.
    DecrementTtl,
    /// A VLAN tag is put in front of those that it has.
    PushVlan(PushVlan),
    /// Its outer VLAN tag is taken away.
    PopVlan,
    /// An MPLS label is put in front of those that it has, behind its VLAN tags.
    PushMpls(PushMpls),
    /// Its outermost MPLS label is taken away. Behind the last label is what is said here.
    PopMpls(EtherType),
    /// The TTL of its outermost MPLS label is made one less; at zero it is dropped.
    DecrementMplsTtl,
    /// A field of its headers is copied into another. Its checksums stay right.
    CopyField(CopyField),
    /// It leaves where a learning switch would send it: by the port that its destination was last
    /// seen on, or else by all but its own. If more actions follow, copies do.
    Normal,
    /// It leaves by all ports but its own. If more actions follow, copies do.
    Flood,
    /// A copy leaves by a port, also if no action follows.
    Mirror(Name),
    /// A copy of one packet in so many leaves by a port.
    Sample(Sample),
    /// It takes its share of a meter's rate.
    Meter(Name),
    /// It takes the buckets of a group. Actions that follow see the packet as it was.
    Group(Name),
    /// It is looked up in a table with a larger number.
    Goto(TableNumber),
    /// A stage decides on it.
    Stage(Name),
}

/// An action as it is written with an operand: an object with one of these keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WithOperand {
    output: Option<Name>,
    set_field: Option<SetField>,
    push_vlan: Option<PushVlan>,
    push_mpls: Option<PushMpls>,
    pop_mpls: Option<EtherType>,
    copy_field: Option<CopyField>,
    goto: Option<TableNumber>,
    mirror: Option<Name>,
    sample: Option<Sample>,
    meter: Option<Name>,
    group: Option<Name>,
    stage: Option<Name>,
}

/// An action as it is written without an operand: its name.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum WithoutOperand {
    Drop,
    DecrementTtl,
    PopVlan,
    DecrementMplsTtl,
    Normal,
    Flood,
}

/// An object that stands for one thing has no key or several.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("{0} keys in an object that has exactly one; write an action for each")]
pub(crate) struct NotOne(usize);

pub(crate) fn one<T>(choices: impl IntoIterator<Item = Option<T>>) -> Result<T, NotOne> {
    let mut given: Vec<T> = choices.into_iter().flatten().collect();
    match (given.len(), given.pop()) {
        (1, Some(only)) => Ok(only),
        (count, _) => Err(NotOne(count)),
    }
}

impl<'de> Deserialize<'de> for Action {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Written)
    }
}

/// Reads either way to write an action. A derived enum would do, but for its errors.
struct Written;

impl<'de> de::Visitor<'de> for Written {
    type Value = Action;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an action: \"drop\", or an object such as {\"output\": \"lan\"}")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Action, E> {
        WithoutOperand::deserialize(name.into_deserializer()).map(|action| match action {
            WithoutOperand::Drop => Action::Drop,
            WithoutOperand::DecrementTtl => Action::DecrementTtl,
            WithoutOperand::PopVlan => Action::PopVlan,
            WithoutOperand::DecrementMplsTtl => Action::DecrementMplsTtl,
            WithoutOperand::Normal => Action::Normal,
            WithoutOperand::Flood => Action::Flood,
        })
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Action, A::Error> {
        let given = WithOperand::deserialize(de::value::MapAccessDeserializer::new(map))?;
        one([
            given.output.map(Action::Output),
            given.set_field.map(Action::SetField),
            given.push_vlan.map(Action::PushVlan),
            given.push_mpls.map(Action::PushMpls),
            given.pop_mpls.map(Action::PopMpls),
            given.copy_field.map(Action::CopyField),
            given.goto.map(Action::Goto),
            given.mirror.map(Action::Mirror),
            given.sample.map(Action::Sample),
            given.meter.map(Action::Meter),
            given.group.map(Action::Group),
            given.stage.map(Action::Stage),
        ])
        .map_err(de::Error::custom)
    }
}

/// Checks the actions of a rule in `table` whose packets are of `family`, if that is known.
pub(crate) fn validate(
    actions: &[Action],
    table: TableNumber,
    family: Option<Family>,
) -> Result<(), Invalid> {
    if actions.is_empty() {
        return Err(
            Invalid::at(&[], "no action is given").hint("to drop the packets, write \"drop\"")
        );
    }
    if actions.len() > RuleSpec::MAX_ACTIONS {
        let most = RuleSpec::MAX_ACTIONS;
        return Err(Invalid::at(&[], format!("{} actions are more than {most}", actions.len())));
    }
    let mut family = family;
    for (index, action) in actions.iter().enumerate() {
        let is_last = index + 1 == actions.len();
        action
            .validate(is_last, table, family)
            .map_err(|invalid| invalid.under(&index.to_string()))?;
        family = action.family_after(family);
    }
    Ok(())
}

/// Checks the actions of a group's bucket.
pub(crate) fn validate_bucket(actions: &[Action]) -> Result<(), Invalid> {
    let refused = |action: &Action| {
        matches!(
            action,
            Action::Goto(_)
                | Action::Stage(_)
                | Action::Group(_)
                | Action::Meter(_)
                | Action::Normal
                | Action::Flood
                | Action::Mirror(_)
                | Action::Sample(_)
        )
    };
    if let Some(place) = actions.iter().position(refused) {
        let reason = "a bucket cannot do this";
        return Err(Invalid::at(&[&place.to_string()], reason)
            .hint("a bucket changes the packet, outputs it or drops it; do the rest in the rule"));
    }
    validate(actions, TableNumber::default(), None)
}

impl Action {
    /// The port that it sends packets to, if it names one.
    #[must_use]
    pub fn port(&self) -> Option<&Name> {
        match self {
            Self::Output(port) | Self::Mirror(port) => Some(port),
            Self::Sample(sample) => Some(&sample.output),
            _ => None,
        }
    }

    fn validate(
        &self,
        is_last: bool,
        table: TableNumber,
        family: Option<Family>,
    ) -> Result<(), Invalid> {
        match self {
            Self::Drop if !is_last => {
                Err(Invalid::at(&[], "nothing can follow drop")
                    .hint("put it last, or leave it out"))
            }
            Self::Goto(_) if !is_last => Err(Invalid::at(&["goto"], "nothing can follow goto")
                .hint("put it last; what follows belongs into rules of that table")),
            Self::Goto(target) if *target <= table => {
                // OpenFlow 1.3.5, 5.4: lookups only move on, so that they end.
                let reason = format!("table {target} is not behind table {table}");
                Err(Invalid::at(&["goto"], reason).hint("go to a table with a larger number"))
            }
            Self::DecrementTtl => are(family, Family::is_ip, "not IP"),
            Self::DecrementMplsTtl => are(family, |it| it == Family::Mpls, "without a label"),
            Self::PopMpls(_) => are(family, |it| it == Family::Mpls, "without a label")
                .map_err(|invalid| invalid.under("pop_mpls")),
            Self::Sample(sample) => sample.validate().map_err(|invalid| invalid.under("sample")),
            Self::CopyField(copy) => {
                copy.validate(family).map_err(|invalid| invalid.under("copy_field"))
            }
            Self::SetField(field) => {
                field.validate(family).map_err(|invalid| invalid.under("set_field"))
            }
            _ => Ok(()),
        }
    }

    /// What packets are known to be after it.
    fn family_after(&self, family: Option<Family>) -> Option<Family> {
        match self {
            Self::PushMpls(_) => Some(Family::Mpls),
            // There may be another label, and a stage may do as it likes.
            Self::PopMpls(_) | Self::Stage(_) => None,
            _ => family,
        }
    }
}

/// Checks that packets, if it is known what they are, are fit for an action.
fn are(
    family: Option<Family>,
    fit: impl FnOnce(Family) -> bool,
    otherwise: &str,
) -> Result<(), Invalid> {
    match family {
        Some(family) if !fit(family) => {
            let reason = format!("the packets that the rule matches are {otherwise}");
            Err(Invalid::at(&[], reason))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn validate_in_table_1(actions: Value, family: Option<Family>) -> Result<(), String> {
        let actions: Vec<Action> = serde_json::from_value(actions).unwrap();
        let table = TableNumber::new(1).unwrap();
        validate(&actions, table, family).map_err(|invalid| invalid.to_string())
    }

    #[test]
    fn every_action_is_shown_as_it_is_written() {
        let actions = json!([
            {"output": "wan"}, "decrement_ttl", "pop_vlan", {"stage": "fw"}, {"goto": 2}, "drop",
            {"push_vlan": {"vid": 10, "pcp": 3, "tpid": "0x88a8"}},
            {"set_field": {"eth_src": "02:00:00:00:00:01"}}, {"set_field": {"ip_src": "10.0.0.1"}},
            {"set_field": {"eth_dst": "02:00:00:00:00:01"}}, {"set_field": {"ip_dst": "2001:db8::1"}},
            {"set_field": {"ip_dscp": 46}}, {"set_field": {"ip_ecn": 1}}, {"set_field": {"ip_ttl": 64}},
            {"set_field": {"l4_src": 1}}, {"set_field": {"l4_dst": 2}},
            {"set_field": {"vlan_vid": 10}}, {"set_field": {"vlan_pcp": 7}},
            {"push_mpls": {"label": 16, "tc": 5, "ttl": 9, "eth_type": "mpls_multicast"}},
            {"pop_mpls": "ipv4"}, "decrement_mpls_ttl", "normal", "flood", {"mirror": "tap"},
            {"sample": {"rate": 1000, "output": "tap"}}, {"meter": "gold"}, {"group": "uplinks"},
            {"copy_field": {"from": "eth_src", "to": "eth_dst"}},
            {"set_field": {"mpls_label": 16}}, {"set_field": {"mpls_tc": 7}},
            {"set_field": {"mpls_ttl": 255}}, {"set_field": {"arp_op": "reply"}},
            {"set_field": {"arp_spa": "10.0.0.1"}}, {"set_field": {"arp_tpa": "10.0.0.2"}},
            {"set_field": {"arp_sha": "02:00:00:00:00:01"}},
            {"set_field": {"arp_tha": "02:00:00:00:00:02"}},
            {"set_field": {"ipv6_label": 1}}, {"set_field": {"metadata": "0x10/0xff"}},
        ]);
        let parsed: Vec<Action> = serde_json::from_value(actions.clone()).unwrap();
        assert_eq!(json!(parsed), actions);
    }

    #[test]
    fn a_tag_is_a_customers_of_no_priority_if_nothing_is_said() {
        let action: Action = serde_json::from_str(r#"{"push_vlan": {"vid": 10}}"#).unwrap();
        assert_eq!(json!(action), json!({"push_vlan": {"vid": 10, "pcp": 0, "tpid": "0x8100"}}));
    }

    #[test]
    fn what_is_no_action_is_refused_in_words() {
        for (text, expected) in [
            (r#""dorp""#, "unknown variant `dorp`, expected one of `drop`"),
            (r#"{"outptu": "lan"}"#, "unknown field `outptu`, expected one of `output`"),
            (r#"{"output": "a", "goto": 1}"#, "2 keys in an object that has exactly one"),
            ("{}", "0 keys in an object that has exactly one"),
            (r#"{"set_field": {"ip_ttl": 1, "l4_src": 2}}"#, "2 keys in an object"),
            (r#"{"set_field": {"ip_ttl": 256}}"#, "invalid value: integer `256`, expected u8"),
            ("7", "expected an action: \"drop\", or an object"),
        ] {
            let error = serde_json::from_str::<Action>(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn drop_and_goto_are_last_and_goto_goes_on() {
        let check = |actions| validate_in_table_1(actions, None);
        assert_eq!(check(json!([{"stage": "fw"}, "drop"])), Ok(()));
        assert_eq!(check(json!(["decrement_ttl", {"goto": 2}])), Ok(()));
        for (actions, expected) in [
            (json!([]), "no action is given"),
            (json!(["drop", {"output": "a"}]), "/0: nothing can follow drop"),
            (json!([{"goto": 2}, "pop_vlan"]), "/0/goto: nothing can follow goto"),
            (json!([{"goto": 1}]), "/0/goto: table 1 is not behind table 1"),
            (json!([{"goto": 0}]), "/0/goto: table 0 is not behind table 1"),
        ] {
            let refused = check(actions.clone()).unwrap_err();
            assert!(refused.starts_with(expected), "{actions}: {refused}");
        }
    }

    #[test]
    fn a_rule_has_at_most_64_actions() {
        let actions = |count| json!(vec![json!("pop_vlan"); count]);
        assert_eq!(validate_in_table_1(actions(64), None), Ok(()));
        let refused = validate_in_table_1(actions(65), None).unwrap_err();
        assert_eq!(refused, "65 actions are more than 64");
    }

    #[test]
    fn a_field_is_set_only_where_the_packets_can_have_it() {
        let set = |field: Value| json!([{"output": "a"}, {"set_field": field}]);
        let v4 = set(json!({"ip_src": "10.0.0.1"}));
        assert_eq!(validate_in_table_1(v4.clone(), None), Ok(()));
        assert_eq!(validate_in_table_1(v4.clone(), Some(Family::V4)), Ok(()));
        let refused = validate_in_table_1(v4, Some(Family::V6)).unwrap_err();
        assert_eq!(refused, "/1/set_field/ip_src: the packets that the rule matches are IPv6");
        let not_ip = |actions| validate_in_table_1(actions, Some(Family::Other)).unwrap_err();
        let ttl = not_ip(set(json!({"ip_ttl": 1})));
        assert_eq!(ttl, "/1/set_field/ip_ttl: the packets that the rule matches are not IP");
        let ttl = not_ip(json!(["decrement_ttl"]));
        assert_eq!(ttl, "/0: the packets that the rule matches are not IP");
    }

    #[test]
    fn what_packets_are_changes_with_their_labels() {
        let v4 = |actions| validate_in_table_1(actions, Some(Family::V4));
        let push = json!({"push_mpls": {"label": 16}});
        assert_eq!(v4(json!([push, "decrement_mpls_ttl", {"set_field": {"mpls_tc": 1}}])), Ok(()));
        assert_eq!(v4(json!([push, {"pop_mpls": "ipv4"}, "decrement_ttl"])), Ok(()));
        for (actions, expected) in [
            (json!(["decrement_mpls_ttl"]), "/0: the packets that the rule matches are without"),
            (json!([{"pop_mpls": "ipv4"}]), "/0/pop_mpls: the packets that the rule matches are"),
            (json!([push, "decrement_ttl"]), "/1: the packets that the rule matches are not IP"),
            (
                json!([push, {"set_field": {"ip_ttl": 1}}]),
                "/1/set_field/ip_ttl: the packets that the rule matches are MPLS",
            ),
            (
                json!([{"set_field": {"arp_op": "reply"}}]),
                "/0/set_field/arp_op: the packets that the rule matches are IPv4",
            ),
            (
                json!([{"set_field": {"ipv6_label": 1}}]),
                "/0/set_field/ipv6_label: the packets that the rule matches are IPv4",
            ),
        ] {
            let refused = v4(actions.clone()).unwrap_err();
            assert!(refused.starts_with(expected), "{actions}: {refused}");
        }
    }

    #[test]
    fn a_sample_of_none_is_refused() {
        let action = json!([{"sample": {"rate": 0, "output": "tap"}}]);
        let refused = validate_in_table_1(action, None).unwrap_err();
        assert!(refused.starts_with("/0/sample/rate: one packet in none"), "{refused}");
    }

    #[test]
    fn the_addresses_of_arp_are_ipv4s() {
        let action = json!([{"set_field": {"arp_tpa": "::1"}}]);
        let refused = validate_in_table_1(action, None).unwrap_err();
        assert_eq!(refused, "/0/set_field/arp_tpa: the addresses of ARP are IPv4's");
    }
}
