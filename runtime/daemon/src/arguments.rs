use std::path::PathBuf;

use clap::Parser;

/// The Weft daemon: forwards packets by rules, and through WebAssembly modules.
#[derive(Debug, Parser)]
#[command(name = "weftd", version)]
pub(crate) struct Arguments {
    /// The configuration file (TOML). Without one, the daemon starts empty and is told everything
    /// over its API.
    #[arg(long, short)]
    pub(crate) config: Option<PathBuf>,

    /// The API's Unix socket; wins over the configuration file.
    #[arg(long)]
    pub(crate) socket: Option<PathBuf>,

    /// Reads and checks the configuration file, and starts nothing.
    #[arg(long, requires = "config")]
    pub(crate) check: bool,

    /// Ends when no port has received a packet for this many seconds, as for captures that are
    /// replayed once.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) exit_when_idle: Option<std::time::Duration>,
}

fn seconds(text: &str) -> Result<std::time::Duration, String> {
    let seconds: f64 =
        text.parse().map_err(|_| "write a number of seconds, such as 2".to_owned())?;
    std::time::Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}
