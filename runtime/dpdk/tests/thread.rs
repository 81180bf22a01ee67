//! Threads are made known to DPDK.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod environment;

use std::thread;

use dpdk::Pool;

#[test]
fn many_threads_after_each_other_are_registered_and_lose_no_buffer() {
    let eal = environment::start();
    let pool = Pool::new(eal, "packets", 511, 64, None).unwrap();
    for _ in 0..200 {
        let (eal, pool) = (eal.clone(), pool.clone());
        let polling = thread::spawn(move || {
            let registered = eal.register_thread().unwrap();
            let again = eal.register_thread().unwrap();
            drop(pool.allocate_from(&[1; 60]).unwrap());
            drop((registered, again));
        });
        polling.join().unwrap();
    }
    assert_eq!(pool.free_count(), 511);
}
