//! Numbers with fewer bits than any integer type has.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr, Schema,
        schema::{ObjectBuilder, Type},
    },
};

macro_rules! bounded {
    ($($(#[$doc:meta])* $name:ident($inner:ty) up to $max:literal, $what:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub struct $name($inner);

        impl $name {
            /// The largest.
            pub const MAX: $inner = $max;

            /// The value, if it is not above [`Self::MAX`].
            #[must_use]
            pub const fn new(value: $inner) -> Option<Self> {
                if value <= Self::MAX { Some(Self(value)) } else { None }
            }

            /// The value as a number.
            #[must_use]
            pub const fn get(self) -> $inner {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl ToSchema for $name {}

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let object = ObjectBuilder::new().schema_type(Type::Integer);
                object.minimum(Some(0)).maximum(Some(Self::MAX)).description(Some($what)).into()
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let bounds = Bounds { max: u64::from(Self::MAX), what: $what };
                let value = deserializer.deserialize_u64(bounds)?;
                Ok(Self(<$inner>::try_from(value).expect("the bounds fit the type")))
            }
        }
    )*};
}

bounded! {
    /// The VLAN that a tag names (IEEE 802.1Q).
    VlanId(u16) up to 4095, "a VLAN id";
    /// The priority code point of a VLAN tag (IEEE 802.1Q).
    VlanPriority(u8) up to 7, "a VLAN priority";
    /// Differentiated services (RFC 2474).
    Dscp(u8) up to 63, "a DSCP";
    /// Explicit congestion notification (RFC 3168).
    Ecn(u8) up to 3, "an ECN code point";
    /// A label of MPLS (RFC 3032).
    MplsLabel(u32) up to 1_048_575, "an MPLS label";
    /// The traffic class of an MPLS label (RFC 5462).
    MplsTrafficClass(u8) up to 7, "an MPLS traffic class";
    /// Whether an MPLS label is the last of its stack.
    MplsBottom(u8) up to 1, "the bottom-of-stack bit";
    /// The flow label of IPv6 (RFC 6437).
    Ipv6Label(u32) up to 1_048_575, "an IPv6 flow label";
}

struct Bounds {
    max: u64,
    what: &'static str,
}

impl de::Visitor<'_> for Bounds {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, a number from 0 to {}", self.what, self.max)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<u64, E> {
        if value <= self.max {
            return Ok(value);
        }
        Err(E::invalid_value(de::Unexpected::Unsigned(value), &self))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<u64, E> {
        match u64::try_from(value) {
            Ok(value) => self.visit_u64(value),
            Err(_) => Err(E::invalid_value(de::Unexpected::Signed(value), &self)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_is_taken_and_one_more_is_refused() {
        assert_eq!(serde_json::from_str::<VlanId>("4095").unwrap().get(), 4095);
        let error = serde_json::from_str::<VlanId>("4096").unwrap_err().to_string();
        assert!(error.contains("`4096`, expected a VLAN id, a number from 0 to 4095"), "{error}");
        assert!(serde_json::from_str::<Dscp>("-1").is_err());
        assert!(serde_json::from_str::<Ecn>("1.5").is_err());
        assert_eq!((Dscp::new(63).is_some(), Dscp::new(64)), (true, None));
    }
}
