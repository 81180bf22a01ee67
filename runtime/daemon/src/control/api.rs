use api_model::{
    ExplainRequest, Explanation, FlowQuery, FlowTable, Flows, Group, GroupSpec, MacTable,
    MacTableSpec, Meter, MeterSpec, Module, Name, Port, PortSpec, Readiness, Rule, RuleOperation,
    RuleQuery, RuleSpec, RulesChanged, Stage, StageSpec, Stats, TableNumber, TableSpec, Version,
    Worker,
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

    fn meters(&self) -> Answer<Vec<Meter>> {
        Ok(self.list_meters())
    }

    fn meter(&self, name: &Name) -> Answer<Meter> {
        self.get_meter(name)
    }

    fn put_meter(&self, name: &Name, spec: MeterSpec) -> Answer<Put<Meter>> {
        self.set_meter(name, spec)
    }

    fn delete_meter(&self, name: &Name) -> Answer<()> {
        self.remove_meter(name)
    }

    fn groups(&self) -> Answer<Vec<Group>> {
        Ok(self.list_groups())
    }

    fn group(&self, name: &Name) -> Answer<Group> {
        self.get_group(name)
    }

    fn put_group(&self, name: &Name, spec: GroupSpec) -> Answer<Put<Group>> {
        self.set_group(name, spec)
    }

    fn delete_group(&self, name: &Name) -> Answer<()> {
        self.remove_group(name)
    }

    fn mac_table(&self) -> Answer<MacTable> {
        Ok(self.get_addresses())
    }

    fn put_mac_table(&self, spec: MacTableSpec) -> Answer<MacTable> {
        self.set_addresses(spec)
    }

    fn clear_mac_table(&self) -> Answer<()> {
        self.forget_addresses();
        Ok(())
    }

    fn delete_stage(&self, name: &Name) -> Answer<()> {
        self.remove_stage(name)
    }

    fn tables(&self) -> Answer<Vec<FlowTable>> {
        Ok(self.all_tables())
    }

    fn table(&self, table: TableNumber) -> Answer<FlowTable> {
        Ok(self.get_table(table))
    }

    fn put_table(&self, table: TableNumber, spec: TableSpec) -> Answer<FlowTable> {
        self.set_table(table, spec)
    }

    fn delete_table(&self, table: TableNumber) -> Answer<()> {
        self.set_table(table, TableSpec::default()).map(drop)
    }

    fn rules(&self, table: TableNumber, query: &RuleQuery) -> Answer<Vec<Rule>> {
        Ok(self.list_rules(table, query))
    }

    fn rule(&self, table: TableNumber, name: &Name) -> Answer<Rule> {
        self.get_rule(table, name)
    }

    fn put_rule(&self, table: TableNumber, name: &Name, spec: RuleSpec) -> Answer<Put<Rule>> {
        self.add_rule(table, name, &spec)
    }

    fn delete_rule(&self, table: TableNumber, name: &Name) -> Answer<()> {
        self.remove_rule(table, name)
    }

    fn change_rules(&self, operations: Vec<RuleOperation>) -> Answer<RulesChanged> {
        self.make_batch(&operations)
    }

    fn flows(&self, query: FlowQuery) -> Answer<Flows> {
        self.list_flows(query)
    }

    fn flush_flows(&self) -> Answer<()> {
        self.forget_flows()
    }

    fn explain(&self, request: ExplainRequest) -> Answer<Explanation> {
        self.explain_packet(&request)
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
