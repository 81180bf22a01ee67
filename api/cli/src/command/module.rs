//! `weft module`: uploaded WebAssembly.

use std::{fs, path::PathBuf};

use api_model::{Module, Name};
use clap::{Args, Subcommand};

use super::named::{self, Kind};
use crate::{client::Payload, error::Error, render, session::Session};

const MODULES: Kind<Module> =
    Kind { noun: "module", lines: render::modules, whole: render::module };

/// What is done with modules.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Upload a module, to be run by stages
    Upload(Upload),
    #[command(flatten)]
    Named(named::Command),
}

/// A module to upload.
#[derive(Debug, Args)]
pub(crate) struct Upload {
    /// The WebAssembly file
    file: PathBuf,
    /// What to call it, in place of the name and version that it states, as in firewall@1.0.0
    #[arg(long)]
    name: Option<Name>,
}

impl Command {
    /// Does it.
    pub(crate) async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        match self {
            Self::Upload(upload) => upload.run(session).await,
            Self::Named(command) => MODULES.run(command, session).await,
        }
    }
}

impl Upload {
    async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        let bytes = fs::read(&self.file)
            .map_err(|source| Error::File { path: self.file.clone(), source })?;
        let payload = Payload::Wasm(bytes);
        match &self.name {
            Some(name) => MODULES.put(session, name, payload).await,
            None => {
                let answer = session.client.post(&MODULES.all(), payload).await?;
                MODULES.show_line(session, &answer)
            }
        }
    }
}
