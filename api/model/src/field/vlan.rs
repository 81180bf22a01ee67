use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    VlanId,
    text::{TextError, number, text_or_number_type},
};

/// Whether a packet has a VLAN tag, and which: `none` or an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VlanMatch {
    /// It has no tag.
    Untagged,
    /// Its tag names this VLAN.
    Tagged(VlanId),
}

impl VlanMatch {
    fn number(self) -> Option<u16> {
        match self {
            Self::Untagged => None,
            Self::Tagged(vid) => Some(vid.get()),
        }
    }
}

impl FromStr for VlanMatch {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        if text == "none" {
            return Ok(Self::Untagged);
        }
        let vid = number(text).and_then(|number| VlanId::new(u16::try_from(number).ok()?));
        let error = || TextError::new(text, "a VLAN", "write 0 to 4095, or \"none\" for no tag");
        vid.map(Self::Tagged).ok_or_else(error)
    }
}

impl fmt::Display for VlanMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Untagged => f.write_str("none"),
            Self::Tagged(vid) => vid.fmt(f),
        }
    }
}

text_or_number_type!(
    VlanMatch,
    "The VLAN id of a tag, 0 to 4095, or \"none\" for packets without such a tag",
    [serde_json::json!(10), serde_json::json!("none")]
);

/// The EtherType that announces a VLAN tag.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub enum TagProtocol {
    /// A customer's tag (IEEE 802.1Q).
    #[default]
    #[serde(rename = "0x8100")]
    Customer,
    /// A service provider's tag (IEEE 802.1ad).
    #[serde(rename = "0x88a8")]
    Service,
}

impl TagProtocol {
    /// The number on the wire.
    #[must_use]
    pub const fn get(self) -> u16 {
        match self {
            Self::Customer => 0x8100,
            Self::Service => 0x88a8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vlan_is_a_number_or_none() {
        for (written, shown) in
            [("10", "10"), ("\"10\"", "10"), ("\"none\"", "\"none\""), ("0", "0")]
        {
            let vlan: VlanMatch = serde_json::from_str(written).unwrap();
            assert_eq!(serde_json::to_string(&vlan).unwrap(), shown);
        }
        for bad in ["4096", "-1", "\"None\"", "\"\""] {
            assert!(serde_json::from_str::<VlanMatch>(bad).is_err(), "{bad}");
        }
    }
}
