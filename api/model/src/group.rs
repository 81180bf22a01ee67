use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Action, Invalid, Name, action};

/// Several ways to go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Group {
    /// What rules call it by.
    pub name: Name,
    /// What the client asked for.
    pub spec: GroupSpec,
    /// What it did.
    pub status: GroupStatus,
}

/// A group as a client asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupSpec {
    /// Which buckets a packet takes.
    pub kind: GroupKind,
    /// The ways to go on.
    #[schema(min_items = 1, max_items = 256)]
    pub buckets: Vec<BucketSpec>,
}

/// Which buckets of a group a packet takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum GroupKind {
    /// Each, with a copy.
    All,
    /// One, chosen by its flow and the buckets' weights. When a bucket comes or goes, other
    /// buckets' flows stay where they are.
    Select,
    /// The first whose port is up.
    FastFailover,
}

/// A way to go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BucketSpec {
    /// Its share of flows, beside those of the other buckets. For `select`.
    #[serde(default = "one")]
    #[schema(minimum = 1)]
    pub weight: u16,
    /// The port without which it takes no packets; without one, it always does. For `select` and
    /// `fast_failover`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch_port: Option<Name>,
    /// What is done, in order: changes of the packet, outputs, drop. What follows the group sees
    /// nothing of it.
    #[schema(min_items = 1)]
    pub actions: Vec<Action>,
}

/// What a group did, over all workers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GroupStatus {
    /// Its buckets, in their order, since the group was last written.
    pub buckets: Vec<BucketStatus>,
}

/// What a bucket did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BucketStatus {
    /// Whether it takes packets.
    pub alive: bool,
    /// Packets that took it.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

fn one() -> u16 {
    1
}

impl GroupSpec {
    /// The most buckets that a group may have.
    pub const MAX_BUCKETS: usize = 256;

    /// Checks what the shape does not say.
    ///
    /// # Errors
    ///
    /// If a bucket has what its group's kind or a bucket's actions cannot have.
    pub fn validate(&self) -> Result<(), Invalid> {
        let (count, most) = (self.buckets.len(), Self::MAX_BUCKETS);
        if !(1..=most).contains(&count) {
            let reason = format!("a group has 1 to {most} buckets, not {count}");
            return Err(Invalid::at(&["buckets"], reason));
        }
        for (place, bucket) in self.buckets.iter().enumerate() {
            let at = |invalid: Invalid| invalid.under(&place.to_string()).under("buckets");
            bucket.validate(self.kind).map_err(at)?;
        }
        Ok(())
    }
}

impl BucketSpec {
    fn validate(&self, kind: GroupKind) -> Result<(), Invalid> {
        match (kind, self.weight, &self.watch_port) {
            (_, 0, _) => Err(Invalid::at(&["weight"], "a bucket without weight takes no packets")
                .hint("leave the bucket out")),
            (GroupKind::All | GroupKind::FastFailover, 2.., _) => {
                Err(Invalid::at(&["weight"], "only buckets of kind select have a weight"))
            }
            (GroupKind::All, _, Some(_)) => {
                Err(Invalid::at(&["watch_port"], "every bucket of kind all takes every packet"))
            }
            _ => action::validate_bucket(&self.actions).map_err(|it| it.under("actions")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn validate(spec: Value) -> Result<(), String> {
        let spec: GroupSpec = serde_json::from_value(spec).unwrap();
        spec.validate().map_err(|invalid| invalid.to_string())
    }

    #[test]
    fn a_bucket_has_what_its_kind_can_have() {
        let group = |kind: &str, bucket: Value| json!({"kind": kind, "buckets": [bucket]});
        let out = json!([{"set_field": {"eth_dst": "02:00:00:00:00:01"}}, {"output": "a"}]);
        for (kind, bucket) in [
            ("all", json!({"actions": out})),
            ("select", json!({"weight": 65_535, "watch_port": "a", "actions": out})),
            ("fast_failover", json!({"watch_port": "a", "actions": ["drop"]})),
        ] {
            assert_eq!(validate(group(kind, bucket.clone())), Ok(()), "{kind} {bucket}");
        }
        for (kind, bucket, expected) in [
            ("select", json!({"weight": 0, "actions": out}), "/buckets/0/weight: a bucket without"),
            ("all", json!({"weight": 2, "actions": out}), "/buckets/0/weight: only buckets of"),
            ("all", json!({"watch_port": "a", "actions": out}), "/buckets/0/watch_port: every"),
            ("all", json!({"actions": []}), "/buckets/0/actions: no action is given"),
            ("all", json!({"actions": [{"goto": 1}]}), "/buckets/0/actions/0: a bucket cannot"),
            ("all", json!({"actions": [{"group": "g"}]}), "/buckets/0/actions/0: a bucket cannot"),
            ("all", json!({"actions": [{"stage": "s"}]}), "/buckets/0/actions/0: a bucket cannot"),
            ("all", json!({"actions": ["normal"]}), "/buckets/0/actions/0: a bucket cannot"),
        ] {
            let refused = validate(group(kind, bucket.clone())).unwrap_err();
            assert!(refused.starts_with(expected), "{kind} {bucket}: {refused}");
        }
    }

    #[test]
    fn a_group_has_1_to_256_buckets() {
        let group =
            |count| json!({"kind": "all", "buckets": vec![json!({"actions": ["drop"]}); count]});
        assert_eq!([1, 256].map(|count| validate(group(count))), [Ok(()), Ok(())]);
        for count in [0, 257] {
            let refused = validate(group(count)).unwrap_err();
            assert_eq!(refused, format!("/buckets: a group has 1 to 256 buckets, not {count}"));
        }
    }
}
