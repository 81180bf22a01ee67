use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::ToSchema;

use crate::{Action, Invalid, Name, action};

/// The number of a table of rules, 0 to 253. Every packet begins in table 0.
///
/// As a key of the configuration file it is written in quotes or bare, elsewhere as a number.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ToSchema,
)]
#[schema(maximum = 253)]
pub struct TableNumber(u8);

/// A text or number that is no [`TableNumber`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a table is a number from 0 to 253, without signs or leading zeros")]
pub struct TableNumberError;

/// A table of rules. Every table that there can be is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FlowTable {
    /// Its number.
    pub table: TableNumber,
    /// What the client asked for.
    pub spec: TableSpec,
    /// What is in it.
    pub status: TableStatus,
}

/// A table as a client asks for it, but for its rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TableSpec {
    /// What is done with packets that none of its rules matches, in order. Without it they are
    /// dropped, and counted as `table-miss`.
    #[schema(min_items = 1)]
    pub miss: Vec<Action>,
    /// A stage whose module is a classifier: it says what a packet is, and rules of this table and
    /// of those behind it match the answer as `metadata`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classifier: Option<Name>,
}

/// What is in a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TableStatus {
    /// Its rules.
    pub rules: usize,
    /// The different sets of bits that they look at, each of which a search looks up by itself.
    pub masks: usize,
}

impl Default for TableSpec {
    fn default() -> Self {
        Self { miss: vec![Action::Drop], classifier: None }
    }
}

impl TableSpec {
    /// Checks what the shape does not say, for the table of this number.
    ///
    /// # Errors
    ///
    /// If an action stands where it has no meaning.
    pub fn validate(&self, table: TableNumber) -> Result<(), Invalid> {
        action::validate(&self.miss, table, None).map_err(|invalid| invalid.under("miss"))
    }
}

impl TableNumber {
    /// The last table that there can be (OpenFlow 1.3.5, A.1: `OFPTT_MAX`).
    pub const MAX: u8 = 253;

    /// The table of this number, if there can be one.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        if number <= Self::MAX { Some(Self(number)) } else { None }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl FromStr for TableNumber {
    type Err = TableNumberError;

    fn from_str(text: &str) -> Result<Self, TableNumberError> {
        let number = text.parse().ok().and_then(Self::new).ok_or(TableNumberError)?;
        // One table, one text: else `0` and `00` would be two keys for it.
        if number.to_string() == text { Ok(number) } else { Err(TableNumberError) }
    }
}

impl fmt::Display for TableNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for TableNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOrKey)
    }
}

struct NumberOrKey;

impl de::Visitor<'_> for NumberOrKey {
    type Value = TableNumber;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the number of a table, 0 to 253")
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<TableNumber, E> {
        let table = u8::try_from(number).ok().and_then(TableNumber::new);
        table.ok_or_else(|| E::invalid_value(de::Unexpected::Unsigned(number), &self))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<TableNumber, E> {
        match u64::try_from(number) {
            Ok(number) => self.visit_u64(number),
            Err(_) => Err(E::invalid_value(de::Unexpected::Signed(number), &self)),
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<TableNumber, E> {
        text.parse().map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_miss_is_a_drop_unless_said_otherwise_and_goes_on() {
        let spec: TableSpec = serde_json::from_value(json!({})).unwrap();
        assert_eq!((&spec, json!(spec)), (&TableSpec::default(), json!({"miss": ["drop"]})));
        let table = TableNumber::new(1).unwrap();
        let check = |miss| {
            let spec: TableSpec = serde_json::from_value(json!({"miss": miss})).unwrap();
            spec.validate(table).map_err(|invalid| invalid.pointer)
        };
        assert_eq!(check(json!(["drop"])), Ok(()));
        assert_eq!(check(json!([{"output": "lan"}, {"goto": 2}])), Ok(()));
        assert_eq!(check(json!([])), Err("/miss".into()));
        assert_eq!(check(json!([{"goto": 1}])), Err("/miss/0/goto".into()));
    }

    #[test]
    fn it_is_a_number_as_a_value_and_a_text_as_a_key() {
        let tables: BTreeMap<TableNumber, TableNumber> =
            serde_json::from_str(r#"{"0":253}"#).unwrap();
        assert_eq!(serde_json::to_string(&tables).unwrap(), r#"{"0":253}"#);
        assert_eq!(toml::to_string(&tables).unwrap(), "0 = 253\n");
    }

    #[test]
    fn there_is_no_table_past_253_and_one_text_for_each() {
        for bad in ["254", "256", "-1", "+1", "01", "", "x"] {
            assert!(bad.parse::<TableNumber>().is_err(), "{bad:?}");
        }
        assert!(serde_json::from_str::<TableNumber>("254").is_err());
        assert!(serde_json::from_str::<TableNumber>("-1").is_err());
    }
}
