//! `weft completion`: what shells complete.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::{arguments, error::Error, session::Session};

/// Which script.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The shell
    shell: Shell,
}

impl Arguments {
    /// Prints the script.
    pub(crate) fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        let mut script = Vec::new();
        let mut command = arguments::Arguments::command();
        clap_complete::generate(self.shell, &mut command, "weft", &mut script);
        Ok(session.output.sink.write_all(&script)?)
    }
}
