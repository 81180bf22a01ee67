use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use api_model::{Action, Code, Link, MacAddress, Name, Port as Resource, PortSpec, PortStatus};
use api_server::{ControlError, Kind, Put};
use dataplane::{
    PortId,
    classify::{Pattern, Rule},
    program,
    worker::PortCounters,
};
use dpdk::{Port, PortConfig, RxQueue, TxQueue};

use super::{
    Daemon,
    refusal::{self, Answer},
    state::{PortEntry, State},
    status,
};
use crate::plane::{Change, Queues};

impl Daemon {
    pub(super) fn list_ports(&self) -> Answer<Vec<Resource>> {
        let counted = self.port_counters().map_err(refusal::stalled)?;
        let state = self.state();
        let ports = state.ports.iter();
        ports.map(|(name, entry)| describe(&state, name, entry, &counted)).collect()
    }

    pub(super) fn get_port(&self, name: &Name) -> Answer<Resource> {
        let counted = self.port_counters().map_err(refusal::stalled)?;
        let state = self.state();
        let entry = state.ports.get(name).ok_or_else(|| missing(name))?;
        describe(&state, name, entry, &counted)
    }

    /// Attaches a device and has the workers poll it.
    pub(super) fn bind_port(&self, name: &Name, spec: PortSpec) -> Answer<Put<Resource>> {
        let _changing = self.changing();
        let known = self.state().ports.get(name).map(|entry| entry.spec.clone());
        match known {
            Some(known) if known == spec => return Ok(Put::Replaced(self.get_port(name)?)),
            Some(known) => return Err(bound(name, &known)),
            None => {}
        }
        let attached = self.attach(name, spec)?;
        if let Err(stalled) = self.poll(vec![attached]) {
            self.forget_port(name);
            return Err(stalled);
        }
        self.look_at_links();
        Ok(Put::Created(self.get_port(name)?))
    }

    /// Attaches the first ports, which nobody polls until the rules are there.
    pub(crate) fn attach_first(
        &self,
        ports: &BTreeMap<Name, PortSpec>,
    ) -> Result<Vec<Attached>, (Name, ControlError)> {
        let _changing = self.changing();
        let attach = |(name, spec): (&Name, &PortSpec)| {
            self.attach(name, spec.clone()).map_err(|refused| (name.clone(), refused))
        };
        ports.iter().map(attach).collect()
    }

    /// Has the workers poll the first ports.
    pub(crate) fn poll_first(&self, attached: Vec<Attached>) -> Answer<()> {
        let _changing = self.changing();
        self.look_at_links();
        self.poll(attached)
    }

    /// Attaches a device, and writes the port down so that rules can name it.
    fn attach(&self, name: &Name, spec: PortSpec) -> Answer<Attached> {
        let mut device = Port::attach(&self.eal, &spec.device).map_err(refusal::device)?;
        let workers = u16::try_from(self.plane.len()).expect("there are few workers");
        let config =
            PortConfig { tx_queues: workers, mtu: spec.mtu, ..PortConfig::new(&self.pool) };
        let queues = match device.start(&config) {
            Ok(queues) => queues,
            Err(refused) => {
                log_failure(name, device.detach());
                return Err(refusal::device(refused));
            }
        };
        tracing::info!(port = %name, device = spec.device, "attached");
        let device = Arc::new(Mutex::new(Some(device)));
        let mut state = self.state();
        let id = state.ids.port().ok_or_else(|| refusal::used_up(Kind::Port))?;
        let worker = least_loaded(&state, self.plane.len());
        state.ports.insert(name.clone(), PortEntry { spec, id, worker, device });
        Ok(Attached { id, worker, queues })
    }

    /// Gives every worker a transmit queue of each port, and one of them the receive queue.
    fn poll(&self, attached: Vec<Attached>) -> Answer<()> {
        let mut attached: Vec<_> = attached.into_iter().map(Attached::into_parts).collect();
        self.publish(|place| {
            let changes = attached.iter_mut().map(|(id, worker, rx, tx)| {
                let tx = tx.next().expect("there is a transmit queue for each worker");
                let rx = if place == usize::from(*worker) { rx.take() } else { None };
                Change::Port(*id, Some(Queues { rx, tx }))
            });
            changes.collect()
        })
    }

    /// Forgets a port that nobody polls.
    fn forget_port(&self, name: &Name) {
        let entry = self.state().ports.remove(name);
        if let Some(entry) = entry {
            log_failure(name, detach(&entry.device));
        }
    }

    pub(super) fn remove_port(&self, name: &Name) -> Answer<()> {
        let _changing = self.changing();
        let (id, device) = {
            let state = self.state();
            let entry = state.ports.get(name).ok_or_else(|| missing(name))?;
            let sends = |action: &Action| action.port() == Some(name);
            let mut users = state.users_that(|rule| uses(rule, entry.id), sends);
            users.extend(state.groups_with(name));
            if !users.is_empty() {
                return Err(refusal::in_use(Code::PortInUse, Kind::Port, name, &users));
            }
            (entry.id, Arc::clone(&entry.device))
        };
        self.publish(|_| vec![Change::Port(id, None)])?;
        self.state().ports.remove(name);
        self.state().links.set(id, false);
        self.forget_addresses_of(id);
        log_failure(name, detach(&device));
        tracing::info!(port = %name, "detached");
        Ok(())
    }
}

/// A port that is attached and not polled yet.
pub(crate) struct Attached {
    id: PortId,
    worker: u16,
    queues: dpdk::Queues,
}

/// A port's number, the worker that polls it, its receive queue and its transmit queues.
type Parts = (PortId, u16, Option<RxQueue>, std::vec::IntoIter<TxQueue>);

impl Attached {
    fn into_parts(self) -> Parts {
        (self.id, self.worker, self.queues.rx.into_iter().next(), self.queues.tx.into_iter())
    }
}

/// Gives a device back, if that was not done yet.
pub(super) fn detach(device: &Mutex<Option<Port>>) -> dpdk::Result<()> {
    let device = device.lock().unwrap_or_else(PoisonError::into_inner).take();
    device.map_or(Ok(()), Port::detach)
}

/// Writes down that a device was not given back cleanly.
pub(super) fn log_failure(name: &Name, detached: dpdk::Result<()>) {
    if let Err(error) = detached {
        tracing::error!(port = %name, "{error}");
    }
}

/// Whether a rule is about packets that come by a port, or sends some there.
fn uses(rule: &Rule, port: PortId) -> bool {
    let comes =
        |pattern: &Pattern| pattern.mask().in_port == u16::MAX && pattern.value().in_port == port.0;
    let sends = |action: &program::Action| action.port() == Some(port);
    rule.patterns.iter().any(comes) || rule.actions.iter().any(sends)
}

fn missing(name: &Name) -> ControlError {
    ControlError::not_found(Kind::Port, name)
}

fn bound(name: &Name, spec: &PortSpec) -> ControlError {
    refusal::conflict(
        Code::PortInUse,
        format!("port {name} is there with another specification: {}", spec.device),
        "delete the port first, or choose another name",
    )
}

/// The worker that polls the fewest ports.
fn least_loaded(state: &State, workers: usize) -> u16 {
    let polled = |worker: u16| state.ports.values().filter(|port| port.worker == worker).count();
    (0..u16::try_from(workers).expect("there are few workers"))
        .min_by_key(|&it| polled(it))
        .unwrap_or(0)
}

fn describe(
    state: &State,
    name: &Name,
    entry: &PortEntry,
    counted: &[(PortId, PortCounters)],
) -> Answer<Resource> {
    let device = entry.device.lock().unwrap_or_else(PoisonError::into_inner);
    let device = device.as_ref().ok_or_else(|| missing(name))?;
    let info = device.info().map_err(refusal::device)?;
    let counters = counted.iter().find(|(id, _)| *id == entry.id);
    let counters = counters.map_or_else(PortCounters::default, |(_, counters)| counters.clone());
    Ok(Resource {
        name: name.clone(),
        spec: entry.spec.clone(),
        status: PortStatus {
            id: entry.id.0,
            driver: info.driver,
            mac: MacAddress(info.mac),
            numa_node: info.numa_node,
            mtu: info.mtu,
            link: if device.link().map_err(refusal::device)?.up { Link::Up } else { Link::Down },
            worker: entry.worker,
            counters: status::port_counters(&counters, device.stats().ok(), &state.reasons),
        },
    })
}
