//! `key=value,key=value` as the structure whose fields the keys are.
//!
//! A value is what the field wants it to be: where that is a number, the text must be one. So what
//! fields there are and what they take is written once, in the types of the API.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{
        self, DeserializeOwned, IntoDeserializer, MapAccess, Unexpected, Visitor,
        value::{Error, MapAccessDeserializer, MapDeserializer},
    },
    forward_to_deserialize_any,
};
use serde_json::Value;

/// Splits a text into pairs.
pub(crate) fn split(text: &str) -> Result<Vec<(&str, &str)>, String> {
    text.split(',').map(pair).collect()
}

fn pair(text: &str) -> Result<(&str, &str), String> {
    text.split_once('=')
        .filter(|(key, value)| !key.is_empty() && !value.is_empty())
        .ok_or_else(|| format!("expected KEY=VALUE, got `{text}`"))
}

/// Reads the structure that the pairs are the fields of.
pub(crate) fn read<T: DeserializeOwned>(pairs: &[(&str, &str)]) -> Result<T, String> {
    let fields = pairs.iter().map(|(key, value)| (*key, Text(value)));
    T::deserialize(MapAccessDeserializer::new(MapDeserializer::<_, Error>::new(fields)))
        .map_err(|error| error.to_string())
}

/// Writes a structure as [`read`] reads it.
pub(crate) fn write<T: Serialize>(structure: &T) -> String {
    let json = serde_json::to_string(structure).expect("it is plain data");
    let Fields(fields) = serde_json::from_str(&json).expect("it is an object");
    fields
        .iter()
        .map(|(key, value)| format!("{key}={}", plain(value)))
        .collect::<Vec<_>>()
        .join(",")
}

/// A string without its quotes, anything else as JSON.
pub(crate) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The members of an object, in their order.
struct Fields(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

/// A value that becomes a number where one is asked for.
struct Text<'a>(&'a str);

impl<'a> IntoDeserializer<'a, Error> for Text<'a> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.0.parse() {
                Ok(number) => visitor.visit_u64(number),
                Err(_) => Err(de::Error::invalid_type(Unexpected::Str(self.0), &visitor)),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Text<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.0)
    }

    numbers! { deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(IntoDeserializer::<Error>::into_deserializer(self.0))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map struct identifier ignored_any
    }
}
