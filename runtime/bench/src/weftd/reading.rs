use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use serde::Deserialize;

use super::Client;
use crate::error::Error;

/// Counters, and when they were read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reading {
    at: Instant,
    ports: BTreeMap<String, PortCounters>,
    worker: Worker,
}

#[derive(Debug, Clone, Deserialize)]
struct Port {
    name: String,
    status: PortStatus,
}

#[derive(Debug, Clone, Deserialize)]
struct PortStatus {
    counters: PortCounters,
}

/// The fate of what came in by a port, and what left by it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
struct PortCounters {
    rx_packets: u64,
    tx_packets: u64,
    copied_packets: u64,
    forwarded_packets: u64,
    dropped_packets: u64,
    in_flight_packets: u64,
}

/// What the one worker counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
struct Worker {
    rx_packets: u64,
    busy_cycles: u64,
    misses: u64,
    flows: u64,
}

impl Reading {
    /// Asks for everything now. Counters of ports are of one moment.
    pub(crate) fn take(client: &mut Client) -> Result<Self, Error> {
        let workers: Vec<Worker> = client.get("/v1/workers")?;
        let before = Instant::now();
        let ports: Vec<Port> = client.get("/v1/ports")?;
        let at = before + before.elapsed() / 2;
        let ports = ports.into_iter().map(|port| (port.name, port.status.counters)).collect();
        Ok(Self { at, ports, worker: workers.first().copied().unwrap_or_default() })
    }

    /// The flows that the worker knows.
    pub(crate) fn flows(&self) -> u64 {
        self.worker.flows
    }
}

/// What happened between two readings.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Interval {
    pub(crate) from: Reading,
    pub(crate) to: Reading,
}

impl Interval {
    fn per_second(&self, count: u64) -> f64 {
        count as f64 / (self.to.at - self.from.at).max(Duration::from_nanos(1)).as_secs_f64()
    }

    fn grown(&self, port: &str, counter: fn(&PortCounters) -> u64) -> u64 {
        let read = |reading: &Reading| reading.ports.get(port).map_or(0, counter);
        read(&self.to).saturating_sub(read(&self.from))
    }

    /// Millions of packets a second that left by a port.
    pub(crate) fn sent_mpps(&self, port: &str) -> f64 {
        self.per_second(self.grown(port, |counters| counters.tx_packets)) / 1e6
    }

    /// Millions of packets a second that came in by a port and went out by another.
    pub(crate) fn forwarded_mpps(&self, port: &str) -> f64 {
        self.per_second(self.grown(port, |counters| counters.forwarded_packets)) / 1e6
    }

    /// Packets that came in by a port and were dropped.
    pub(crate) fn dropped(&self, port: &str) -> u64 {
        self.grown(port, |counters| counters.dropped_packets)
    }

    /// Millions of lookups a second that no cache could answer.
    pub(crate) fn misses_mpps(&self) -> f64 {
        let misses = self.to.worker.misses.saturating_sub(self.from.worker.misses);
        self.per_second(misses) / 1e6
    }

    /// Cycles that the worker was busy for, by packet.
    pub(crate) fn cycles_per_packet(&self) -> f64 {
        let cycles = self.to.worker.busy_cycles.saturating_sub(self.from.worker.busy_cycles);
        let packets = self.to.worker.rx_packets.saturating_sub(self.from.worker.rx_packets);
        cycles as f64 / packets.max(1) as f64
    }

    /// Packets that came in by a port, in all the time up to the end, and have no fate.
    pub(crate) fn lost(&self, port: &str) -> i64 {
        let counters = self.to.ports.get(port).copied().unwrap_or_default();
        let fates =
            [counters.forwarded_packets, counters.dropped_packets, counters.in_flight_packets];
        let came = i128::from(counters.rx_packets) + i128::from(counters.copied_packets);
        let lost = came - fates.map(i128::from).iter().sum::<i128>();
        i64::try_from(lost).expect("a port has not seen as many packets")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(at: Instant, rx: u64, dropped: u64) -> Reading {
        let counters = PortCounters {
            rx_packets: rx,
            forwarded_packets: rx - dropped - 4,
            dropped_packets: dropped,
            in_flight_packets: 3,
            ..PortCounters::default()
        };
        let worker = Worker { rx_packets: rx, busy_cycles: rx * 50, misses: rx / 2, flows: 1 };
        Reading { at, ports: BTreeMap::from([("in".to_owned(), counters)]), worker }
    }

    #[test]
    fn rates_are_by_the_time_between_the_readings() {
        let start = Instant::now();
        let from = reading(start, 1_000_000, 0);
        let to = reading(start + Duration::from_secs(2), 9_000_000, 1_000_000);
        let interval = Interval { from, to };
        assert_eq!(interval.forwarded_mpps("in"), 3.5);
        assert_eq!(interval.sent_mpps("in"), 0.0);
        assert_eq!(interval.dropped("in"), 1_000_000);
        assert_eq!(interval.misses_mpps(), 2.0);
        assert_eq!(interval.cycles_per_packet(), 50.0);
        assert_eq!(interval.lost("in"), 1);
    }
}
