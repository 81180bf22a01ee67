//! What the workers have counted, put together.

use std::collections::BTreeMap;

use api_model::{Name, RuleStats, Stats, Worker};
use dataplane::{
    PortId,
    classify::RuleId,
    worker::{PortCounters, Report, Tally},
};

use super::{Daemon, state::State, status};
use crate::plane::Stalled;

impl Daemon {
    /// Each port's counters, of all workers together.
    pub(super) fn port_counters(&self) -> Result<Vec<(PortId, PortCounters)>, Stalled> {
        Ok(merge_ports(&self.plane.reports()?))
    }

    /// Each rule's counters, of all workers together.
    pub(super) fn rule_counters(&self) -> Result<Vec<(RuleId, Tally)>, Stalled> {
        Ok(merge_rules(&self.plane.reports()?))
    }

    /// The packets that all ports have received.
    pub(crate) fn received(&self) -> Result<u64, Stalled> {
        Ok(self.plane.reports()?.iter().map(|report| report.worker.rx_packets).sum())
    }

    /// How each worker does.
    pub(super) fn list_workers(&self) -> Result<Vec<Worker>, Stalled> {
        let reports = self.plane.reports()?;
        Ok(self.workers(&self.state(), &reports))
    }

    /// Everything: what workers count as it stood between two bursts, what devices and stages count
    /// themselves as it is now.
    pub(super) fn all_stats(&self) -> Result<Stats, Stalled> {
        let reports = self.plane.reports()?;
        let (ports, rules) = (merge_ports(&reports), merge_rules(&reports));
        let state = self.state();
        Ok(Stats {
            revision: state.revision,
            ports: port_stats(&state, &ports),
            stages: state
                .stages
                .iter()
                .map(|(name, entry)| (name.clone(), status::stage(entry)))
                .collect(),
            workers: self.workers(&state, &reports),
            rules: rule_stats(&state, &rules),
        })
    }

    fn workers(&self, state: &State, reports: &[Report]) -> Vec<Worker> {
        let cores = (0_u16..).zip(&self.cores.workers).zip(reports);
        cores.map(|((id, &core), report)| self.worker(state, id, core, report)).collect()
    }

    fn worker(&self, state: &State, id: u16, core: u32, report: &Report) -> Worker {
        let polled = state.ports.iter().filter(|(_, port)| port.worker == id);
        let work = &report.worker;
        let longest = u128::from(work.longest_iteration) * 1_000_000;
        let longest = longest / u128::from(self.eal.tsc_hz().max(1));
        Worker {
            id,
            core,
            numa_node: self.cores.node(core),
            ports: polled.map(|(name, _)| name.clone()).collect(),
            revision: report.revision,
            iterations: work.iterations,
            busy_iterations: work.busy_iterations,
            rx_packets: work.rx_packets,
            busy_cycles: work.busy_cycles,
            idle_cycles: work.idle_cycles,
            exact_hits: work.cache_hits,
            wildcard_hits: 0,
            misses: work.cache_misses,
            flows: 0,
            flow_limit: 0,
            masks: 0,
            flows_installed: 0,
            flows_evicted: 0,
            flows_expired: 0,
            flows_revised: 0,
            mask_limit_hits: 0,
            programs: work.programs,
            longest_iteration_us: u64::try_from(longest).unwrap_or(u64::MAX),
        }
    }
}

/// What a rule has counted, or nothing yet.
pub(super) fn tally_of(rule: RuleId, counted: &[(RuleId, Tally)]) -> Tally {
    counted.iter().find(|(id, _)| *id == rule).map_or_else(Tally::default, |(_, tally)| *tally)
}

fn merge_ports(reports: &[Report]) -> Vec<(PortId, PortCounters)> {
    let mut merged: BTreeMap<PortId, PortCounters> = BTreeMap::new();
    for (id, counters) in reports.iter().flat_map(|report| &report.ports) {
        merged.entry(*id).or_default().merge(counters);
    }
    merged.into_iter().collect()
}

fn merge_rules(reports: &[Report]) -> Vec<(RuleId, Tally)> {
    let mut merged: BTreeMap<RuleId, Tally> = BTreeMap::new();
    for (id, tally) in reports.iter().flat_map(|report| &report.rules) {
        merged.entry(*id).or_default().merge(*tally);
    }
    merged.into_iter().collect()
}

fn port_stats(
    state: &State,
    counted: &[(PortId, PortCounters)],
) -> BTreeMap<Name, api_model::PortCounters> {
    let find = |id| counted.iter().find(|(of, _)| *of == id).map(|(_, counters)| counters);
    let ports = state.ports.iter().filter_map(|(name, entry)| {
        let counters = status::port_counters(find(entry.id)?, entry.device_stats(), &state.reasons);
        Some((name.clone(), counters))
    });
    ports.collect()
}

fn rule_stats(state: &State, counted: &[(RuleId, Tally)]) -> Vec<RuleStats> {
    let rules = state.rules.iter().map(|((table, name), rule)| {
        let tally = tally_of(rule.id, counted);
        RuleStats { table: *table, name: name.clone(), packets: tally.packets, bytes: tally.bytes }
    });
    rules.collect()
}
