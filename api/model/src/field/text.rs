//! What the types that are text in JSON and TOML share.

/// Why a text is not a value of its type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{shown:?} is not {what}: {reason}")]
pub struct TextError {
    shown: String,
    what: &'static str,
    reason: String,
}

impl TextError {
    const SHOWN: usize = 80;

    pub(crate) fn new(text: &str, what: &'static str, reason: impl Into<String>) -> Self {
        Self { shown: text.chars().take(Self::SHOWN).collect(), what, reason: reason.into() }
    }
}

/// A number in decimal, or in hexadecimal behind `0x`. Signs and spaces are not taken.
pub(crate) fn number(text: &str) -> Option<u64> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    let plain = digits.chars().all(|digit| digit.is_digit(radix));
    plain.then(|| u64::from_str_radix(digits, radix).ok()).flatten()
}

/// Splits `value/mask`. Without a slash there is no mask.
pub(crate) fn split_mask(text: &str) -> (&str, Option<&str>) {
    text.split_once('/').map_or((text, None), |(value, mask)| (value, Some(mask)))
}

/// Gives a type with `FromStr` and `Display` its JSON form, a string, and its schema.
macro_rules! text_type {
    ($type:ty, $description:literal, $example:literal) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl utoipa::ToSchema for $type {}

        impl utoipa::PartialSchema for $type {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                use utoipa::openapi::schema::{ObjectBuilder, Type};
                let object = ObjectBuilder::new().schema_type(Type::String);
                object.description(Some($description)).examples([$example]).into()
            }
        }
    };
}

/// The same for a type that is a number in JSON where its `number` method gives one.
macro_rules! text_or_number_type {
    ($type:ty, $description:literal, $examples:expr) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self.number() {
                    Some(number) => serializer.serialize_u16(number),
                    None => serializer.collect_str(self),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = deserializer.deserialize_any($crate::field::text::TextOrNumber)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl utoipa::ToSchema for $type {}

        impl utoipa::PartialSchema for $type {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
                let either = SchemaType::Array(vec![Type::Integer, Type::String]);
                let object = ObjectBuilder::new().schema_type(either);
                object.description(Some($description)).examples($examples).into()
            }
        }
    };
}

pub(crate) use {text_or_number_type, text_type};

/// Reads a string, or a number as its digits.
pub(crate) struct TextOrNumber;

impl serde::de::Visitor<'_> for TextOrNumber {
    type Value = String;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a string or a whole number")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<String, E> {
        Ok(number.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_digits_in_either_base_and_nothing_else() {
        assert_eq!(number("80"), Some(80));
        assert_eq!(number("0xfF"), Some(255));
        for bad in ["", "+1", "-1", "0x", "0x+1", "1 ", "1_0", "99999999999999999999"] {
            assert_eq!(number(bad), None, "{bad:?}");
        }
    }
}
