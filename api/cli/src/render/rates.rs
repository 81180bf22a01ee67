use std::time::Duration;

use api_model::{PortCounters, Stats};

use super::table::Table;

/// What moved by each port between two readings, a second. Ports that are not in both are left out.
pub(crate) fn rates(before: &Stats, after: &Stats, elapsed: Duration) -> String {
    let headings = ["PORT", "RX PACKETS/S", "RX BIT/S", "TX PACKETS/S", "TX BIT/S", "DROPS/S"];
    let both =
        after.ports.iter().filter_map(|(name, after)| Some((name, before.ports.get(name)?, after)));
    let table = Table::new(headings).rows(both, |(name, before, after)| {
        let rate = |count: fn(&PortCounters) -> u64, times: u32| {
            per_second(count(after).saturating_sub(count(before)), times, elapsed)
        };
        [
            name.into(),
            rate(|port| port.rx_packets, 1).into(),
            rate(|port| port.rx_bytes, 8).into(),
            rate(|port| port.tx_packets, 1).into(),
            rate(|port| port.tx_bytes, 8).into(),
            rate(|port| port.dropped_packets, 1).into(),
        ]
    });
    table.render()
}

/// `times` a count, a second; the largest number if it is more than that.
fn per_second(count: u64, times: u32, elapsed: Duration) -> u64 {
    let nanoseconds = elapsed.as_nanos().max(1);
    let rate = u128::from(count) * u128::from(times) * 1_000_000_000 / nanoseconds;
    u64::try_from(rate).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stats(ports: &[(&str, u64)]) -> Stats {
        let port = |count: u64| PortCounters {
            rx_packets: count,
            rx_bytes: count * 100,
            tx_packets: count * 2,
            tx_bytes: count * 200,
            dropped_packets: count / 10,
            ..PortCounters::default()
        };
        let mut stats: Stats = serde_json::from_value(json!({
            "revision": 1, "ports": {}, "stages": {}, "workers": [], "rules": [],
        }))
        .unwrap();
        stats.ports =
            ports.iter().map(|(name, count)| (name.parse().unwrap(), port(*count))).collect();
        stats
    }

    #[test]
    fn rates_are_of_the_time_between_and_of_ports_that_stayed() {
        let before = stats(&[("gone", 5), ("lan", 1000), ("replaced", 50)]);
        let after = stats(&[("lan", 2000), ("new", 7), ("replaced", 20)]);
        assert_eq!(
            rates(&before, &after, Duration::from_millis(500)),
            "PORT      RX PACKETS/S  RX BIT/S  TX PACKETS/S  TX BIT/S  DROPS/S\n\
             lan               2000   1600000          4000   3200000      200\n\
             replaced             0         0             0         0        0"
        );
    }

    #[test]
    fn no_time_and_no_limit_end_in_a_number() {
        assert_eq!(per_second(u64::MAX, 8, Duration::ZERO), u64::MAX);
        assert_eq!(per_second(3, 1, Duration::from_secs(2)), 1);
    }
}
