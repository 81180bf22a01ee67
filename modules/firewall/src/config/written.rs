//! Values that are written as text or as a number.

use alloc::string::ToString;
use core::{
    fmt::{self, Display},
    marker::PhantomData,
    str::FromStr,
};

use serde::{Deserializer, de};

/// Reads a value that is `expected`, from its text or from a number, which is text as well.
pub(super) fn deserialize<'de, T, D>(deserializer: D, expected: &'static str) -> Result<T, D::Error>
where
    T: FromStr<Err: Display>,
    D: Deserializer<'de>,
{
    deserializer.deserialize_any(Visitor { expected, value: PhantomData })
}

struct Visitor<T> {
    expected: &'static str,
    value: PhantomData<T>,
}

impl<T: FromStr<Err: Display>> de::Visitor<'_> for Visitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        let expected = self.expected;
        text.parse()
            .map_err(|error| E::custom(format_args!("`{text}` {error}; expected {expected}")))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
}
