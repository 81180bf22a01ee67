use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use dataplane::{DropReason, ReasonId, stage::Verdict};
use weft_abi::BatchArea;

use crate::{
    host::Host,
    instantiate_error::InstantiateError,
    module::Module,
    stage::WasmStage,
    startup::Plan,
    stats::StageStats,
    trial::InService,
    verdict::Terms,
    ward::{Seat, Ward},
};

/// The most packets of a batch that a module can be asked to make room for.
const LARGEST_BATCH: u32 = 1024;

/// A module with its configuration, its limits and what is to happen when it fails: what a stage
/// is made from.
pub struct Deployment {
    /// What runs.
    pub module: Arc<Module>,
    /// What the module is told at its start.
    pub config: serde_json::Value,
    /// What it may use.
    pub limits: Limits,
    /// What becomes of a packet that it failed on.
    pub on_fault: OnFault,
    /// The engine's reason for each drop reason of the module's manifest, in that order.
    pub reasons: Vec<ReasonId>,
    /// The most packets of one call. Larger batches take several.
    pub batch: u32,
}

/// What a stage may use, on each worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The bytes of its memory.
    pub memory_bytes: usize,
    /// The processor's time of one call, for all of its packets together. A call that exceeds it
    /// is ended within a few ticks of the host.
    pub deadline: Duration,
    /// The processor's time from its instantiation until it is ready.
    pub start_deadline: Duration,
    /// The faults within the window that are not yet too many: with one more, no instance is made
    /// until the stage is resumed.
    pub faults: u32,
    /// How long a fault counts.
    pub fault_window: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 16 << 20,
            deadline: Duration::from_millis(10),
            start_deadline: Duration::from_secs(1),
            faults: 10,
            fault_window: Duration::from_secs(10),
        }
    }
}

/// What becomes of a packet that a module trapped on, overran its deadline on, or was not there
/// for. A verdict that means nothing is a drop in any case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnFault {
    /// It is dropped, and counted under what happened.
    #[default]
    Drop,
    /// It goes on as if the stage were not there.
    Bypass,
    /// The deployment before this one decides on it; without one, it is dropped.
    LastGood,
}

impl OnFault {
    /// The verdict on a packet.
    pub(crate) fn verdict(self, reason: DropReason) -> Verdict {
        match self {
            Self::Drop | Self::LastGood => reason.into(),
            Self::Bypass => Verdict::Next,
        }
    }
}

/// A deployment that is ready: one stage for each worker, and what control keeps of it.
///
/// It is in the host's care until the last of its stages is dropped, which frees the instances:
/// not a worker's work.
pub struct Deployed {
    /// The stages. Each is one worker's.
    pub stages: Vec<WasmStage>,
    /// Their counters, their log, how they do and their last faults.
    pub stats: Arc<StageStats>,
    /// What a trial of another deployment is begun by.
    pub in_service: InService,
}

impl Deployment {
    /// Makes the stages of all workers, each with a spare instance, or none of them.
    ///
    /// This runs the module's start once for each instance, so it takes long: not for a worker.
    ///
    /// # Errors
    ///
    /// A limit that cannot be, or a module that does not get ready.
    pub fn deploy(self, host: &Host, workers: usize) -> Result<Deployed, InstantiateError> {
        self.deploy_beside(Vec::new(), host, workers)
    }

    /// The same, with another deployment that decides where this one cannot: what
    /// [`OnFault::LastGood`] is about.
    ///
    /// # Errors
    ///
    /// Those of both.
    pub fn deploy_over(
        self,
        last_good: Self,
        host: &Host,
        workers: usize,
    ) -> Result<Deployed, InstantiateError> {
        // Nobody decides in place of the one that does.
        let last_good = Self { on_fault: OnFault::Drop, ..last_good };
        self.deploy_beside(last_good.deploy(host, workers)?.stages, host, workers)
    }

    fn deploy_beside(
        self,
        last_good: Vec<WasmStage>,
        host: &Host,
        workers: usize,
    ) -> Result<Deployed, InstantiateError> {
        self.check(host)?;
        let bell = host.nursery.bell();
        let counters = &self.module.manifest().counters;
        let stats = Arc::new(StageStats::new(counters, workers, Arc::clone(bell)));
        let (plan, terms) = self.plan(host, &stats);
        let mut instances = Vec::with_capacity(workers);
        let mut seats = Vec::with_capacity(workers);
        for _ in 0..workers {
            instances.push(plan.instantiate()?);
            seats.push(Seat::new(plan.instantiate()?));
        }
        let ward = Arc::new(Ward {
            plan,
            terms,
            on_fault: self.on_fault,
            has_last_good: !last_good.is_empty(),
            bell: Arc::clone(bell),
            seats: seats.into(),
            trial: Mutex::default(),
        });
        host.nursery.admit(&ward);
        let mut last_good = last_good.into_iter();
        let stage = |(worker, instance)| {
            WasmStage::new(Arc::clone(&ward), worker, instance, last_good.next())
        };
        let stages = instances.into_iter().enumerate().map(stage).collect();
        let in_service = InService(Arc::downgrade(&ward));
        Ok(Deployed { stages, stats, in_service })
    }

    pub(crate) fn plan(&self, host: &Host, stats: &Arc<StageStats>) -> (Plan, Terms) {
        let manifest = self.module.manifest();
        let plan = Plan {
            shape: BatchArea { packets: self.batch, window: manifest.slot() },
            config: self.config.to_string().into_bytes(),
            limits: self.limits,
            stats: Arc::clone(stats),
            ticker: Arc::clone(&host.ticker),
            module: Arc::clone(&self.module),
        };
        (plan, Terms { reasons: self.reasons.clone(), writes: manifest.writes })
    }

    pub(crate) fn check(&self, host: &Host) -> Result<(), InstantiateError> {
        let Limits { memory_bytes, deadline, start_deadline, .. } = self.limits;
        let ceiling = host.options.memory_bytes;
        let reasons = self.module.manifest().drop_reasons.len();
        let time = Duration::from_micros(1)..=Duration::from_secs(60);
        let options = [
            (
                memory_bytes <= ceiling,
                "the stage's memory limit",
                memory_bytes.to_string(),
                format!("at most {ceiling} bytes"),
            ),
            (
                time.contains(&deadline),
                "the deadline",
                format!("{deadline:?}"),
                "1 us to 60 s".into(),
            ),
            (
                time.contains(&start_deadline),
                "the deadline of the start",
                format!("{start_deadline:?}"),
                "1 us to 60 s".into(),
            ),
            (
                (1..=LARGEST_BATCH).contains(&self.batch),
                "the batch",
                self.batch.to_string(),
                format!("1 to {LARGEST_BATCH} packets"),
            ),
            (
                self.reasons.len() == reasons,
                "the number of drop reasons",
                self.reasons.len().to_string(),
                format!("{reasons}, as in the module's manifest"),
            ),
        ];
        if let Some((_, what, value, range)) = options.into_iter().find(|(fits, ..)| !fits) {
            return Err(InstantiateError::Option { what, value, range });
        }
        let (needed, limit) = (self.module.memory(), memory_bytes);
        let fits = usize::try_from(needed).is_ok_and(|needed| needed <= limit);
        if fits { Ok(()) } else { Err(InstantiateError::Memory { needed, limit }) }
    }
}
