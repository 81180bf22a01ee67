use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use tempfile::TempDir;

use super::{case::Case, churn::Churn, results::Sample};
use crate::{
    arguments::P2p,
    capture,
    error::Error,
    hugepages::Hugepages,
    machine::Machine,
    weftd::{Input, Interval, OUT, Setup, Weftd},
    workload::{Flows, RuleSet, Workload},
};

/// The port that a case's capture is replayed by.
const IN: &str = "in";
/// How long the daemon runs before it is measured: caches fill, clocks rise.
const WARM_UP: Duration = Duration::from_secs(1);
/// What the peers' scripts ask for, and something to spare.
const PEER_PAGES: u64 = 640;

/// Tells how far it is.
pub(super) fn say(progress: &str) {
    // Progress that nobody reads is no reason to stop.
    let _ = writeln!(io::stderr(), "weft-bench: {progress}");
}

/// What measurements share: files, hugepages and the daemon's whereabouts.
pub(super) struct Bench<'a> {
    pub(super) options: &'a P2p,
    folder: TempDir,
    hugepages: Option<Hugepages>,
    _machine: Machine,
    prepared: BTreeMap<Case, (Setup, Workload)>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(options: &'a P2p) -> Result<Self, Error> {
        let machine = Machine::acquire(|| say("waiting for another measurement, or a test"))?;
        let folder =
            tempfile::tempdir().map_err(Error::file("make a folder in", std::env::temp_dir()))?;
        let mut bench =
            Self { options, folder, hugepages: None, _machine: machine, prepared: BTreeMap::new() };
        // Before anything else, so that what is missing is told at once.
        bench.reserve(if options.peers.is_some() { PEER_PAGES } else { 1 })?;
        Ok(bench)
    }

    /// Sets so many hugepages aside, or none where none are used.
    fn reserve(&mut self, pages: u64) -> Result<(), Error> {
        if !self.options.no_huge {
            match &mut self.hugepages {
                Some(held) => held.raise(pages)?,
                None => self.hugepages = Some(Hugepages::reserve(pages)?),
            }
        }
        Ok(())
    }

    /// Writes a capture of these flows.
    pub(super) fn input(
        &self,
        name: &'static str,
        workload: &Workload,
        size: u16,
    ) -> Result<Input, Error> {
        let number = fs::read_dir(self.folder.path()).map_or(0, Iterator::count);
        let capture: PathBuf = self.folder.path().join(format!("{number}-{name}.pcap"));
        let frames = capture::write(&capture, &workload.headers, size.into())
            .map_err(Error::file("write", &capture))?;
        Ok(Input { name, capture, frames, rules: workload.rules.clone(), silent: false })
    }

    /// A daemon that has run for a while.
    pub(super) fn start(&mut self, setup: &Setup) -> Result<Weftd, Error> {
        self.reserve(setup.pages())?;
        let daemon = Weftd::start(&self.options.programs(), self.folder.path(), setup)?;
        thread::sleep(WARM_UP);
        Ok(daemon)
    }

    /// A daemon's setup for these inputs.
    pub(super) fn setup(&self, inputs: Vec<Input>) -> Setup {
        let hugepages = !self.options.no_huge;
        Setup { inputs, stage: crate::weftd::Stage::None, back: false, hugepages }
    }

    /// Measures a case once.
    pub(super) fn measure(&mut self, case: &Case) -> Result<Sample, Error> {
        let (setup, workload) = match self.prepared.remove(case) {
            Some(known) => known,
            None => self.prepare(case)?,
        };
        let mut daemon = self.start(&setup)?;
        let churn = Churn::new(&workload.headers, IN, case.churn);
        let (interval, changes) = self.watch(&mut daemon, churn, case.churn > 0)?;
        let sample = Sample {
            mpps: interval.sent_mpps(OUT),
            misses_mpps: interval.misses_mpps(),
            cycles_per_packet: interval.cycles_per_packet(),
            dropped: interval.dropped(IN),
            lost: interval.lost(IN),
            changes_per_second: changes,
            flows: workload.headers.len(),
            rules: workload.rules.len(),
        };
        self.prepared.insert(*case, (setup, workload));
        Ok(sample)
    }

    fn prepare(&self, case: &Case) -> Result<(Setup, Workload), Error> {
        let workload = case.workload(self.options.seed);
        let input = self.input(IN, &workload, case.size)?;
        let back = case.rules == RuleSet::Cross;
        Ok((Setup { stage: case.stage, back, ..self.setup(vec![input]) }, workload))
    }

    /// Watches a daemon, while rules change if they are to.
    fn watch(
        &self,
        daemon: &mut Weftd,
        churn: Churn<'_>,
        changing: bool,
    ) -> Result<(Interval, f64), Error> {
        if !changing {
            return Ok((daemon.watch(self.options.seconds)?, 0.0));
        }
        let mut client = daemon.connect()?;
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let changes = scope.spawn(|| churn.run(&mut client, &stop));
            let interval = daemon.watch(self.options.seconds);
            stop.store(true, Ordering::Relaxed);
            let changes = changes.join().expect("making changes does not panic")?;
            Ok((interval?, changes))
        })
    }

    /// The rules and flows of a set, by this run's seed.
    pub(super) fn workload(&self, rules: RuleSet, rule_count: u16, flows: Flows) -> Workload {
        Workload::new(rules, rule_count, flows, self.options.seed)
    }
}
