use std::{num::NonZeroU32, path::PathBuf, str::FromStr, time::Duration};

use clap::{Args, Parser, Subcommand};

use crate::{
    p2p::Goal,
    weftd::{Programs, Stage},
    workload::RuleSet,
};

/// Measures weftd as a process of its own.
#[derive(Debug, Parser)]
#[command(name = "weft-bench", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Packet rate of one worker from a port to a port: a capture is replayed from memory into
    /// nothing.
    ///
    /// Without --flows, --rules, --size, --stage and --churn, it measures what there are goals for and
    /// says which are met. With any of them, it measures their combinations.
    P2p(P2p),
}

#[derive(Debug, Args)]
pub(crate) struct P2p {
    /// Numbers of flows, or `new` for a stream in which every packet is of a new flow, beside a port
    /// with one established flow [default: 1]
    #[arg(long, value_delimiter = ',')]
    pub(crate) flows: Vec<FlowCount>,

    /// Rule sets [default: one]
    #[arg(long, value_delimiter = ',')]
    pub(crate) rules: Vec<RuleSet>,

    /// Rules of the sets wildcard, acl, fw and ipc
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u16).range(300..))]
    pub(crate) rule_count: u16,

    /// Bytes of a frame on the wire, check sequence included [default: 64]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u16).range(64..=1518))]
    pub(crate) size: Vec<u16>,

    /// What packets pass on their way [default: none]
    #[arg(long, value_delimiter = ',')]
    pub(crate) stage: Vec<Stage>,

    /// Changes of rules a second while it is measured, over the API
    #[arg(long, default_value_t = 0)]
    pub(crate) churn: u32,

    /// The goals to measure [default: all]
    #[arg(long, value_delimiter = ',',
        conflicts_with_all = ["flows", "rules", "size", "stage", "churn"])]
    pub(crate) goals: Vec<Goal>,

    /// Seconds of each measurement
    #[arg(long, default_value = "2", value_parser = seconds)]
    pub(crate) seconds: Duration,

    /// Measurements of each kind, taken in turns, of which the median counts
    #[arg(long, default_value = "3")]
    pub(crate) repeats: NonZeroU32,

    /// What rules and flows are drawn by
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,

    /// A folder with testpmd.sh and ovs.sh, to measure these in turns with weftd
    #[arg(long, value_name = "DIR")]
    pub(crate) peers: Option<PathBuf>,

    /// Measure without hugepages, which costs speed
    #[arg(long)]
    pub(crate) no_huge: bool,

    /// The daemon's program
    #[arg(long, default_value = "target/release/weftd", value_name = "FILE")]
    pub(crate) weftd: PathBuf,

    /// The folder that the modules were built into
    #[arg(long, default_value = "target/modules", value_name = "DIR")]
    pub(crate) modules: PathBuf,

    /// Where results go, one JSON object a line; what is there is replaced
    #[arg(long, default_value = "target/bench/p2p.jsonl", value_name = "FILE")]
    pub(crate) out: PathBuf,
}

impl P2p {
    /// Whether combinations are asked for, and not goals.
    pub(crate) fn is_sweep(&self) -> bool {
        let lists = self.flows.len() + self.rules.len() + self.size.len() + self.stage.len();
        lists > 0 || self.churn > 0
    }

    pub(crate) fn programs(&self) -> Programs {
        Programs { weftd: self.weftd.clone(), modules: self.modules.clone() }
    }
}

/// How many flows a capture has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlowCount {
    /// So many, over and over.
    Of(u32),
    /// Every packet is of another.
    New,
}

impl FromStr for FlowCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        /// Sources count up from 10.0.0.1, and all are in 10.0.0.0/8.
        const MOST: u32 = 4_000_000;
        if text == "new" {
            return Ok(Self::New);
        }
        let count = text.parse().ok().filter(|count| (1..=MOST).contains(count));
        let count = count.ok_or_else(|| format!("write a number from 1 to {MOST}, or new"))?;
        Ok(Self::Of(count))
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 =
        text.parse().map_err(|_| "write a number of seconds, such as 2".to_owned())?;
    let duration = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    if duration < Duration::from_millis(100) {
        return Err("less than 0.1 s says little about a rate".to_owned());
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(words: &[&str]) -> Result<P2p, clap::Error> {
        let Command::P2p(options) =
            Arguments::try_parse_from([&["weft-bench", "p2p"], words].concat())?.command;
        Ok(options)
    }

    #[test]
    fn the_description_holds_together() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn goals_are_measured_unless_something_else_is_asked_for() {
        assert!(!parse(&[]).unwrap().is_sweep());
        assert!(!parse(&["--goals", "one-rule,memory", "--repeats", "1"]).unwrap().is_sweep());
        let sweep = parse(&["--flows", "1,1000,new", "--rules", "one,per-flow"]).unwrap();
        assert!(sweep.is_sweep());
        assert_eq!(sweep.flows, [FlowCount::Of(1), FlowCount::Of(1_000), FlowCount::New]);
        assert!(parse(&["--churn", "1000"]).unwrap().is_sweep());
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        for words in [
            ["--flows", "0"],
            ["--flows", "many"],
            ["--size", "63"],
            ["--size", "1519"],
            ["--repeats", "0"],
            ["--seconds", "0.01"],
            ["--seconds", "-1"],
            ["--rules", "some"],
            ["--rule-count", "70000"],
        ] {
            assert!(parse(&words).is_err(), "{words:?}");
        }
        assert!(parse(&["--goals", "million", "--flows", "1"]).is_err());
    }
}
