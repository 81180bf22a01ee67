//! `weft group`: several ways to go on.

use api_model::{BucketSpec, Group, GroupKind, GroupSpec, Name};
use clap::{Subcommand, ValueEnum};

use super::named::{self, Kind};
use crate::{client::Payload, error::Error, grammar::steering, render, session::Session};

const GROUPS: Kind<Group> = Kind { noun: "group", lines: render::groups, whole: render::group };

const GRAMMAR: &str = "\
A bucket is its actions, with spaces between, behind weight:N (for select) and watch_port:PORT (for
select and fast_failover). Its actions change the packet, output it or drop it.

Example: weft group set uplinks select --bucket 'weight:2 watch_port:a output:a'
           --bucket 'watch_port:b output:b'";

/// What is done with groups.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create a group, or replace the one of that name while packets flow
    #[command(after_help = GRAMMAR)]
    Set {
        /// What to call it
        name: Name,
        /// Which buckets a packet takes
        kind: Which,
        /// A way to go on; the order matters for fast_failover
        #[arg(long = "bucket", value_parser = steering::bucket, required = true)]
        buckets: Vec<BucketSpec>,
    },
    #[command(flatten)]
    Named(named::Command),
}

/// Which buckets a packet takes.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Which {
    /// Each, with a copy
    All,
    /// One for each flow, by weight
    Select,
    /// The first whose port is up
    FastFailover,
}

impl From<Which> for GroupKind {
    fn from(which: Which) -> Self {
        match which {
            Which::All => Self::All,
            Which::Select => Self::Select,
            Which::FastFailover => Self::FastFailover,
        }
    }
}

impl Command {
    /// Does it.
    pub(crate) async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        match self {
            Self::Set { name, kind, buckets } => {
                let spec = GroupSpec { kind: kind.into(), buckets };
                GROUPS.put(session, &name, Payload::json(&spec)).await
            }
            Self::Named(command) => GROUPS.run(command, session).await,
        }
    }
}
