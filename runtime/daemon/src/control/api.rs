use api_model::{
    Module, Name, Port, PortSpec, Readiness, Rule, RuleSpec, Stage, StageSpec, Stats, Table,
    TableNumber, Version, Worker,
};
use api_server::{Control, Put};

use super::{
    Daemon,
    refusal::{self, Answer},
};

impl Control for Daemon {
    fn ports(&self) -> Answer<Vec<Port>> {
        self.list_ports()
    }

    fn port(&self, name: &Name) -> Answer<Port> {
        self.get_port(name)
    }

    fn put_port(&self, name: &Name, spec: PortSpec) -> Answer<Put<Port>> {
        self.bind_port(name, spec)
    }

    fn delete_port(&self, name: &Name) -> Answer<()> {
        self.remove_port(name)
    }

    fn modules(&self) -> Answer<Vec<Module>> {
        Ok(self.list_modules())
    }

    fn module(&self, name: &Name) -> Answer<Module> {
        self.get_module(name)
    }

    fn put_module(&self, name: Option<&Name>, wasm: &[u8]) -> Answer<Put<Module>> {
        self.keep_module(name, wasm)
    }

    fn delete_module(&self, name: &Name) -> Answer<()> {
        self.remove_module(name)
    }

    fn stages(&self) -> Answer<Vec<Stage>> {
        Ok(self.list_stages())
    }

    fn stage(&self, name: &Name) -> Answer<Stage> {
        self.get_stage(name)
    }

    fn put_stage(&self, name: &Name, spec: StageSpec) -> Answer<Put<Stage>> {
        self.run_stage(name, spec)
    }

    fn delete_stage(&self, name: &Name) -> Answer<()> {
        self.remove_stage(name)
    }

    fn tables(&self) -> Answer<Vec<Table>> {
        Ok(self.list_tables())
    }

    fn rules(&self, table: TableNumber) -> Answer<Vec<Rule>> {
        self.list_rules(table)
    }

    fn rule(&self, table: TableNumber, name: &Name) -> Answer<Rule> {
        self.get_rule(table, name)
    }

    fn put_rule(&self, table: TableNumber, name: &Name, spec: RuleSpec) -> Answer<Put<Rule>> {
        self.add_rule(table, name, spec)
    }

    fn delete_rule(&self, table: TableNumber, name: &Name) -> Answer<()> {
        self.remove_rule(table, name)
    }

    fn workers(&self) -> Answer<Vec<Worker>> {
        self.list_workers().map_err(refusal::stalled)
    }

    fn stats(&self) -> Answer<Stats> {
        self.all_stats().map_err(refusal::stalled)
    }

    fn readiness(&self) -> Readiness {
        Readiness::new(self.received().err().iter().map(ToString::to_string).collect())
    }

    fn version(&self) -> Version {
        Version {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            module_abi: weft_abi::VERSION,
            dpdk: dpdk::version().to_owned(),
        }
    }
}
