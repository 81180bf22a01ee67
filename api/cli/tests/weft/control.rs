//! A control that keeps stages and refuses the rest.

use std::{collections::BTreeMap, sync::Mutex};

use api_model::{
    Code, ExplainRequest, Explanation, FlowQuery, FlowTable, Flows, Group, GroupSpec, Invalid,
    MacTable, MacTableSpec, MacTableStatus, Meter, MeterSpec, Module, Name, Port, PortSpec,
    Readiness, Rule, RuleOperation, RuleQuery, RuleSpec, RulesChanged, Stage, StageSpec,
    StageStatus, Stats, TableNumber, TableSpec, Version, Worker,
};
use api_server::{Control, ControlError, Kind, Put};

/// Stages in a map.
#[derive(Default)]
pub(crate) struct Stages(Mutex<BTreeMap<Name, Stage>>);

type Answer<T> = Result<T, ControlError>;

fn nothing() -> ControlError {
    ControlError::Internal { detail: "there is nothing of that here".into() }
}

impl Control for Stages {
    fn ports(&self) -> Answer<Vec<Port>> {
        Ok(vec![])
    }

    fn port(&self, name: &Name) -> Answer<Port> {
        Err(ControlError::not_found(Kind::Port, name))
    }

    fn put_port(&self, _name: &Name, spec: PortSpec) -> Answer<Put<Port>> {
        let invalid = Invalid::at(&["device"], format!("no driver takes {}", spec.device));
        Err(ControlError::invalid(Code::DeviceNotFound, invalid.hint("look at its spelling")))
    }

    fn delete_port(&self, name: &Name) -> Answer<()> {
        let detail = format!("a rule sends packets to port {name}");
        Err(ControlError::conflict(Code::PortInUse, detail))
    }

    fn modules(&self) -> Answer<Vec<Module>> {
        Ok(vec![])
    }

    fn module(&self, name: &Name) -> Answer<Module> {
        Err(ControlError::not_found(Kind::Module, name))
    }

    fn put_module(&self, _name: Option<&Name>, wasm: &[u8]) -> Answer<Put<Module>> {
        let invalid = Invalid::at(&[], format!("{} bytes are no module", wasm.len()));
        Err(ControlError::invalid(Code::ModuleInvalid, invalid))
    }

    fn delete_module(&self, name: &Name) -> Answer<()> {
        Err(ControlError::not_found(Kind::Module, name))
    }

    fn stages(&self) -> Answer<Vec<Stage>> {
        Ok(self.0.lock().unwrap().values().cloned().collect())
    }

    fn stage(&self, name: &Name) -> Answer<Stage> {
        let stages = self.0.lock().unwrap();
        stages.get(name).cloned().ok_or_else(|| ControlError::not_found(Kind::Stage, name))
    }

    fn put_stage(&self, name: &Name, spec: StageSpec) -> Answer<Put<Stage>> {
        let mut stages = self.0.lock().unwrap();
        let generation = stages.get(name).map_or(1, |stage| stage.status.generation + 1);
        let status = StageStatus { generation, ..StageStatus::default() };
        let stage = Stage { name: name.clone(), spec, status };
        Ok(match stages.insert(name.clone(), stage.clone()) {
            None => Put::Created(stage),
            Some(_) => Put::Replaced(stage),
        })
    }

    fn delete_stage(&self, name: &Name) -> Answer<()> {
        let gone = self.0.lock().unwrap().remove(name);
        gone.map(drop).ok_or_else(|| ControlError::not_found(Kind::Stage, name))
    }

    fn tables(&self) -> Answer<Vec<FlowTable>> {
        Ok(vec![])
    }

    fn table(&self, _table: TableNumber) -> Answer<FlowTable> {
        Err(nothing())
    }

    fn put_table(&self, _table: TableNumber, _spec: TableSpec) -> Answer<FlowTable> {
        Err(nothing())
    }

    fn delete_table(&self, _table: TableNumber) -> Answer<()> {
        Err(nothing())
    }

    fn rules(&self, _table: TableNumber, _query: &RuleQuery) -> Answer<Vec<Rule>> {
        Ok(vec![])
    }

    fn meters(&self) -> Answer<Vec<Meter>> {
        Ok(vec![])
    }

    fn meter(&self, name: &Name) -> Answer<Meter> {
        Err(ControlError::not_found(Kind::Meter, name))
    }

    fn put_meter(&self, name: &Name, spec: MeterSpec) -> Answer<Put<Meter>> {
        Ok(Put::Created(Meter { name: name.clone(), spec, status: Default::default() }))
    }

    fn delete_meter(&self, name: &Name) -> Answer<()> {
        Err(ControlError::not_found(Kind::Meter, name))
    }

    fn groups(&self) -> Answer<Vec<Group>> {
        Ok(vec![])
    }

    fn group(&self, name: &Name) -> Answer<Group> {
        Err(ControlError::not_found(Kind::Group, name))
    }

    fn put_group(&self, name: &Name, spec: GroupSpec) -> Answer<Put<Group>> {
        Ok(Put::Created(Group { name: name.clone(), spec, status: Default::default() }))
    }

    fn delete_group(&self, name: &Name) -> Answer<()> {
        Err(ControlError::not_found(Kind::Group, name))
    }

    fn mac_table(&self) -> Answer<MacTable> {
        let (spec, status) = (MacTableSpec::default(), MacTableStatus::default());
        Ok(MacTable { spec, status, entries: vec![] })
    }

    fn put_mac_table(&self, spec: MacTableSpec) -> Answer<MacTable> {
        Ok(MacTable { spec, ..self.mac_table()? })
    }

    fn clear_mac_table(&self) -> Answer<()> {
        Ok(())
    }

    fn rule(&self, _table: TableNumber, name: &Name) -> Answer<Rule> {
        Err(ControlError::not_found(Kind::Rule, name))
    }

    fn put_rule(&self, _table: TableNumber, name: &Name, _spec: RuleSpec) -> Answer<Put<Rule>> {
        Err(ControlError::not_found(Kind::Rule, name))
    }

    fn delete_rule(&self, _table: TableNumber, name: &Name) -> Answer<()> {
        Err(ControlError::not_found(Kind::Rule, name))
    }

    fn change_rules(&self, operations: Vec<RuleOperation>) -> Answer<RulesChanged> {
        let refuse = |(index, operation): (usize, &RuleOperation)| match operation {
            RuleOperation::Put(rule) if rule.spec.r#match.in_port.is_some() => {
                let invalid = Invalid::at(&["match", "in_port"], "there are no ports");
                let invalid = operation.invalid(index, invalid.hint("add the port first"));
                Err(ControlError::invalid(Code::RuleInvalid, invalid))
            }
            _ => Ok(()),
        };
        operations.iter().enumerate().try_for_each(refuse)?;
        Ok(RulesChanged { revision: 2, created: operations.len(), ..RulesChanged::default() })
    }

    fn flows(&self, _query: FlowQuery) -> Answer<Flows> {
        Ok(Flows::default())
    }

    fn flush_flows(&self) -> Answer<()> {
        Ok(())
    }

    fn explain(&self, _request: ExplainRequest) -> Answer<Explanation> {
        Err(nothing())
    }

    fn workers(&self) -> Answer<Vec<Worker>> {
        Ok(vec![])
    }

    fn stats(&self) -> Answer<Stats> {
        Err(nothing())
    }

    fn readiness(&self) -> Readiness {
        Readiness::new(vec!["there are no ports".into()])
    }

    fn version(&self) -> Version {
        Version { version: "0.9.0".into(), module_abi: 1, dpdk: "none".into() }
    }
}
