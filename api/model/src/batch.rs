//! Many changes of rules, made together.

use std::{collections::HashMap, fmt};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, SeqAccess},
};
use utoipa::ToSchema;

use crate::{Invalid, Name, RuleSpec, TableNumber};

/// Changes of rules that are made together or not at all. No two are of the same rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleBatch {
    /// The changes.
    #[serde(deserialize_with = "at_most_max")]
    #[schema(max_items = 200_000)]
    pub operations: Vec<RuleOperation>,
}

/// One change of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", try_from = "Written")]
pub enum RuleOperation {
    /// The rule is made, or changed into what the spec says.
    Put(Box<PutRule>),
    /// The rule, which must be there, is forgotten.
    Delete(DeleteRule),
}

/// A rule and what it is to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutRule {
    /// The table that it is in.
    pub table: TableNumber,
    /// What it is called.
    pub name: Name,
    /// What it is to be.
    pub spec: RuleSpec,
}

/// A rule that is to go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteRule {
    /// The table that it is in.
    pub table: TableNumber,
    /// What it is called.
    pub name: Name,
}

/// What a batch did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RulesChanged {
    /// The configuration that the workers run since.
    pub revision: u64,
    /// Rules that were not there before.
    pub created: usize,
    /// Rules that were there before, and are now others.
    pub replaced: usize,
    /// Rules that were there before as they were asked for.
    pub unchanged: usize,
    /// Rules that are gone.
    pub deleted: usize,
}

/// An operation as it is written: an object with one of these keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    put: Option<Box<PutRule>>,
    delete: Option<DeleteRule>,
}

impl TryFrom<Written> for RuleOperation {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        match (written.put, written.delete) {
            (Some(rule), None) => Ok(Self::Put(rule)),
            (None, Some(rule)) => Ok(Self::Delete(rule)),
            (None, None) => Err("an operation is either a put or a delete; this is neither"),
            (Some(_), Some(_)) => Err("an operation is either a put or a delete; write two"),
        }
    }
}

impl RuleOperation {
    /// The rule that it changes.
    #[must_use]
    pub fn rule(&self) -> (TableNumber, &Name) {
        match self {
            Self::Put(rule) => (rule.table, &rule.name),
            Self::Delete(rule) => (rule.table, &rule.name),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Put(_) => "put",
            Self::Delete(_) => "delete",
        }
    }

    /// What is wrong with the operation at `index`, or with a field of the spec that it puts, as it
    /// is said of the whole batch.
    #[must_use]
    pub fn invalid(&self, index: usize, invalid: Invalid) -> Invalid {
        let invalid = match self {
            Self::Put(_) => invalid.under("spec"),
            Self::Delete(_) => invalid,
        };
        invalid.under(self.kind()).under(&index.to_string()).under("operations")
    }

    /// Where it stands in its batch.
    fn place(&self, index: usize) -> String {
        format!("/operations/{index}/{}", self.kind())
    }
}

impl RuleBatch {
    /// The most operations that a batch has.
    pub const MAX: usize = 200_000;

    /// The first spec that is not fit to run, if one is not.
    #[must_use]
    pub fn invalid_spec(&self) -> Option<Invalid> {
        self.operations.iter().enumerate().find_map(|(index, operation)| match operation {
            RuleOperation::Put(rule) => {
                let invalid = rule.spec.validate(rule.table).err()?;
                Some(operation.invalid(index, invalid))
            }
            RuleOperation::Delete(_) => None,
        })
    }

    /// The first operation of a rule that one before it is of too, if there is one.
    #[must_use]
    pub fn named_twice(&self) -> Option<Invalid> {
        let mut seen = HashMap::with_capacity(self.operations.len());
        self.operations.iter().enumerate().find_map(|(index, operation)| {
            let (table, name) = operation.rule();
            let first = seen.insert((table, name), index)?;
            let before = self.operations[first].place(first);
            let reason = format!("rule {name} of table {table} stands at {before} already");
            let invalid = Invalid { pointer: operation.place(index), reason, hint: None };
            Some(invalid.hint("name each rule once"))
        })
    }
}

/// Reads operations, and stops where they are too many to be kept.
fn at_most_max<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<RuleOperation>, D::Error> {
    deserializer.deserialize_seq(Operations)
}

struct Operations;

impl<'de> de::Visitor<'de> for Operations {
    type Value = Vec<RuleOperation>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of operations")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut operations = Vec::new();
        while let Some(operation) = list.next_element()? {
            if operations.len() == RuleBatch::MAX {
                let most = RuleBatch::MAX;
                let reason = format!("there are more than {most} operations; send several batches");
                return Err(de::Error::custom(reason));
            }
            operations.push(operation);
        }
        Ok(operations)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(operations: Value) -> Result<RuleBatch, String> {
        serde_json::from_value(json!({"operations": operations})).map_err(|error| error.to_string())
    }

    fn put(name: &str, spec: Value) -> Value {
        json!({"put": {"table": 0, "name": name, "spec": spec}})
    }

    fn drop_all() -> Value {
        json!({"priority": 1, "match": {}, "actions": ["drop"]})
    }

    #[test]
    fn operations_are_written_as_they_are_read() {
        let operations = json!([put("a", drop_all()), {"delete": {"table": 253, "name": "b"}}, put("c", drop_all())]);
        let batch = read(operations.clone()).unwrap();
        assert_eq!(json!(batch), json!({"operations": operations}));
        assert_eq!((batch.invalid_spec(), batch.named_twice()), (None, None));
    }

    #[test]
    fn an_operation_is_one_of_two() {
        let delete = json!({"table": 0, "name": "a"});
        for (operation, expected) in [
            (json!({}), "this is neither"),
            (json!({"put": put("a", drop_all())["put"], "delete": delete}), "write two"),
            (json!({"puts": {}}), "unknown field `puts`, expected `put` or `delete`"),
            (json!({"delete": {"table": 254, "name": "a"}}), "0 to 253"),
            (json!({"delete": {"table": 0}}), "missing field `name`"),
        ] {
            let refused = read(json!([operation])).unwrap_err();
            assert!(refused.contains(expected), "{operation}: {refused}");
        }
    }

    #[test]
    fn a_spec_that_is_not_fit_is_pointed_at() {
        let bad = json!({"priority": 1, "match": {"l4_dst": 80}, "actions": ["drop"]});
        let batch = read(json!([put("a", drop_all()), put("b", bad)])).unwrap();
        let invalid = batch.invalid_spec().unwrap();
        assert_eq!(invalid.pointer, "/operations/1/put/spec/match/l4_dst");
        assert!(invalid.reason.starts_with("only tcp, udp or sctp"), "{invalid}");
    }

    #[test]
    fn a_rule_is_named_once_in_a_table() {
        let delete = |table: u8| json!({"delete": {"table": table, "name": "a"}});
        let batch = read(json!([put("a", drop_all()), delete(1)])).unwrap();
        assert_eq!(batch.named_twice(), None);
        let batch = read(json!([put("b", drop_all()), put("a", drop_all()), delete(0)])).unwrap();
        assert_eq!(
            batch.named_twice().unwrap().to_string(),
            "/operations/2/delete: rule a of table 0 stands at /operations/1/put already \
             (name each rule once)"
        );
    }

    #[test]
    fn there_are_at_most_200_000_operations() {
        let delete = json!({"delete": {"table": 0, "name": "a"}});
        let operations = |count| Value::Array(vec![delete.clone(); count]);
        assert_eq!(read(operations(200_000)).unwrap().operations.len(), 200_000);
        let refused = read(operations(200_001)).unwrap_err();
        assert_eq!(refused, "there are more than 200000 operations; send several batches");
    }
}
