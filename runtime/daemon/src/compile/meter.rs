use api_model::{MeterAlgorithm, MeterSpec, MeterUnit, Treatment as Written};
use dataplane::meter::{Algorithm, Rate, Settings, Treatment, Unit};

/// The engine's form of a meter that has been validated, for a clock of so many ticks a second.
pub(crate) fn meter(spec: &MeterSpec, ticks: u64) -> Settings {
    let unit = match spec.unit {
        MeterUnit::Bits => Unit::Bits,
        MeterUnit::Packets => Unit::Packets,
    };
    let rate = |per_second: Option<u64>, burst: Option<u64>| {
        let burst = burst.unwrap_or(0);
        let burst = if unit == Unit::Bits { burst * 8 } else { burst };
        Rate { per_second: per_second.unwrap_or(0), burst }
    };
    let (algorithm, second) = match spec.algorithm {
        MeterAlgorithm::Rfc2697 => (Algorithm::SingleRate, rate(None, spec.excess_burst)),
        MeterAlgorithm::Rfc2698 => (Algorithm::TwoRate, rate(spec.peak_rate, spec.peak_burst)),
        MeterAlgorithm::Rfc4115 => (Algorithm::Excess, rate(spec.excess_rate, spec.excess_burst)),
    };
    Settings {
        algorithm,
        unit,
        committed: rate(Some(spec.committed_rate), Some(spec.committed_burst)),
        second,
        yellow: treatment(spec.yellow),
        red: treatment(spec.red),
        ticks,
    }
}

fn treatment(written: Written) -> Treatment {
    match written {
        Written::Pass => Treatment::Pass,
        Written::Drop => Treatment::Drop,
        Written::Remark(dscp) => Treatment::Remark(dscp.get()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bursts_of_bytes_become_bits_and_those_of_packets_stay() {
        let spec = |unit: &str| {
            serde_json::from_value(json!({
                "algorithm": "rfc2698", "unit": unit, "committed_rate": 1000,
                "committed_burst": 100, "peak_rate": 2000, "peak_burst": 200,
                "yellow": "remark:10",
            }))
            .unwrap()
        };
        let expected = |unit, factor: u64| Settings {
            algorithm: Algorithm::TwoRate,
            unit,
            committed: Rate { per_second: 1000, burst: 100 * factor },
            second: Rate { per_second: 2000, burst: 200 * factor },
            yellow: Treatment::Remark(10),
            red: Treatment::Drop,
            ticks: 7,
        };
        assert_eq!(meter(&spec("bits"), 7), expected(Unit::Bits, 8));
        assert_eq!(meter(&spec("packets"), 7), expected(Unit::Packets, 1));
    }
}
