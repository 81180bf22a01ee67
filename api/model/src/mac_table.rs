use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Invalid, MacAddress, Name, VlanId};

/// What the action `normal` has learned: the port that each address was last seen on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MacTable {
    /// What the client asked for.
    pub spec: MacTableSpec,
    /// What was done.
    pub status: MacTableStatus,
    /// The addresses that are known, by VLAN and address.
    pub entries: Vec<MacEntry>,
}

/// How addresses are remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MacTableSpec {
    /// How long an address is remembered that sends nothing, in seconds.
    #[schema(minimum = 1, maximum = 86_400)]
    pub age_s: u32,
    /// How many addresses there is room for. The room is made in sets, so that an address may be
    /// forgotten for another a little before all of it is taken.
    #[schema(minimum = 8, maximum = 1_048_576)]
    pub limit: u32,
}

/// What was learned and forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MacTableStatus {
    /// Addresses that are known.
    pub entries: usize,
    /// Addresses that were new.
    pub learned: u64,
    /// Addresses that were seen on another port than before.
    pub moved: u64,
    /// Addresses that were forgotten for newer ones.
    pub evicted: u64,
}

/// A known address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MacEntry {
    /// The VLAN; 0 for packets without a tag.
    pub vlan: VlanId,
    /// The address.
    pub mac: MacAddress,
    /// The port that it was last seen on.
    pub port: Name,
    /// How long ago, in milliseconds.
    pub idle_ms: u64,
}

impl Default for MacTableSpec {
    fn default() -> Self {
        Self { age_s: 300, limit: 8192 }
    }
}

impl MacTableSpec {
    /// Checks what the shape does not say.
    ///
    /// # Errors
    ///
    /// If a number is out of its range.
    pub fn validate(&self) -> Result<(), Invalid> {
        for (field, value, range) in
            [("age_s", self.age_s, 1..=86_400), ("limit", self.limit, 8..=1_048_576)]
        {
            if !range.contains(&value) {
                let (least, most) = (range.start(), range.end());
                let reason = format!("{value} is not from {least} to {most}");
                return Err(Invalid::at(&[field], reason));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_as_bridges_have_it_and_limits_are_kept() {
        let spec: MacTableSpec = serde_json::from_str("{}").unwrap();
        assert_eq!(spec, MacTableSpec { age_s: 300, limit: 8192 });
        let pointer = |age_s, limit| {
            let invalid = MacTableSpec { age_s, limit }.validate().err();
            invalid.map(|invalid| invalid.pointer)
        };
        assert_eq!([pointer(1, 8), pointer(86_400, 1_048_576)], [None, None]);
        for age in [0, 86_401] {
            assert_eq!(pointer(age, 8), Some("/age_s".into()));
        }
        for limit in [7, 1_048_577] {
            assert_eq!(pointer(1, limit), Some("/limit".into()));
        }
    }
}
