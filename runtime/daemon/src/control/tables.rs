use api_model::{Code, FlowTable, Table, TableNumber, TableSpec, TableStatus};
use api_server::ControlError;

use super::{Daemon, refusal::Answer};

impl Daemon {
    pub(super) fn all_tables(&self) -> Vec<FlowTable> {
        self.list_tables().into_iter().map(describe).collect()
    }

    pub(super) fn get_table(&self, table: TableNumber) -> FlowTable {
        let rules = self.state().rules.keys().filter(|(of, _)| *of == table).count();
        describe(Table { table, rules })
    }
}

fn describe(Table { table, rules }: Table) -> FlowTable {
    FlowTable { table, spec: TableSpec::default(), status: TableStatus { rules, masks: 0 } }
}

/// What the engine does not do.
pub(super) fn undone<T>(what: &str) -> Answer<T> {
    let detail = format!("this daemon does not {what}");
    Err(ControlError::Unavailable { code: Code::Unavailable, detail })
}
