//! A stream in which every packet is of a new flow, alone and beside a flow that is known.

use super::bench::Bench;
use crate::{
    error::Error,
    workload::{Flows, RuleSet},
};

/// So many flows that none comes back while a cache of the default size knows it.
pub(super) const FLOWS: u32 = 2_000_000;
/// The wildcard rules that new flows are looked up in.
pub(super) const RULES: u16 = 1_000;
const NEW: &str = "new";
const ESTABLISHED: &str = "established";

/// What was measured once, in millions of packets a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Misses {
    /// New flows, with the worker to themselves.
    pub(super) new_alone: f64,
    /// Lookups in the tables meanwhile: new flows that no wildcard entry was there for.
    pub(super) lookups_alone: f64,
    /// New flows, while the established one sends as fast as it is served.
    pub(super) new_beside: f64,
    /// The established one, under all rules, while nothing else comes.
    pub(super) established_alone: f64,
    pub(super) established_beside: f64,
}

pub(super) fn measure(bench: &mut Bench<'_>) -> Result<Misses, Error> {
    let seconds = bench.options.seconds;
    let new = bench.workload(RuleSet::Wildcard, RULES, Flows::New(FLOWS));
    let new = bench.input(NEW, &new, 64)?;
    let established = bench.workload(RuleSet::One, 1, Flows::Replayed(1));
    let established = bench.input(ESTABLISHED, &established, 64)?;
    let capture = new.capture.clone();

    let watched = |bench: &mut Bench<'_>, inputs| {
        let setup = bench.setup(inputs);
        bench.start(&setup)?.watch(seconds)
    };
    let established_alone = watched(bench, vec![established.clone(), new.silenced()])?;
    let new_alone = watched(bench, vec![new.clone()])?;
    let both = watched(bench, vec![established, new])?;
    // The next round writes another, and these are large.
    std::fs::remove_file(&capture).map_err(Error::file("remove", capture))?;
    Ok(Misses {
        new_alone: new_alone.forwarded_mpps(NEW),
        lookups_alone: new_alone.misses_mpps(),
        new_beside: both.forwarded_mpps(NEW),
        established_alone: established_alone.forwarded_mpps(ESTABLISHED),
        established_beside: both.forwarded_mpps(ESTABLISHED),
    })
}
