use std::{
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread::Thread,
};

/// How a worker wakes a thread without a system call: it leaves a mark, and the ticker, which is
/// awake anyway, passes it on.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    rung: AtomicBool,
    sleeper: OnceLock<Thread>,
}

impl Bell {
    /// Names the thread that is to be woken. The first one stays.
    pub(crate) fn wakes(&self, sleeper: Thread) {
        self.sleeper.get_or_init(|| sleeper);
    }

    /// Leaves a mark. Fit for the packet path.
    pub(crate) fn ring(&self) {
        self.rung.store(true, Ordering::Release);
    }

    /// Wakes the sleeper if there is a mark.
    pub(crate) fn pass_on(&self) {
        if self.rung.load(Ordering::Relaxed)
            && self.rung.swap(false, Ordering::Acquire)
            && let Some(sleeper) = self.sleeper.get()
        {
            sleeper.unpark();
        }
    }
}
