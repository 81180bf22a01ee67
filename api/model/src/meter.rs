use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Invalid, Name, Treatment};

/// A rate that packets are held to, by all workers together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Meter {
    /// What rules call it by.
    pub name: Name,
    /// What the client asked for.
    pub spec: MeterSpec,
    /// What it did.
    pub status: MeterStatus,
}

/// A meter as a client asks for it. Packets come to it without a colour; it makes those green that
/// keep to the committed rate, and they pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MeterSpec {
    /// How the second rate or burst works.
    pub algorithm: MeterAlgorithm,
    /// What rates and bursts count.
    #[serde(default)]
    pub unit: MeterUnit,
    /// Bits or packets a second.
    #[schema(maximum = 1_000_000_000_000_u64)]
    pub committed_rate: u64,
    /// Bytes or packets at once.
    #[schema(maximum = 268_435_456)]
    pub committed_burst: u64,
    /// Of `rfc2698`: bits or packets a second that no packet may go beyond.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_rate: Option<u64>,
    /// Of `rfc2698`: bytes or packets at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_burst: Option<u64>,
    /// Of `rfc4115`: bits or packets a second beside the committed ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excess_rate: Option<u64>,
    /// Of `rfc2697` and `rfc4115`: bytes or packets at once beside the committed ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excess_burst: Option<u64>,
    /// What becomes of packets beyond the committed rate.
    #[serde(default = "pass")]
    pub yellow: Treatment,
    /// What becomes of packets beyond both.
    #[serde(default = "drop")]
    pub red: Treatment,
}

/// How a meter's second rate or burst works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeterAlgorithm {
    /// A single rate: packets beyond the committed burst are yellow up to the excess burst.
    Rfc2697,
    /// Two rates: packets beyond the peak rate are red, others beyond the committed rate yellow.
    Rfc2698,
    /// Two rates: packets beyond the committed rate are yellow up to the excess rate.
    Rfc4115,
}

/// What a meter counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeterUnit {
    /// Bits of frames, without check sequences.
    #[default]
    Bits,
    /// Packets.
    Packets,
}

/// What a meter did, over all workers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MeterStatus {
    /// Packets that kept to the committed rate.
    pub green: ColorCounters,
    /// Packets beyond that.
    pub yellow: ColorCounters,
    /// Packets beyond both.
    pub red: ColorCounters,
}

/// The packets of one colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ColorCounters {
    /// How many.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
}

fn pass() -> Treatment {
    Treatment::Pass
}

fn drop() -> Treatment {
    Treatment::Drop
}

impl MeterSpec {
    /// The greatest rate.
    pub const MAX_RATE: u64 = 1_000_000_000_000;
    /// The greatest burst.
    pub const MAX_BURST: u64 = 1 << 28;

    /// Checks what the shape does not say.
    ///
    /// # Errors
    ///
    /// If the algorithm needs a field that is not given, or knows none that is, or a number is too
    /// great.
    pub fn validate(&self) -> Result<(), Invalid> {
        self.fields_of_the_algorithm()?;
        let rates = [
            ("committed_rate", Some(self.committed_rate)),
            ("peak_rate", self.peak_rate),
            ("excess_rate", self.excess_rate),
        ];
        let bursts = [
            ("committed_burst", Some(self.committed_burst)),
            ("peak_burst", self.peak_burst),
            ("excess_burst", self.excess_burst),
        ];
        for (fields, most) in [(rates, Self::MAX_RATE), (bursts, Self::MAX_BURST)] {
            for (field, value) in fields {
                if let Some(value) = value.filter(|value| *value > most) {
                    return Err(Invalid::at(&[field], format!("{value} is more than {most}")));
                }
            }
        }
        match self.peak_rate {
            Some(peak) if peak < self.committed_rate => {
                let reason = format!("{peak} is less than the committed rate");
                Err(Invalid::at(&["peak_rate"], reason))
            }
            _ => Ok(()),
        }
    }

    fn fields_of_the_algorithm(&self) -> Result<(), Invalid> {
        use MeterAlgorithm::{Rfc2697, Rfc2698, Rfc4115};
        for (field, value, users) in [
            ("peak_rate", self.peak_rate, &[Rfc2698][..]),
            ("peak_burst", self.peak_burst, &[Rfc2698]),
            ("excess_rate", self.excess_rate, &[Rfc4115]),
            ("excess_burst", self.excess_burst, &[Rfc2697, Rfc4115]),
        ] {
            let reason = match (value, users.contains(&self.algorithm)) {
                (Some(_), false) => "the algorithm does not know this field",
                (None, true) => "the algorithm needs this field",
                _ => continue,
            };
            return Err(Invalid::at(&[field], reason).hint(
                "rfc2697 has excess_burst, rfc2698 peak_rate and peak_burst, rfc4115 excess_rate \
                 and excess_burst",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn validate(spec: Value) -> Result<(), String> {
        let spec: MeterSpec = serde_json::from_value(spec).unwrap();
        spec.validate().map_err(|invalid| invalid.to_string())
    }

    fn with(algorithm: &str, fields: Value) -> Value {
        let mut spec =
            json!({"algorithm": algorithm, "committed_rate": 1000, "committed_burst": 1500});
        spec.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        spec
    }

    #[test]
    fn each_algorithm_has_its_fields() {
        for (algorithm, fields, expected) in [
            ("rfc2697", json!({"excess_burst": 0}), Ok(())),
            ("rfc2698", json!({"peak_rate": 1000, "peak_burst": 1}), Ok(())),
            ("rfc4115", json!({"excess_rate": 0, "excess_burst": 1}), Ok(())),
            ("rfc2697", json!({}), Err("/excess_burst: the algorithm needs this field")),
            (
                "rfc2697",
                json!({"excess_burst": 1, "peak_rate": 1}),
                Err("/peak_rate: the algorithm does not know this field"),
            ),
            ("rfc2698", json!({"peak_burst": 1}), Err("/peak_rate: the algorithm needs this")),
            (
                "rfc2698",
                json!({"peak_rate": 999, "peak_burst": 1}),
                Err("/peak_rate: 999 is less than the committed rate"),
            ),
            (
                "rfc4115",
                json!({"excess_rate": 1_000_000_000_001_u64, "excess_burst": 1}),
                Err("/excess_rate: 1000000000001 is more than 1000000000000"),
            ),
            (
                "rfc4115",
                json!({"excess_rate": 1, "excess_burst": 268_435_457}),
                Err("/excess_burst: 268435457 is more than 268435456"),
            ),
        ] {
            let answer = validate(with(algorithm, fields.clone()));
            let alike = match (&answer, expected) {
                (Ok(()), Ok(())) => true,
                (Err(refused), Err(expected)) => refused.starts_with(expected),
                _ => false,
            };
            assert!(alike, "{algorithm} {fields}: {answer:?}");
        }
    }

    #[test]
    fn yellow_passes_and_red_is_dropped_if_nothing_is_said() {
        let spec: MeterSpec =
            serde_json::from_value(with("rfc2697", json!({"excess_burst": 9}))).unwrap();
        let expected = json!({
            "algorithm": "rfc2697", "unit": "bits", "committed_rate": 1000,
            "committed_burst": 1500, "excess_burst": 9, "yellow": "pass", "red": "drop",
        });
        assert_eq!(json!(spec), expected);
    }
}
