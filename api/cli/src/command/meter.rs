//! `weft meter`: rates that packets are held to.

use api_model::{Meter, MeterSpec, Name};
use clap::Subcommand;

use super::named::{self, Kind};
use crate::{client::Payload, error::Error, grammar::steering, render, session::Session};

const METERS: Kind<Meter> = Kind { noun: "meter", lines: render::meters, whole: render::meter };

const GRAMMAR: &str = "\
Fields: algorithm (rfc2697, rfc2698, rfc4115), unit (bits, packets), committed_rate (a second),
committed_burst (bytes or packets); for rfc2698 peak_rate and peak_burst; for rfc4115 excess_rate;
for rfc2697 and rfc4115 excess_burst; yellow and red (pass, drop, remark:DSCP).

Example: weft meter set gold algorithm=rfc2697,committed_rate=8000000,committed_burst=15000,excess_burst=0";

/// What is done with meters.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create a meter, or replace the one of that name while packets flow
    #[command(after_help = GRAMMAR)]
    Set {
        /// What to call it
        name: Name,
        /// What it is to be
        #[arg(value_name = "FIELD=VALUE[,FIELD=VALUE]", value_parser = steering::meter)]
        spec: MeterSpec,
    },
    #[command(flatten)]
    Named(named::Command),
}

impl Command {
    /// Does it.
    pub(crate) async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        match self {
            Self::Set { name, spec } => METERS.put(session, &name, Payload::json(&spec)).await,
            Self::Named(command) => METERS.run(command, session).await,
        }
    }
}
