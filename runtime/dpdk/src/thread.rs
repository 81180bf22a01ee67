use std::marker::PhantomData;

use crate::{Eal, Errno, Error, Result, log};

/// While it lives, its thread has a cache in every pool, which makes buffers cheap to take.
///
/// Invariant: it stays on the thread that made it.
#[derive(Debug)]
pub struct ThreadRegistration {
    /// Whether the thread was unknown before.
    first: bool,
    not_send: PhantomData<*const ()>,
}

impl Eal {
    /// Makes this thread known to DPDK; pin it before. Nothing changes for a thread that is known
    /// already, as that of [`Eal::init`] is.
    ///
    /// # Errors
    ///
    /// If too many threads are known.
    pub fn register_thread(&self) -> Result<ThreadRegistration> {
        let not_send = PhantomData;
        // SAFETY: reads a flag of this thread.
        if unsafe { dpdk_sys::dp_thread_is_registered() } {
            return Ok(ThreadRegistration { first: false, not_send });
        }
        // SAFETY: self proves that the EAL runs, and DPDK does not know the thread.
        let (status, log) = log::capture(|| unsafe { dpdk_sys::rte_thread_register() });
        match Errno::check(status) {
            Ok(()) => Ok(ThreadRegistration { first: true, not_send }),
            Err(errno) => {
                Err(Error::RegisterThread { errno, log, limit: dpdk_sys::DP_MAX_THREADS })
            }
        }
    }
}

impl Drop for ThreadRegistration {
    fn drop(&mut self) {
        if self.first {
            // SAFETY: this is the thread that was registered, by the invariant.
            unsafe { dpdk_sys::rte_thread_unregister() }
        }
    }
}
