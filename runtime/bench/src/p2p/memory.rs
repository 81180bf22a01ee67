//! What a rule and a cached flow take of the daemon's memory. It counts what the kernel has given it,
//! so that everything is in: indices, names, what the allocator keeps.

use super::bench::Bench;
use crate::{
    error::Error,
    weftd::Setup,
    workload::{Flows, RuleSet, Workload},
};

/// How many rules, and flows, the memory is divided by.
pub(super) const COUNT: u32 = 100_000;

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Memory {
    pub(super) bytes_per_rule: f64,
    pub(super) bytes_per_flow: f64,
    /// The flows that the worker knew when it was measured.
    pub(super) flows: u64,
}

/// Three daemons: one flow and one rule; one flow and a rule for each of many; many flows and a rule
/// for each. Packet buffers are of hugepages, which do not count.
pub(super) fn measure(bench: &mut Bench<'_>) -> Result<Memory, Error> {
    let one = bench.workload(RuleSet::One, 1, Flows::Replayed(1));
    let many = bench.workload(RuleSet::PerFlow, 1, Flows::Replayed(COUNT));
    let first = Workload { rules: many.rules.clone(), headers: many.headers[..1].to_vec() };

    let (least, _) = resident(bench, &one)?;
    let (with_rules, _) = resident(bench, &first)?;
    let (with_flows, flows) = resident(bench, &many)?;
    let per =
        |more: u64, less: u64, count: u64| more.saturating_sub(less) as f64 / count.max(1) as f64;
    Ok(Memory {
        bytes_per_rule: per(with_rules, least, COUNT.into()),
        bytes_per_flow: per(with_flows, with_rules, flows),
        flows,
    })
}

/// The memory of a daemon that has run and was monitored for a while, and the flows that it knew.
fn resident(bench: &mut Bench<'_>, workload: &Workload) -> Result<(u64, u64), Error> {
    let input = bench.input("in", workload, 64)?;
    let setup: Setup = bench.setup(vec![input]);
    let mut daemon = bench.start(&setup)?;
    let interval = daemon.watch(bench.options.seconds)?;
    // What reading the file left behind is given back when the daemon is next busy.
    daemon.monitor()?;
    Ok((daemon.resident_bytes()?, interval.to.flows()))
}
