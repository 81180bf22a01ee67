use std::sync::Arc;

use crossbeam::queue::ArrayQueue;

use super::{FlowPage, Report};
use crate::{
    GroupId, MeterId, PortId, StageId,
    classify::{Tables, Touched},
    group::Group,
    meter::Meter,
    stage::Stage,
    switching::MacTable,
};

/// How many requests may wait. Control waits for one answer before it asks again.
const DEPTH: usize = 4;

/// One thing that changes on a worker. When it comes back, it holds what was there before, so that
/// nothing is freed on the worker.
pub enum Change<P, R, T> {
    /// Other rules, and the packets that the difference is about. It is done when no packet meets
    /// the rules from before any more.
    Rules(Arc<Tables>, Arc<Touched>),
    /// Another instance of a stage, or none.
    Stage(StageId, Option<Box<dyn Stage<P>>>),
    /// Another meter, or none.
    Meter(MeterId, Option<Arc<Meter>>),
    /// Another group, or none.
    Group(GroupId, Option<Arc<Group>>),
    /// Another table of learned addresses, or none.
    Addresses(Option<Arc<MacTable>>),
    /// Other queues of a port, whose counters go on, or none.
    Port(PortId, Option<Queues<R, T>>),
}

/// A port's queues that one worker has.
#[derive(Debug)]
pub struct Queues<R, T> {
    /// What it polls, if the port is polled by this worker.
    pub rx: Option<R>,
    /// What it sends by.
    pub tx: T,
}

/// What control asks of a worker.
pub enum Request<P, R, T> {
    /// Take all changes up before the next burst, and run under this revision. It comes back as
    /// the request that undoes it.
    Configure {
        /// The number of the configuration.
        revision: u64,
        /// What differs from the one before.
        changes: Vec<Change<P, R, T>>,
    },
    /// Fill in what was counted.
    Report(Report),
    /// Tell some of the flows that are cached.
    Flows(FlowPage),
    /// Poll no more.
    Stop,
}

type Queue<P, R, T> = Arc<ArrayQueue<Box<Request<P, R, T>>>>;

/// The worker's end.
pub struct Mailbox<P, R, T> {
    requests: Queue<P, R, T>,
    answers: Queue<P, R, T>,
}

/// Control's end.
pub struct Remote<P, R, T> {
    requests: Queue<P, R, T>,
    answers: Queue<P, R, T>,
}

/// A worker's mailbox and control's end of it.
#[must_use]
pub fn mailbox<P, R, T>() -> (Remote<P, R, T>, Mailbox<P, R, T>) {
    let requests = Arc::new(ArrayQueue::new(DEPTH));
    let answers = Arc::new(ArrayQueue::new(DEPTH));
    let remote = Remote { requests: Arc::clone(&requests), answers: Arc::clone(&answers) };
    (remote, Mailbox { requests, answers })
}

impl<P, R, T> Remote<P, R, T> {
    /// Asks.
    ///
    /// # Errors
    ///
    /// The request, if too many wait.
    pub fn ask(&self, request: Box<Request<P, R, T>>) -> Result<(), Box<Request<P, R, T>>> {
        self.requests.push(request)
    }

    /// A request that the worker has done, if there is one.
    #[must_use]
    pub fn answer(&self) -> Option<Box<Request<P, R, T>>> {
        self.answers.pop()
    }

    /// A request that the worker has not begun, if there is one: taken back, it never happens.
    #[must_use]
    pub fn withdraw(&self) -> Option<Box<Request<P, R, T>>> {
        self.requests.pop()
    }
}

impl<P, R, T> Mailbox<P, R, T> {
    /// The next request. Costs two loads when there is none.
    #[inline]
    pub(super) fn next(&self) -> Option<Box<Request<P, R, T>>> {
        if self.requests.is_empty() { None } else { self.requests.pop() }
    }

    /// Gives a request back.
    pub(super) fn answer(&self, request: Box<Request<P, R, T>>) {
        if let Err(unread) = self.answers.push(request) {
            // Control left it unread; what it holds is freed here for want of another place.
            drop(unread);
        }
    }
}
