//! `weft-bench`, which measures weftd as a process of its own, beside its peers.
//!
//! It knows the daemon by its configuration file and its API, and packets by what it writes into
//! captures; nothing here knows the engine.
#![forbid(unsafe_code)]

mod arguments;
mod capture;
mod dice;
mod error;
mod hugepages;
mod machine;
mod p2p;
mod peer;
mod spread;
mod weftd;
mod workload;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::Parser;

use crate::arguments::{Arguments, Command};

fn main() -> ExitCode {
    let Arguments { command: Command::P2p(options) } = Arguments::parse();
    match p2p::run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Where messages cannot be written either, the exit code alone has to tell.
            let _unheard = writeln!(io::stderr(), "weft-bench: {error}");
            ExitCode::FAILURE
        }
    }
}
