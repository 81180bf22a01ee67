use std::{fmt, str::FromStr};

use super::text::{TextError, number, text_or_number_type};

/// What an ARP packet asks or answers (RFC 826): `request`, `reply` or a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArpOperation(u8);

impl ArpOperation {
    /// Who has an address?
    pub const REQUEST: Self = Self(1);
    /// Somebody has it.
    pub const REPLY: Self = Self(2);

    const NAMES: [(Self, &'static str); 2] = [(Self::REQUEST, "request"), (Self::REPLY, "reply")];

    /// The operation of this number. 0 is reserved, and none above 255 was ever assigned.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        if number == 0 { None } else { Some(Self(number)) }
    }

    /// The number on the wire.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }

    fn name(self) -> Option<&'static str> {
        Self::NAMES.iter().find(|(named, _)| *named == self).map(|(_, name)| *name)
    }

    fn number(self) -> Option<u16> {
        self.name().is_none().then_some(u16::from(self.0))
    }
}

impl FromStr for ArpOperation {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        if let Some((named, _)) = Self::NAMES.iter().find(|(_, name)| *name == text) {
            return Ok(*named);
        }
        let value = number(text).and_then(|number| u8::try_from(number).ok()).and_then(Self::new);
        let reason = "write request, reply or a number from 1 to 255";
        value.ok_or_else(|| TextError::new(text, "an ARP operation", reason))
    }
}

impl fmt::Display for ArpOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => self.0.fmt(f),
        }
    }
}

text_or_number_type!(
    ArpOperation,
    "request, reply or a number from 1 to 255",
    [serde_json::json!("request"), serde_json::json!(3)]
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_operation_is_a_name_and_another_a_number() {
        for (written, shown) in
            [("\"reply\"", "\"reply\""), ("1", "\"request\""), ("9", "9"), ("\"0xff\"", "255")]
        {
            let operation: ArpOperation = serde_json::from_str(written).unwrap();
            assert_eq!(serde_json::to_string(&operation).unwrap(), shown, "{written}");
        }
        for bad in ["0", "256", "\"Reply\"", "\"\"", "-1"] {
            assert!(serde_json::from_str::<ArpOperation>(bad).is_err(), "{bad}");
        }
    }
}
