//! The workers, as control sees them: a set that takes changes all together or not at all.

mod thread;

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    thread::sleep,
    time::{Duration, Instant},
};

use dataplane::worker::{self, FlowPage, Report, Settings};
use dpdk::{Mbuf, RxQueue, TxQueue};
pub(crate) use thread::StartError;
use thread::Thread;

use crate::cores::Cores;

/// One change of a worker.
pub(crate) type Change = worker::Change<Mbuf, RxQueue, TxQueue>;
/// One port's queues on a worker.
pub(crate) type Queues = worker::Queues<RxQueue, TxQueue>;
type Request = worker::Request<Mbuf, RxQueue, TxQueue>;
type Remote = worker::Remote<Mbuf, RxQueue, TxQueue>;

/// How long a worker may take to answer. It answers between two bursts, so this is a stall.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often an answer is looked for.
const GLANCE: Duration = Duration::from_micros(50);

/// A worker did not answer.
#[derive(Debug, thiserror::Error)]
#[error("worker {worker} has not answered for {} s", PATIENCE.as_secs())]
pub(crate) struct Stalled {
    /// Which.
    pub(crate) worker: usize,
}

/// All workers.
pub(crate) struct Plane {
    threads: Vec<Thread>,
    remotes: Mutex<Vec<Remote>>,
    flow_limit: usize,
}

impl Plane {
    /// Starts a worker on each of its cores.
    pub(crate) fn start(
        cores: &Cores,
        eal: &dpdk::Eal,
        settings: Settings,
    ) -> Result<Self, StartError> {
        let flow_limit = settings.flow_limit;
        let mut plane = Self { threads: Vec::new(), remotes: Mutex::default(), flow_limit };
        for (worker, &core) in cores.workers.iter().enumerate() {
            let (remote, mailbox) = worker::mailbox();
            let settings = Settings { worker, ..settings };
            plane.threads.push(Thread::start(core, cores, eal, settings, mailbox)?);
            plane.remotes().push(remote);
        }
        Ok(plane)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.threads.len()
    }

    /// The most flows that each of them caches.
    pub(crate) fn flow_limit(&self) -> u64 {
        self.flow_limit as u64
    }

    fn remotes(&self) -> MutexGuard<'_, Vec<Remote>> {
        self.remotes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has every worker take up its changes, or none: if one does not answer, the others change
    /// back. Returns what was there before, for the caller to free.
    pub(crate) fn configure(
        &self,
        revision: u64,
        changes: Vec<Vec<Change>>,
    ) -> Result<Vec<Vec<Change>>, Stalled> {
        let remotes = self.remotes();
        let requests = changes.into_iter().map(|changes| Request::Configure { revision, changes });
        let answers = exchange(&remotes, requests);
        let stalled = answers.iter().position(Result::is_err);
        let Some(worker) = stalled else {
            return Ok(answers.into_iter().flatten().map(|done| changes_of(*done)).collect());
        };
        change_back(&remotes, answers);
        Err(Stalled { worker })
    }

    /// What every worker has counted, each between two bursts.
    pub(crate) fn reports(&self) -> Result<Vec<Report>, Stalled> {
        let remotes = self.remotes();
        let requests = remotes.iter().map(|_| Request::Report(Report::default()));
        let answers = exchange(&remotes, requests).into_iter().enumerate();
        answers
            .map(|(worker, answer)| match answer.map(|request| *request) {
                Ok(Request::Report(report)) => Ok(report),
                _ => Err(Stalled { worker }),
            })
            .collect()
    }

    /// A page of the flows that a worker caches.
    pub(crate) fn flows(&self, worker: usize, page: FlowPage) -> Result<FlowPage, Stalled> {
        let remotes = self.remotes();
        let remote = std::slice::from_ref(&remotes[worker]);
        let answer = exchange(remote, [Request::Flows(page)]).pop();
        match answer.map(|answer| answer.map(|request| *request)) {
            Some(Ok(Request::Flows(page))) => Ok(page),
            _ => Err(Stalled { worker }),
        }
    }

    /// Stops all workers, however long they take, and frees what they had.
    pub(crate) fn stop(self) {
        for remote in self.remotes().iter() {
            if remote.ask(Box::new(Request::Stop)).is_err() {
                unreachable!("no request waits when nobody asks");
            }
        }
        self.threads.into_iter().for_each(Thread::join);
    }
}

/// A request that came back: done, or not begun.
type Answer = Result<Box<Request>, Box<Request>>;

/// Asks every worker one thing and waits for all answers. Leaves no request and no answer behind.
fn exchange(remotes: &[Remote], requests: impl IntoIterator<Item = Request>) -> Vec<Answer> {
    let deadline = Instant::now() + PATIENCE;
    let asked: Vec<_> = remotes
        .iter()
        .zip(requests)
        .map(|(remote, request)| remote.ask(Box::new(request)))
        .collect();
    asked
        .into_iter()
        .zip(remotes)
        .map(|(asked, remote)| asked.and_then(|()| wait(remote, deadline)))
        .collect()
}

/// Waits for an answer, and takes the request back if it is not begun in time. One that is begun is
/// soon done.
fn wait(remote: &Remote, deadline: Instant) -> Answer {
    loop {
        if let Some(answer) = remote.answer() {
            return Ok(answer);
        }
        if Instant::now() > deadline
            && let Some(request) = remote.withdraw()
        {
            return Err(request);
        }
        sleep(GLANCE);
    }
}

/// Has the workers that took their changes up swap back what they had.
fn change_back(remotes: &[Remote], answers: Vec<Answer>) {
    let deadline = Instant::now() + PATIENCE;
    for (remote, answer) in remotes.iter().zip(answers) {
        if let Ok(done) = answer
            && remote.ask(done).is_ok()
            && wait(remote, deadline).is_err()
        {
            tracing::error!("a worker does not answer when it is to change back");
        }
    }
}

fn changes_of(request: Request) -> Vec<Change> {
    match request {
        Request::Configure { changes, .. } => changes,
        Request::Report(_) | Request::Flows(_) | Request::Stop => Vec::new(),
    }
}
