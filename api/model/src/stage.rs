use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{Invalid, Name};

/// A module in service: its configuration, limits and failure policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Stage {
    /// What rules call it by.
    pub name: Name,
    /// What the client asked for.
    pub spec: StageSpec,
    /// What became of it.
    pub status: StageStatus,
}

/// A stage as a client asks for it. To write it anew with another module or configuration is to
/// swap it while packets flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StageSpec {
    /// The module that it runs.
    pub module: Name,
    /// What the module is given at its start, as JSON.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub config: Map<String, Value>,
    /// What becomes of packets while it cannot decide.
    #[serde(default)]
    pub on_fault: OnFault,
    /// The most memory an instance may have, in bytes.
    #[serde(default = "default_memory")]
    #[schema(minimum = 65536, maximum = 4_294_967_296_u64)]
    pub memory_limit_bytes: u64,
    /// How long an instance may take for a batch, in microseconds.
    #[serde(default = "default_deadline")]
    #[schema(minimum = 1, maximum = 10_000_000)]
    pub deadline_us: u64,
}

/// What becomes of packets that a stage cannot decide on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnFault {
    /// They are dropped, and counted.
    #[default]
    Drop,
    /// They go on as if the stage were not there.
    Bypass,
}

/// A stage as it runs, over all workers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StageStatus {
    /// The digest of the module that runs.
    pub module_digest: String,
    /// 1 when it was made, and one more with each swap.
    pub generation: u64,
    /// The module's own counters.
    pub counters: BTreeMap<String, u64>,
    /// Packets that it was asked about.
    pub packets: u64,
    /// Calls that they were asked in.
    pub batches: u64,
    /// What it answered.
    pub verdicts: VerdictCounters,
    /// How it failed.
    pub faults: FaultCounters,
    /// Packets that came while it had no instance.
    pub unavailable_packets: u64,
    /// Lines of its log that were above the rate.
    pub log_lines_lost: u64,
}

/// A stage's verdicts, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct VerdictCounters {
    /// The packet's next action saw it.
    pub next: u64,
    /// It was dropped for a reason of the module.
    pub drop: u64,
    /// It was sent to a port.
    pub output: u64,
    /// It was looked up in another table.
    pub goto: u64,
}

/// A stage's faults, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FaultCounters {
    /// It trapped.
    pub trap: u64,
    /// It ran past its deadline.
    pub deadline: u64,
    /// It answered what is no verdict.
    pub bad_verdict: u64,
}

/// How the `toml` crate shows a date and time to others.
const TOML_DATE_TIME: &str = "$__toml_private_datetime";

impl StageSpec {
    /// The memory limits that there can be: one page of WebAssembly to all that 32 bits address.
    pub const MEMORY_LIMITS: std::ops::RangeInclusive<u64> = 65536..=1 << 32;
    /// The deadlines that there can be, up to ten seconds.
    pub const DEADLINES: std::ops::RangeInclusive<u64> = 1..=10_000_000;

    /// A stage that runs `module` with the defaults.
    #[must_use]
    pub fn new(module: Name) -> Self {
        Self {
            module,
            config: Map::new(),
            on_fault: OnFault::default(),
            memory_limit_bytes: default_memory(),
            deadline_us: default_deadline(),
        }
    }

    /// Checks what the shape does not say.
    ///
    /// # Errors
    ///
    /// If a limit is out of its range, or the configuration has what TOML and JSON do not share.
    pub fn validate(&self) -> Result<(), Invalid> {
        for (field, value, range) in [
            ("memory_limit_bytes", self.memory_limit_bytes, Self::MEMORY_LIMITS),
            ("deadline_us", self.deadline_us, Self::DEADLINES),
        ] {
            if !range.contains(&value) {
                let reason = format!("{value} is not from {} to {}", range.start(), range.end());
                return Err(Invalid::at(&[field], reason));
            }
        }
        validate_object(&self.config).map_err(|invalid| invalid.under("config"))
    }
}

fn validate_object(object: &Map<String, Value>) -> Result<(), Invalid> {
    let each =
        |(key, value): (&String, _)| validate_value(value).map_err(|invalid| invalid.under(key));
    object.iter().try_for_each(each)
}

fn validate_value(value: &Value) -> Result<(), Invalid> {
    let invalid = |reason: &str, hint: &str| Err(Invalid::at(&[], reason).hint(hint));
    match value {
        Value::Null => invalid("TOML has no null, and JSON no nan and inf", "leave the key out"),
        Value::Number(number) if number.is_u64() && number.as_i64().is_none() => {
            invalid("TOML's integers end at 9223372036854775807", "write it as a string")
        }
        Value::Object(object) if object.contains_key(TOML_DATE_TIME) => {
            invalid("JSON has no dates", "write it as a string, in quotes")
        }
        Value::Object(object) => validate_object(object),
        Value::Array(items) => {
            let each = |(index, item): (usize, _)| {
                validate_value(item).map_err(|invalid| invalid.under(&index.to_string()))
            };
            items.iter().enumerate().try_for_each(each)
        }
        _ => Ok(()),
    }
}

fn default_memory() -> u64 {
    16 << 20
}

fn default_deadline() -> u64 {
    10_000
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(spec: Value) -> Invalid {
        serde_json::from_value::<StageSpec>(spec).unwrap().validate().unwrap_err()
    }

    #[test]
    fn a_module_is_all_that_must_be_said_and_the_defaults_are_shown() {
        let spec: StageSpec = serde_json::from_value(json!({"module": "nat@2.0.0"})).unwrap();
        spec.validate().unwrap();
        assert_eq!(spec, StageSpec::new("nat@2.0.0".parse().unwrap()));
        let shown = json!({"module": "nat@2.0.0", "config": {}, "on_fault": "drop",
            "memory_limit_bytes": 16_777_216, "deadline_us": 10_000});
        assert_eq!(json!(spec), shown);
    }

    #[test]
    fn limits_end_where_they_say() {
        for (field, good, bad) in [
            ("memory_limit_bytes", [65_536_u64, 1 << 32], [65_535_u64, (1 << 32) + 1]),
            ("deadline_us", [1, 10_000_000], [0, 10_000_001_u64]),
        ] {
            for value in good {
                let spec = json!({"module": "m", field: value});
                serde_json::from_value::<StageSpec>(spec).unwrap().validate().unwrap();
            }
            for value in bad {
                let invalid = refused(json!({"module": "m", field: value}));
                assert_eq!(invalid.pointer, format!("/{field}"), "{value}");
            }
        }
    }

    #[test]
    fn a_configuration_has_only_what_toml_and_json_share() {
        for (config, pointer) in [
            (json!({"rules": [{"from": null}]}), "/config/rules/0/from"),
            (json!({"big": u64::MAX}), "/config/big"),
        ] {
            assert_eq!(refused(json!({"module": "m", "config": config})).pointer, pointer);
        }
        for config in ["since = 2026-01-01", "rate = nan"] {
            let text = format!("module = \"m\"\n[config]\n{config}");
            let invalid = toml::from_str::<StageSpec>(&text).unwrap().validate().unwrap_err();
            assert!(invalid.pointer.starts_with("/config/"), "{invalid}");
        }
    }
}
