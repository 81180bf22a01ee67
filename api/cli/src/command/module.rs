//! `weft module`: uploaded WebAssembly.

use std::{fs, path::PathBuf};

use api_model::Name;
use clap::{Args, Subcommand};

use crate::{client::Payload, error::Error, path::ApiPath, render, session::Session};

/// What is done with modules.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Upload a module, to be run by stages
    Upload(Upload),
    /// List all modules
    List,
    /// Show a module with what it says of itself
    Show {
        /// The module
        name: Name,
    },
    /// Delete a module that no stage runs
    Delete {
        /// The module
        name: Name,
    },
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
            Self::List => session.list(ApiPath::v1(["modules"]), render::modules).await,
            Self::Show { name } => session.show(path(&name), render::module).await,
            Self::Delete { name } => session.delete(path(&name), &format!("module {name}")).await,
        }
    }
}

impl Upload {
    async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        let bytes = fs::read(&self.file)
            .map_err(|source| Error::File { path: self.file.clone(), source })?;
        let payload = Payload::Wasm(bytes);
        let answer = match &self.name {
            Some(name) => session.client.put(&path(name), payload).await?,
            None => session.client.post(&ApiPath::v1(["modules"]), payload).await?,
        };
        session.output.show(&answer, |module| render::modules(std::slice::from_ref(module)))
    }
}

fn path(name: &Name) -> ApiPath {
    ApiPath::v1(["modules", name.as_str()])
}
