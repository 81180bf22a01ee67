//! DPDK, started once for the tests of a file, on the first core it may use and without hugepages.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::sync::OnceLock;

use dpdk::{Eal, EalOptions};
use rustix::thread::{CpuSet, sched_getaffinity};

/// The one EAL of this process.
pub(crate) fn start() -> &'static Eal {
    static EAL: OnceLock<Eal> = OnceLock::new();
    EAL.get_or_init(|| {
        let cores = sched_getaffinity(None).unwrap();
        let first = (0..CpuSet::MAX_CPU).find(|&core| cores.is_set(core)).unwrap();
        let main_core = first.try_into().unwrap();
        Eal::init(&EalOptions { hugepages: false, memory_mb: 64, main_core }).unwrap()
    })
}
