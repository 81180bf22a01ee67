//! What the workers have counted, put together.

use std::collections::BTreeMap;

use api_model::{Name, RuleStats, Stats, Worker};
use dataplane::{
    PortId,
    worker::{PortCounters, Report},
};

use super::{Daemon, state::State, status};
use crate::plane::Stalled;

impl Daemon {
    /// Each port's counters, of all workers together.
    pub(super) fn port_counters(&self) -> Result<Vec<(PortId, PortCounters)>, Stalled> {
        Ok(merge_ports(&self.plane.reports()?))
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
        let ports = merge_ports(&reports);
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
            rules: rule_stats(&state),
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
            exact_hits: work.lookups.exact_hits,
            wildcard_hits: work.lookups.wildcard_hits,
            misses: work.lookups.misses,
            flows: work.flows.flows,
            flow_limit: self.plane.flow_limit(),
            masks: work.flows.masks,
            flows_installed: work.flows.installed,
            flows_evicted: work.flows.evicted,
            flows_expired: work.flows.expired,
            flows_revised: work.flows.revised,
            mask_limit_hits: work.flows.mask_limit_hits,
            programs: work.programs,
            longest_iteration_us: u64::try_from(longest).unwrap_or(u64::MAX),
        }
    }
}

fn merge_ports(reports: &[Report]) -> Vec<(PortId, PortCounters)> {
    let mut merged: BTreeMap<PortId, PortCounters> = BTreeMap::new();
    for (id, counters) in reports.iter().flat_map(|report| &report.ports) {
        merged.entry(*id).or_default().merge(counters);
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

fn rule_stats(state: &State) -> Vec<RuleStats> {
    let rules = state.rules.iter().map(|((table, name), entry)| {
        let tally = entry.rule.counted.total();
        RuleStats { table: *table, name: name.clone(), packets: tally.packets, bytes: tally.bytes }
    });
    rules.collect()
}
