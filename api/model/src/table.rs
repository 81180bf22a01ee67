use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::ToSchema;

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

/// A table that has rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Its number.
    pub table: TableNumber,
    /// How many rules it has.
    pub rules: usize,
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

    use super::*;

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
