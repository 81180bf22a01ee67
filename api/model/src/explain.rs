use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Action, Fields, Name, TableNumber};

/// A packet that the tables are to be asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainRequest {
    /// The port that it comes by.
    pub in_port: Name,
    /// Its bytes, from the Ethernet header on.
    pub packet: PacketBytes,
    /// The table that it begins in.
    #[serde(default)]
    pub table: TableNumber,
}

/// The bytes of a packet, in hexadecimal. Spaces and colons between them do not matter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, example = "0200000000010200000000020806")]
pub struct PacketBytes(Vec<u8>);

/// Why a text or some bytes are no [`PacketBytes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PacketBytesError {
    /// Something else than a hexadecimal digit.
    #[error("a packet is bytes in hexadecimal; {0:?} is none of its digits")]
    Digit(char),
    /// Half a byte is left over.
    #[error("a packet is bytes of two hexadecimal digits each; there is an odd digit")]
    Odd,
    /// There is nothing, or more than a port could carry.
    #[error("a packet has 1 to {max} bytes, not {0}", max = PacketBytes::MAX)]
    Length(usize),
}

/// What would become of a packet, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Explanation {
    /// What is known of the packet when it begins.
    pub key: Fields,
    /// The tables that it comes by.
    pub steps: Vec<ExplainStep>,
    /// How it ends.
    pub decision: Decision,
    /// The same in words.
    pub text: String,
}

/// What one table said of a packet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExplainStep {
    /// The table.
    pub table: TableNumber,
    /// The rule that matched; null if none did.
    pub rule: Option<Name>,
    /// The rule's priority.
    pub priority: Option<u16>,
    /// The rule's actions, or those of the table's miss.
    pub actions: Vec<Action>,
    /// The fields that the search looked at, and the mask of the bits of each that it needed.
    pub looked_at: Fields,
}

/// How a packet ends, as far as the tables decide. There may come more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It leaves by a port, or by several.
    Output,
    /// It is dropped.
    Drop,
    /// A stage decides on it, or a classifier says first what it is.
    Stage,
    /// In a way that came after this release.
    #[serde(other)]
    Other,
}

impl PacketBytes {
    /// The most bytes that a packet has.
    pub const MAX: usize = 16_384;

    /// The bytes of a packet.
    ///
    /// # Errors
    ///
    /// If there are none, or too many.
    pub fn new(bytes: Vec<u8>) -> Result<Self, PacketBytesError> {
        match bytes.len() {
            1..=Self::MAX => Ok(Self(bytes)),
            length => Err(PacketBytesError::Length(length)),
        }
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl FromStr for PacketBytes {
    type Err = PacketBytesError;

    fn from_str(text: &str) -> Result<Self, PacketBytesError> {
        let digit = |c: char| {
            let digit = c.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            digit.ok_or(PacketBytesError::Digit(c))
        };
        let between = |c: &char| c.is_ascii_whitespace() || *c == ':';
        let digits =
            text.chars().filter(|c| !between(c)).map(digit).collect::<Result<Vec<u8>, _>>()?;
        let (bytes, []) = digits.as_chunks() else { return Err(PacketBytesError::Odd) };
        Self::new(bytes.iter().map(|[high, low]| high << 4 | low).collect())
    }
}

impl TryFrom<String> for PacketBytes {
    type Error = PacketBytesError;

    fn try_from(text: String) -> Result<Self, PacketBytesError> {
        text.parse()
    }
}

impl From<PacketBytes> for String {
    fn from(bytes: PacketBytes) -> Self {
        bytes.to_string()
    }
}

impl fmt::Display for PacketBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Output => "output",
            Self::Drop => "drop",
            Self::Stage => "stage",
            Self::Other => "other",
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_packet_is_read_from_hexadecimal_as_tools_write_it() {
        for text in ["02ff00a1", "02:FF:00:a1", " 02ff 00a1\n"] {
            let packet: PacketBytes = text.parse().unwrap();
            assert_eq!(packet.as_bytes(), [0x02, 0xff, 0x00, 0xa1], "{text:?}");
            assert_eq!(packet.to_string(), "02ff00a1");
        }
    }

    #[test]
    fn what_is_no_packet_is_refused_with_the_reason() {
        let read = |text: &str| text.parse::<PacketBytes>();
        assert_eq!(read(""), Err(PacketBytesError::Length(0)));
        assert_eq!(read("0x02"), Err(PacketBytesError::Digit('x')));
        assert_eq!(read("02f"), Err(PacketBytesError::Odd));
        assert!(read(&"00".repeat(16_384)).is_ok());
        let refused = read(&"00".repeat(16_385)).unwrap_err();
        assert_eq!(refused.to_string(), "a packet has 1 to 16384 bytes, not 16385");
    }

    #[test]
    fn a_request_begins_in_table_0_unless_said_otherwise() {
        let request: ExplainRequest =
            serde_json::from_value(json!({"in_port": "lan", "packet": "00:01"})).unwrap();
        assert_eq!(json!(request), json!({"in_port": "lan", "packet": "0001", "table": 0}));
    }

    #[test]
    fn a_decision_that_a_client_does_not_know_still_parses() {
        for (text, decision) in [
            ("output", Decision::Output),
            ("drop", Decision::Drop),
            ("stage", Decision::Stage),
            ("from_the_future", Decision::Other),
        ] {
            assert_eq!(serde_json::from_value::<Decision>(json!(text)).unwrap(), decision);
        }
    }
}
