//! The addresses that the action `normal` learns, and the links that groups watch.

use std::sync::{Arc, PoisonError};

use api_model::{MacAddress, MacEntry, MacTable as Resource, MacTableSpec, MacTableStatus, VlanId};
use dataplane::{PortId, flow::Seed, switching::MacTable};

use super::{Daemon, refusal::Answer, state::State};
use crate::plane::Change;

impl Daemon {
    pub(super) fn get_addresses(&self) -> Resource {
        let (state, now) = (self.state(), dpdk::tsc());
        let Some((spec, table)) = &state.addresses else {
            let (spec, status) = Default::default();
            return Resource { spec, status, entries: Vec::new() };
        };
        let entries = entries(&state, table, now, self.eal.tsc_hz());
        let counters = table.counters();
        let status = MacTableStatus {
            entries: entries.len(),
            learned: counters.learned,
            moved: counters.moved,
            evicted: counters.evicted,
        };
        Resource { spec: *spec, status, entries }
    }

    /// Has the workers begin another table.
    pub(super) fn set_addresses(&self, spec: MacTableSpec) -> Answer<Resource> {
        let _changing = self.changing();
        let known = self.state().addresses.as_ref().map(|(spec, _)| *spec);
        if known != Some(spec) {
            let age = u64::from(spec.age_s) * self.eal.tsc_hz();
            let table = Arc::new(MacTable::new(spec.limit as usize, age, Seed(dpdk::tsc())));
            self.publish(|_| vec![Change::Addresses(Some(Arc::clone(&table)))])?;
            self.state().addresses = Some((spec, table));
        }
        Ok(self.get_addresses())
    }

    pub(super) fn forget_addresses(&self) {
        if let Some((_, table)) = &self.state().addresses {
            table.clear();
        }
    }

    /// Forgets what was learned on a port that is gone.
    pub(super) fn forget_addresses_of(&self, port: PortId) {
        if let Some((_, table)) = &self.state().addresses {
            table.forget_port(port);
        }
    }

    /// Looks which ports are up.
    pub(super) fn look_at_links(&self) {
        let state = self.state();
        for entry in state.ports.values() {
            let device = entry.device.lock().unwrap_or_else(PoisonError::into_inner);
            let link = device.as_ref().and_then(|device| device.link().ok());
            state.links.set(entry.id, link.is_some_and(|link| link.up));
        }
    }
}

fn entries(state: &State, table: &MacTable, now: u64, ticks: u64) -> Vec<MacEntry> {
    let directory = state.directory();
    let mut stations = table.stations(now);
    stations.sort_unstable_by_key(|learned| learned.station);
    let entry = |learned: dataplane::switching::Learned| {
        let idle = u128::from(learned.idle) * 1000 / u128::from(ticks.max(1));
        Some(MacEntry {
            vlan: VlanId::new(learned.station.vlan)?,
            mac: MacAddress(learned.station.mac),
            port: directory.ports.get(&learned.port)?.clone(),
            idle_ms: u64::try_from(idle).unwrap_or(u64::MAX),
        })
    };
    stations.into_iter().filter_map(entry).collect()
}
