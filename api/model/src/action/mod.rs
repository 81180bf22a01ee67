mod copy_field;
mod operand;
mod validate;

use std::fmt;

pub use copy_field::{CopiedField, CopyField};
pub use operand::{LabelProtocol, PushMpls, PushVlan, Sample};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, IntoDeserializer},
};
use utoipa::ToSchema;

pub(crate) use validate::{validate, validate_bucket};

use crate::{EtherType, Name, SetField, TableNumber};

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
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
}
