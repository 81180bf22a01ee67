//! A control that is a few maps, and does as it is told by the names that it is given.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
};

use api_model::{
    CacheLevel, Code, Decision, ExplainRequest, ExplainStep, Explanation, Flow, FlowCursor,
    FlowQuery, FlowTable, Flows, Group, GroupSpec, GroupStatus, Invalid, Link, MacAddress,
    MacEntry, MacTable, MacTableSpec, MacTableStatus, Meter, MeterSpec, MeterStatus, Module, Name,
    Port, PortSpec, PortStatus, Readiness, Rule, RuleOperation, RuleQuery, RuleSpec, RuleStatus,
    RulesChanged, Stage, StageSpec, StageStatus, Stats, TableNumber, TableSpec, TableStatus,
    Version, Worker,
};
use api_server::{Control, ControlError, Kind, Put};

use crate::{
    gate::{Gate, Keeper},
    maps::{Answer, get, insert, remove},
};

#[derive(Default)]
pub(crate) struct Fake {
    failing: Vec<String>,
    gate: Option<Gate>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    ports: BTreeMap<Name, Port>,
    modules: BTreeMap<Name, (Module, Vec<u8>)>,
    stages: BTreeMap<Name, Stage>,
    meters: BTreeMap<Name, Meter>,
    groups: BTreeMap<Name, Group>,
    mac_table: MacTableSpec,
    tables: BTreeMap<TableNumber, TableSpec>,
    rules: BTreeMap<(TableNumber, Name), Rule>,
    flushed: bool,
}

impl State {
    fn table(&self, table: TableNumber) -> FlowTable {
        let spec = self.tables.get(&table).cloned().unwrap_or_default();
        let rules = self.rules.keys().filter(|(of, _)| *of == table).count();
        FlowTable { table, spec, status: TableStatus { rules, masks: rules.min(1) } }
    }
}

impl Fake {
    pub(crate) fn unready(why: &str) -> Self {
        Self { failing: vec![why.to_owned()], ..Self::default() }
    }

    pub(crate) fn gated() -> (Self, Keeper) {
        let (gate, keeper) = Gate::new();
        (Self { gate: Some(gate), ..Self::default() }, keeper)
    }
}

fn port_status() -> PortStatus {
    PortStatus {
        id: 0,
        driver: "net_null".into(),
        mac: MacAddress([2, 0, 0, 0, 0, 1]),
        numa_node: None,
        mtu: 1500,
        link: Link::Up,
        worker: 0,
        counters: api_model::PortCounters::default(),
    }
}

/// What a device is named for happens to it.
fn attach(device: &str) -> Answer<()> {
    let at_device = |reason: &str| Invalid::at(&["device"], reason);
    match device {
        "missing" => {
            let invalid = at_device("there is no device missing").hint("see dpdk-devbind --status");
            Err(ControlError::invalid(Code::DeviceNotFound, invalid))
        }
        "taken" => Err(ControlError::conflict(Code::DeviceInUse, "port lan has the device taken")),
        "stalled" => Err(ControlError::Unavailable {
            code: Code::WorkerStalled,
            detail: "worker 0 did not take up the change within 1s".into(),
        }),
        "one-too-many" => {
            Err(ControlError::LimitExceeded { detail: "there may be 32 ports".into() })
        }
        "broken" => Err(ControlError::Internal { detail: "EAL is gone".into() }),
        "panic" => panic!("as asked"),
        _ => Ok(()),
    }
}

impl Control for Fake {
    fn ports(&self) -> Answer<Vec<Port>> {
        Ok(self.state.lock().unwrap().ports.values().cloned().collect())
    }

    fn port(&self, name: &Name) -> Answer<Port> {
        if let Some(gate) = &self.gate {
            gate.wait();
        }
        get(&self.state.lock().unwrap().ports, Kind::Port, name)
    }

    fn put_port(&self, name: &Name, spec: PortSpec) -> Answer<Put<Port>> {
        attach(&spec.device)?;
        let port = Port { name: name.clone(), spec, status: port_status() };
        Ok(insert(&mut self.state.lock().unwrap().ports, name.clone(), port))
    }

    fn delete_port(&self, name: &Name) -> Answer<()> {
        remove(&mut self.state.lock().unwrap().ports, Kind::Port, name)
    }

    fn modules(&self) -> Answer<Vec<Module>> {
        let state = self.state.lock().unwrap();
        Ok(state.modules.values().map(|(module, _)| module.clone()).collect())
    }

    fn module(&self, name: &Name) -> Answer<Module> {
        get(&self.state.lock().unwrap().modules, Kind::Module, name).map(|(module, _)| module)
    }

    fn put_module(&self, name: Option<&Name>, wasm: &[u8]) -> Answer<Put<Module>> {
        if !wasm.starts_with(b"\0asm") {
            let invalid = Invalid::at(&[], "not WebAssembly: no magic number at byte 0");
            return Err(ControlError::invalid(Code::ModuleInvalid, invalid));
        }
        let own_name = "firewall@1.0.0".parse().unwrap();
        let name = name.unwrap_or(&own_name);
        let modules = &mut self.state.lock().unwrap().modules;
        if modules.get(name).is_some_and(|(_, bytes)| bytes != wasm) {
            let detail = format!("module {name} has other bytes");
            return Err(ControlError::Conflict {
                code: Code::ModuleExists,
                detail,
                hint: Some("give the new one another version".into()),
            });
        }
        let module = Module {
            name: name.clone(),
            digest: "sha256:00".into(),
            size_bytes: wasm.len() as u64,
            manifest: serde_json::from_str(r#"{"name": "firewall", "version": "1.0.0"}"#).unwrap(),
            used_by: vec![],
        };
        Ok(match insert(modules, name.clone(), (module, wasm.to_vec())) {
            Put::Created((module, _)) => Put::Created(module),
            Put::Replaced((module, _)) => Put::Replaced(module),
        })
    }

    fn delete_module(&self, name: &Name) -> Answer<()> {
        let state = &mut *self.state.lock().unwrap();
        if let Some((stage, _)) = state.stages.iter().find(|(_, stage)| stage.spec.module == *name)
        {
            let detail = format!("stage {stage} runs module {name}");
            return Err(ControlError::conflict(Code::ModuleInUse, detail));
        }
        remove(&mut state.modules, Kind::Module, name)
    }

    fn stages(&self) -> Answer<Vec<Stage>> {
        Ok(self.state.lock().unwrap().stages.values().cloned().collect())
    }

    fn stage(&self, name: &Name) -> Answer<Stage> {
        get(&self.state.lock().unwrap().stages, Kind::Stage, name)
    }

    fn put_stage(&self, name: &Name, spec: StageSpec) -> Answer<Put<Stage>> {
        let state = &mut *self.state.lock().unwrap();
        if !state.modules.contains_key(&spec.module) {
            let invalid = Invalid::at(&["module"], format!("there is no module {}", spec.module));
            return Err(ControlError::invalid(Code::ModuleNotFound, invalid));
        }
        let stage = Stage { name: name.clone(), spec, status: StageStatus::default() };
        Ok(insert(&mut state.stages, name.clone(), stage))
    }

    fn delete_stage(&self, name: &Name) -> Answer<()> {
        remove(&mut self.state.lock().unwrap().stages, Kind::Stage, name)
    }

    fn meters(&self) -> Answer<Vec<Meter>> {
        Ok(self.state.lock().unwrap().meters.values().cloned().collect())
    }

    fn meter(&self, name: &Name) -> Answer<Meter> {
        get(&self.state.lock().unwrap().meters, Kind::Meter, name)
    }

    fn put_meter(&self, name: &Name, spec: MeterSpec) -> Answer<Put<Meter>> {
        let meter = Meter { name: name.clone(), spec, status: MeterStatus::default() };
        Ok(insert(&mut self.state.lock().unwrap().meters, name.clone(), meter))
    }

    fn delete_meter(&self, name: &Name) -> Answer<()> {
        remove(&mut self.state.lock().unwrap().meters, Kind::Meter, name)
    }

    fn groups(&self) -> Answer<Vec<Group>> {
        Ok(self.state.lock().unwrap().groups.values().cloned().collect())
    }

    fn group(&self, name: &Name) -> Answer<Group> {
        get(&self.state.lock().unwrap().groups, Kind::Group, name)
    }

    fn put_group(&self, name: &Name, spec: GroupSpec) -> Answer<Put<Group>> {
        let group = Group { name: name.clone(), spec, status: GroupStatus::default() };
        Ok(insert(&mut self.state.lock().unwrap().groups, name.clone(), group))
    }

    fn delete_group(&self, name: &Name) -> Answer<()> {
        remove(&mut self.state.lock().unwrap().groups, Kind::Group, name)
    }

    fn mac_table(&self) -> Answer<MacTable> {
        let state = self.state.lock().unwrap();
        let known = MacEntry {
            vlan: api_model::VlanId::new(7).unwrap(),
            mac: MacAddress([2, 0, 0, 0, 0, 1]),
            port: "lan".parse().unwrap(),
            idle_ms: 1,
        };
        let entries = if state.flushed { Vec::new() } else { vec![known] };
        let status = MacTableStatus { entries: entries.len(), ..MacTableStatus::default() };
        Ok(MacTable { spec: state.mac_table, status, entries })
    }

    fn put_mac_table(&self, spec: MacTableSpec) -> Answer<MacTable> {
        self.state.lock().unwrap().mac_table = spec;
        self.mac_table()
    }

    fn clear_mac_table(&self) -> Answer<()> {
        self.state.lock().unwrap().flushed = true;
        Ok(())
    }

    fn tables(&self) -> Answer<Vec<FlowTable>> {
        let state = self.state.lock().unwrap();
        let with_rules = state.rules.keys().map(|(table, _)| *table);
        let tables: BTreeSet<_> = with_rules.chain(state.tables.keys().copied()).collect();
        Ok(tables.into_iter().map(|table| state.table(table)).collect())
    }

    fn table(&self, table: TableNumber) -> Answer<FlowTable> {
        Ok(self.state.lock().unwrap().table(table))
    }

    fn put_table(&self, table: TableNumber, spec: TableSpec) -> Answer<FlowTable> {
        let mut state = self.state.lock().unwrap();
        state.tables.insert(table, spec);
        Ok(state.table(table))
    }

    fn delete_table(&self, table: TableNumber) -> Answer<()> {
        self.state.lock().unwrap().tables.remove(&table);
        Ok(())
    }

    fn rules(&self, table: TableNumber, query: &RuleQuery) -> Answer<Vec<Rule>> {
        let state = self.state.lock().unwrap();
        let behind = |name: &Name| query.cursor.as_ref().is_none_or(|cursor| cursor < name);
        let rules = state.rules.iter().filter(|((of, name), _)| *of == table && behind(name));
        let rules = rules.map(|(_, rule)| rule.clone());
        Ok(rules.take(query.limit.unwrap_or(usize::MAX)).collect())
    }

    fn rule(&self, table: TableNumber, name: &Name) -> Answer<Rule> {
        let rule = self.state.lock().unwrap().rules.get(&(table, name.clone())).cloned();
        rule.ok_or_else(|| ControlError::not_found(Kind::Rule, name))
    }

    fn put_rule(&self, table: TableNumber, name: &Name, spec: RuleSpec) -> Answer<Put<Rule>> {
        let rule = Rule { name: name.clone(), spec, status: RuleStatus::default() };
        Ok(insert(&mut self.state.lock().unwrap().rules, (table, name.clone()), rule))
    }

    fn delete_rule(&self, table: TableNumber, name: &Name) -> Answer<()> {
        let gone = self.state.lock().unwrap().rules.remove(&(table, name.clone()));
        gone.map(drop).ok_or_else(|| ControlError::not_found(Kind::Rule, name))
    }

    fn change_rules(&self, operations: Vec<RuleOperation>) -> Answer<RulesChanged> {
        let state = &mut *self.state.lock().unwrap();
        let (mut rules, mut changed) = (state.rules.clone(), RulesChanged::default());
        for (index, operation) in operations.into_iter().enumerate() {
            let (table, name) = operation.rule();
            let old = rules.remove(&(table, name.clone()));
            match operation {
                RuleOperation::Put(new) => {
                    match old.map(|old| old.spec == new.spec) {
                        None => changed.created += 1,
                        Some(true) => changed.unchanged += 1,
                        Some(false) => changed.replaced += 1,
                    }
                    let status = RuleStatus::default();
                    let rule = Rule { name: new.name.clone(), spec: new.spec, status };
                    rules.insert((new.table, new.name), rule);
                }
                RuleOperation::Delete(_) if old.is_some() => changed.deleted += 1,
                RuleOperation::Delete(_) => {
                    let invalid = Invalid::at(&[], format!("there is no rule {name}"));
                    let invalid = operation.invalid(index, invalid);
                    return Err(ControlError::invalid(Code::RuleNotFound, invalid));
                }
            }
        }
        state.rules = rules;
        Ok(RulesChanged { revision: 8, ..changed })
    }

    fn flows(&self, query: FlowQuery) -> Answer<Flows> {
        if self.state.lock().unwrap().flushed {
            return Ok(Flows::default());
        }
        let flow = |worker| Flow {
            worker,
            r#match: [("ip_dst".to_owned(), "10.0.0.0/8".to_owned())].into_iter().collect(),
            start_table: TableNumber::default(),
            packets: 3,
            bytes: 180,
            age_ms: 1000,
            idle_ms: 7,
            cache: CacheLevel::Wildcard,
            rules: vec![],
            actions: vec![],
        };
        let first = query.cursor.map_or(0, |cursor| cursor.worker);
        let mut workers =
            (first..3).filter(|worker| query.worker.is_none_or(|only| only == *worker));
        let flows = workers.by_ref().take(query.limit).map(flow).collect();
        Ok(Flows { flows, next: workers.next().map(|worker| FlowCursor { worker, place: 0 }) })
    }

    fn flush_flows(&self) -> Answer<()> {
        self.state.lock().unwrap().flushed = true;
        Ok(())
    }

    fn explain(&self, request: ExplainRequest) -> Answer<Explanation> {
        if request.in_port.as_str() == "missing" {
            let invalid = Invalid::at(&["in_port"], "there is no port missing");
            return Err(ControlError::invalid(Code::ExplainInvalid, invalid));
        }
        let length = request.packet.as_bytes().len();
        Ok(Explanation {
            key: [("in_port".to_owned(), request.in_port.to_string())].into_iter().collect(),
            steps: vec![ExplainStep {
                table: request.table,
                rule: None,
                priority: None,
                actions: TableSpec::default().miss,
                looked_at: Default::default(),
            }],
            decision: Decision::Drop,
            text: format!("{length} bytes are dropped"),
        })
    }

    fn workers(&self) -> Answer<Vec<Worker>> {
        Ok(vec![])
    }

    fn stats(&self) -> Answer<Stats> {
        Ok(Stats {
            revision: 7,
            ports: BTreeMap::new(),
            stages: BTreeMap::new(),
            workers: vec![],
            rules: vec![],
        })
    }

    fn readiness(&self) -> Readiness {
        Readiness::new(self.failing.clone())
    }

    fn version(&self) -> Version {
        Version { version: "0.1.0".into(), module_abi: 1, dpdk: "DPDK 22.11".into() }
    }
}
