use std::marker::PhantomData;

use crate::{Eal, Errno, Error, Result, log};

/// While it lives, its thread has a cache in every pool, which makes buffers cheap to take.
///
/// Invariant: it stays on the thread that made it.
#[derive(Debug)]
pub struct ThreadRegistration {
    not_send: PhantomData<*const ()>,
}

impl Eal {
    /// Makes this thread known to DPDK. Pin it before; the thread of [`Eal::init`] is known.
    ///
    /// # Errors
    ///
    /// If it is known already, or too many are.
    pub fn register_thread(&self) -> Result<ThreadRegistration> {
        // SAFETY: self proves that the EAL runs.
        let (status, log) = log::capture(|| unsafe { dpdk_sys::rte_thread_register() });
        match Errno::check(status) {
            Ok(()) => Ok(ThreadRegistration { not_send: PhantomData }),
            Err(errno) => Err(Error::RegisterThread { errno, log }),
        }
    }
}

impl Drop for ThreadRegistration {
    fn drop(&mut self) {
        // SAFETY: this is the thread that was registered, by the invariant.
        unsafe { dpdk_sys::rte_thread_unregister() }
    }
}
