//! `weft table`: what becomes of packets that no rule is about.

use api_model::{Action, FlowTable, Name, TableNumber, TableSpec};
use clap::Subcommand;

use crate::{
    client::Payload, error::Error, grammar::action, path::ApiPath, render, session::Session,
};

/// What is done with tables.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the tables that have rules or a miss of their own
    List,
    /// Show a table
    Show {
        /// The table
        table: TableNumber,
    },
    /// Say what is done with packets that none of a table's rules matches, and what classifies them
    Set {
        /// The table
        table: TableNumber,
        /// What is done, in this order; `weft rule add --help` shows what there is
        #[arg(long, value_name = "ACTION", value_parser = action::parse, default_value = "drop")]
        miss: Vec<Action>,
        /// The stage that says what packets are before the rules are asked
        #[arg(long, value_name = "STAGE")]
        classifier: Option<Name>,
    },
    /// Have a table drop packets that none of its rules matches, without a classifier, as at first
    Reset {
        /// The table
        table: TableNumber,
    },
}

impl Command {
    /// Does it.
    pub(crate) async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        match self {
            Self::List => session.list(ApiPath::v1(["tables"]), render::tables).await,
            Self::Show { table } => session.show(path(table), one).await,
            Self::Set { table, miss, classifier } => {
                let payload = Payload::json(&TableSpec { miss, classifier });
                let answer = session.client.put(&path(table), payload).await?;
                session.output.show(&answer, one)
            }
            Self::Reset { table } => {
                session.client.delete(&path(table)).await?;
                session.output.done(&format!("reset table {table}"))
            }
        }
    }
}

fn one(table: &FlowTable) -> String {
    render::tables(std::slice::from_ref(table))
}

/// The table's place in the API.
pub(super) fn path(table: TableNumber) -> ApiPath {
    ApiPath::v1(["tables", &table.to_string()])
}
