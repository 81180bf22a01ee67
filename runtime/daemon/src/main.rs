//! `weftd`, the Weft daemon: starts DPDK, the workers and the management API, and keeps them
//! together. It alone knows all of Weft's crates.
#![forbid(unsafe_code)]

mod arguments;
mod compile;
mod control;
mod cores;
mod describe;
mod load;
mod plane;
mod reasons;
mod serve;
mod start;

use std::process::ExitCode;

use anyhow::{Context, Result};
use api_model::Config;
use arguments::Arguments;
use clap::Parser;
use cores::Cores;
use serve::Api;

/// The system's allocator keeps what a large change of rules leaves behind.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The argument by which the daemon has itself compile a module, in a process of its own.
pub(crate) const COMPILE: &str = "compile-module";

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|word| word == COMPILE) {
        return wasm::serve_compiler(
            words.next().and_then(|word| word.into_string().ok()).as_deref(),
        );
    }
    let arguments = Arguments::parse();
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("WEFT_LOG")
                .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info")),
        )
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .init();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let config = read_config(arguments)?;
    if arguments.check {
        tracing::info!("the configuration file is valid");
        return Ok(());
    }
    let cores = Cores::read(config.workers.cores.as_deref())?;
    cores.enter_control()?;
    // Before the devices, so that a second daemon on this socket ends before it takes one.
    let api = Api::open(&config.api)?;
    let daemon = start::daemon(&config, cores)?;
    let served = load::apply(&daemon, config, arguments.config.as_deref())
        .map(|()| api.serve(&daemon, arguments.exit_when_idle));
    start::stop(daemon);
    served
}

fn read_config(arguments: &Arguments) -> Result<Config> {
    let mut config = match &arguments.config {
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            Config::from_toml(&text).with_context(|| format!("{} is refused", path.display()))?
        }
        None => Config::default(),
    };
    if let Some(socket) = &arguments.socket {
        config.api.socket.clone_from(socket);
    }
    Ok(config)
}
