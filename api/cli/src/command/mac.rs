//! `weft mac`: what the action `normal` has learned.

use api_model::{MacTable, MacTableSpec};
use clap::Subcommand;

use crate::{
    client::Payload, error::Error, grammar::steering, path::ApiPath, render, session::Session,
};

/// What is done with learned addresses.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the addresses that are known, with the ports that they were seen on
    List,
    /// Say how long addresses are remembered, and how many; what was learned is forgotten
    Set {
        /// How, such as age_s=300,limit=8192
        #[arg(value_name = "FIELD=VALUE[,FIELD=VALUE]", value_parser = steering::mac_table)]
        spec: MacTableSpec,
    },
    /// Forget all addresses; they are learned again
    Flush,
}

impl Command {
    /// Does it.
    pub(crate) async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        let path = ApiPath::v1(["mac-table"]);
        match self {
            Self::List => session.show(path, |table: &MacTable| render::mac_table(table)).await,
            Self::Set { spec } => {
                let answer = session.client.put(&path, Payload::json(&spec)).await?;
                session.output.show(&answer, |table: &MacTable| render::mac_table(table))
            }
            Self::Flush => {
                session.client.delete(&path).await?;
                session.output.done("flushed the addresses")
            }
        }
    }
}
