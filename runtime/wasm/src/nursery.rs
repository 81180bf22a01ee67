use std::{
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Instant,
};

use crate::{bell::Bell, ward::Ward};

/// The thread that replaces instances which failed, for all deployments.
pub(crate) struct Nursery {
    roster: Arc<Roster>,
    thread: Option<JoinHandle<()>>,
}

struct Roster {
    wards: Mutex<Vec<Weak<Ward>>>,
    bell: Arc<Bell>,
    closed: AtomicBool,
}

impl Nursery {
    /// Starts the thread, which the bell wakes.
    pub(crate) fn start(bell: Arc<Bell>) -> io::Result<Self> {
        let wards = Mutex::default();
        let roster = Arc::new(Roster { wards, bell, closed: AtomicBool::new(false) });
        let its = Arc::clone(&roster);
        let thread = thread::Builder::new().name("wasm-nursery".into()).spawn(move || its.run())?;
        roster.bell.wakes(thread.thread().clone());
        Ok(Self { roster, thread: Some(thread) })
    }

    /// Takes a deployment into care.
    pub(crate) fn admit(&self, ward: &Arc<Ward>) {
        let mut wards = self.roster.wards();
        wards.retain(|ward| ward.strong_count() > 0);
        wards.push(Arc::downgrade(ward));
    }

    pub(crate) fn bell(&self) -> &Arc<Bell> {
        &self.roster.bell
    }
}

impl Drop for Nursery {
    fn drop(&mut self) {
        self.roster.closed.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // If it panicked, there is nobody to tell, and no instance is lost by it.
            drop(thread.join());
        }
    }
}

impl Roster {
    fn wards(&self) -> MutexGuard<'_, Vec<Weak<Ward>>> {
        self.wards.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        while !self.closed.load(Ordering::Acquire) {
            match self.tend() {
                Some(due) => thread::park_timeout(due.saturating_duration_since(Instant::now())),
                None => thread::park(),
            }
        }
    }

    /// Looks after every deployment once. Returns when the next one is due.
    fn tend(&self) -> Option<Instant> {
        // The list is free while instances start, which takes long.
        let wards: Vec<Arc<Ward>> = self.wards().iter().filter_map(Weak::upgrade).collect();
        wards.iter().filter_map(|ward| ward.tend()).min()
    }
}
