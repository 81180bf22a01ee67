//! `weft stage`: modules with a configuration, in service.

use std::path::PathBuf;

use api_model::{Name, OnFault, Stage, StageSpec};
use clap::{Args, Subcommand, ValueEnum};
use hyper::{Method, StatusCode};
use serde_json::{Map, Value};

use super::named::{self, Kind};
use crate::{
    client::Payload,
    error::Error,
    grammar::{config, size},
    render,
    session::Session,
};

const STAGES: Kind<Stage> = Kind { noun: "stage", lines: render::stages, whole: render::stage };

/// What is done with stages.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create a stage, or swap its module, configuration or limits while packets flow
    ///
    /// What is not given stays as it is; a new stage takes the daemon's defaults.
    Set(Set),
    #[command(flatten)]
    Named(named::Command),
}

/// What a stage should be.
#[derive(Debug, Args)]
pub(crate) struct Set {
    /// What to call it
    name: Name,
    /// The module that it runs; needed for a new stage
    #[arg(long)]
    module: Option<Name>,
    /// What the module is given at its start: a JSON object, in place of what it had
    #[arg(long, value_name = "JSON", value_parser = config::json, conflicts_with = "config_file")]
    config: Option<Object>,
    /// A .json or .toml file that holds the same
    #[arg(long, value_name = "FILE")]
    config_file: Option<PathBuf>,
    /// What becomes of packets while it cannot decide
    #[arg(long, value_name = "POLICY")]
    on_fault: Option<Policy>,
    /// The most memory that an instance may have, such as 16M
    #[arg(long, value_name = "BYTES", value_parser = size::bytes)]
    memory_limit: Option<u64>,
    /// How long an instance may take for a batch of packets
    #[arg(long, value_name = "MICROSECONDS")]
    deadline_us: Option<u64>,
}

type Object = Map<String, Value>;

/// What becomes of packets that a stage cannot decide on.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Policy {
    /// They are dropped
    Drop,
    /// They go on as if the stage were not there
    Bypass,
}

impl From<Policy> for OnFault {
    fn from(policy: Policy) -> Self {
        match policy {
            Policy::Drop => Self::Drop,
            Policy::Bypass => Self::Bypass,
        }
    }
}

impl Command {
    /// Does it.
    pub(crate) async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        match self {
            Self::Set(set) => set.run(session).await,
            Self::Named(command) => STAGES.run(command, session).await,
        }
    }
}

impl Set {
    async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        let config = self.config_file.as_deref().map(config::file).transpose()?;
        let present = self.present(session).await?;
        let name = self.name.clone();
        let spec = self.over(present, config);
        STAGES.put(session, &name, Payload::json(&spec)).await
    }

    /// The stage as it is, or as a new one of the module begins.
    async fn present(&self, session: &Session<'_>) -> Result<StageSpec, Error> {
        let path = STAGES.path(&self.name);
        let answer = session.client.ask(Method::GET, &path, Payload::Empty).await?;
        match &self.module {
            Some(module) if answer.status == StatusCode::NOT_FOUND => {
                Ok(StageSpec::new(module.clone()))
            }
            None if answer.status == StatusCode::NOT_FOUND => Err(Error::Usage {
                message: format!("there is no stage {} yet, so it needs a module", self.name),
                hint: "add --module; `weft module list` shows what there is",
            }),
            _ => Ok(answer.accepted()?.parse::<Stage>()?.spec),
        }
    }

    /// What is given, and what was there for what is not.
    fn over(self, present: StageSpec, config_file: Option<Object>) -> StageSpec {
        StageSpec {
            module: self.module.unwrap_or(present.module),
            config: self.config.or(config_file).unwrap_or(present.config),
            on_fault: self.on_fault.map_or(present.on_fault, Into::into),
            memory_limit_bytes: self.memory_limit.unwrap_or(present.memory_limit_bytes),
            deadline_us: self.deadline_us.unwrap_or(present.deadline_us),
        }
    }
}
