//! The commands, a file for each noun.

mod completion;
mod explain;
mod flow;
mod group;
mod mac;
mod meter;
mod module;
mod named;
mod port;
mod raw;
mod rule;
mod stage;
mod stats;
mod status;
mod table;
mod version;
mod worker;

use clap::Subcommand;

use crate::{error::Error, session::Session};

/// What is to be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Ports: where packets enter and leave
    #[command(subcommand)]
    Port(port::Command),
    /// Modules: uploaded WebAssembly, immutable
    #[command(subcommand)]
    Module(module::Command),
    /// Stages: modules with a configuration, in service
    #[command(subcommand)]
    Stage(stage::Command),
    /// Meters: rates that packets are held to
    #[command(subcommand)]
    Meter(meter::Command),
    /// Groups: several ways to go on, of which packets take one or all
    #[command(subcommand)]
    Group(group::Command),
    /// Addresses that the action `normal` has learned
    #[command(subcommand)]
    Mac(mac::Command),
    /// Rules: which packets meet which actions
    #[command(subcommand)]
    Rule(rule::Command),
    /// Tables: what becomes of packets that no rule is about
    #[command(subcommand)]
    Table(table::Command),
    /// Flows: what the workers keep in their caches
    #[command(subcommand)]
    Flow(flow::Command),
    /// Show what would become of a packet, and why; nothing is sent or counted
    Explain(explain::Arguments),
    /// Workers: the threads that move packets
    #[command(subcommand)]
    Worker(worker::Command),
    /// Show what was counted: received, forwarded, dropped and why
    Stats(stats::Arguments),
    /// Show whether the daemon is alive and ready; fails if it is not
    Status,
    /// Show the release of weft and of the daemon
    Version,
    /// Print what the API answers to a GET, such as /openapi.json
    Get(raw::Arguments),
    /// Print the completion script of a shell
    Completion(completion::Arguments),
}

impl Command {
    /// Does it.
    pub(crate) async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        match self {
            Self::Port(command) => command.run(session).await,
            Self::Module(command) => command.run(session).await,
            Self::Stage(command) => command.run(session).await,
            Self::Meter(command) => command.run(session).await,
            Self::Group(command) => command.run(session).await,
            Self::Mac(command) => command.run(session).await,
            Self::Rule(command) => command.run(session).await,
            Self::Table(command) => command.run(session).await,
            Self::Flow(command) => command.run(session).await,
            Self::Explain(arguments) => arguments.run(session).await,
            Self::Worker(command) => command.run(session).await,
            Self::Stats(arguments) => arguments.run(session).await,
            Self::Status => status::run(session).await,
            Self::Version => version::run(session).await,
            Self::Get(arguments) => arguments.run(session).await,
            Self::Completion(arguments) => arguments.run(session),
        }
    }
}
