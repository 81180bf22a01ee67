//! DPDK does not start, and says why.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use dpdk::{Eal, EalOptions, Error};
use rustix::thread::{CpuSet, sched_getaffinity};

#[test]
fn more_memory_than_there_are_addresses_is_refused_with_dpdks_words() {
    let cores = sched_getaffinity(None).unwrap();
    let first = (0..CpuSet::MAX_CPU).find(|&core| cores.is_set(core)).unwrap();
    let main_core = u32::try_from(first).unwrap();
    let options = EalOptions { hugepages: false, memory_mb: 500_000_000, main_core };

    let error = Eal::init(&options).unwrap_err();
    let Error::Initialise { log, .. } = &error else { panic!("{error:?}") };
    assert!(log.lines().iter().any(|line| line.contains("Cannot init memory")), "{log:?}");
    let message = error.to_string();
    assert!(message.starts_with("DPDK did not start: "), "{message}");
    assert!(message.contains("Cannot allocate memory"), "{message}");

    assert_eq!(sched_getaffinity(None).unwrap(), cores, "the thread is not pinned");
    let again = Eal::init(&EalOptions { memory_mb: 64, ..options }).unwrap_err();
    assert_eq!(again, Error::AlreadyInitialised);
}
