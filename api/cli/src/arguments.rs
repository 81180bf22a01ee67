use std::time::Duration;

use clap::Parser;

use crate::{
    command::Command,
    grammar::size,
    server::{self, Server},
};

const EVERYWHERE: &str = "Options of every command";

const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 in conflict with what is there,
5 no answer from the daemon.";

/// Manages a Weft daemon over its HTTP API.
#[derive(Debug, Parser)]
#[command(name = "weft", version, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    /// Where the daemon is: unix:/path/of/the/socket or http://127.0.0.1:9177
    #[arg(long, global = true, help_heading = EVERYWHERE, env = "WEFT_SERVER", default_value = server::DEFAULT)]
    pub(crate) server: Server,

    /// How long one request may take
    #[arg(long, global = true, help_heading = EVERYWHERE, value_name = "SECONDS", default_value = "60", value_parser = size::seconds)]
    pub(crate) timeout: Duration,

    /// Print the API's JSON in place of tables
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub(crate) json: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_grammar_does_not_contradict_itself() {
        Arguments::command().debug_assert();
    }
}
