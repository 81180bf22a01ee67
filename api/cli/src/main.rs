//! `weft`, the command line of Weft: what the management API does, in words.
//!
//! Answers go to standard output, as tables or by `--json` as the API gave them; messages go to
//! standard error. It knows HTTP and the API's resources, and nothing of the engine.
#![forbid(unsafe_code)]

mod arguments;
mod body;
mod client;
mod command;
mod error;
mod grammar;
mod output;
mod path;
mod pcap;
mod render;
mod server;
mod session;

use std::{io, process::ExitCode};

use clap::Parser;

use crate::{arguments::Arguments, client::Client, error::Error, output::Output, session::Session};

fn main() -> ExitCode {
    match run(Arguments::parse(), &mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Where messages cannot be written either, the exit code alone has to tell.
            let _unheard = error.report(&mut io::stderr().lock());
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(arguments: Arguments, stdout: &mut io::StdoutLock<'_>) -> Result<(), Error> {
    let Arguments { server, timeout, json, command } = arguments;
    let client = Client { server, timeout };
    let mut session = Session { client, output: Output::new(stdout, json) };
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(command.run(&mut session))?;
    Ok(session.output.sink.flush()?)
}
