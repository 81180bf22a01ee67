//! A process has one EAL, and whoever starts it stays on its cores.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use dpdk::{Eal, EalOptions, Error, free_hugepage_mb};
use rustix::thread::{CpuSet, sched_getaffinity};

#[test]
fn the_eal_starts_once_and_only_with_what_there_is() {
    let cores = sched_getaffinity(None).unwrap();
    let first = (0..CpuSet::MAX_CPU).find(|&core| cores.is_set(core)).unwrap();
    let main_core = u32::try_from(first).unwrap();
    let options = EalOptions { hugepages: false, memory_mb: 64, main_core };

    // Refused before DPDK hears of it, so that there can be another attempt.
    let error = Eal::init(&EalOptions { main_core: 100_000, ..options.clone() }).unwrap_err();
    assert!(matches!(error, Error::CoreNotAllowed { core: 100_000, .. }), "{error}");
    let huge = EalOptions { hugepages: true, memory_mb: u32::MAX, ..options.clone() };
    let (needed_mb, free_mb) = (u64::from(u32::MAX), free_hugepage_mb());
    assert_eq!(Eal::init(&huge).unwrap_err(), Error::Hugepages { needed_mb, free_mb });

    let eal = Eal::init(&options).unwrap();
    assert_eq!(sched_getaffinity(None).unwrap(), cores, "the thread is not pinned");
    assert_eq!(Eal::init(&options).unwrap_err(), Error::AlreadyInitialised);
    assert!(eal.tsc_hz() > 1_000_000, "{} Hz", eal.tsc_hz());
    assert!(dpdk::version().starts_with("DPDK "), "{}", dpdk::version());
}
