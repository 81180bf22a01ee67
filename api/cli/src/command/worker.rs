//! `weft worker`: the threads that move packets.

use clap::Subcommand;

use crate::{error::Error, path::ApiPath, render, session::Session};

/// What is asked about workers.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List all workers with their cores, queues and load
    List,
}

impl Command {
    /// Does it.
    pub(crate) async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        match self {
            Self::List => session.list(ApiPath::v1(["workers"]), render::workers).await,
        }
    }
}
