//! DPDK has room for so many threads.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod environment;

use std::{sync::mpsc, thread};

use dpdk::{Eal, Error};

/// Registers a thread that stays until the sender is dropped, or tells why not.
fn registered_thread(eal: &Eal) -> Result<mpsc::Sender<()>, Error> {
    let eal = eal.clone();
    let (stay, stopped) = mpsc::channel::<()>();
    let (answer, answered) = mpsc::channel();
    thread::spawn(move || {
        let registered = eal.register_thread();
        answer.send(registered.as_ref().err().cloned()).unwrap();
        stopped.recv().unwrap_err();
    });
    answered.recv().unwrap().map_or(Ok(stay), Err)
}

#[test]
fn the_thread_that_is_one_too_many_is_refused_with_the_limit() {
    let eal = environment::start();
    let mut threads = Vec::new();
    let refused = loop {
        match registered_thread(eal) {
            Ok(thread) => threads.push(thread),
            Err(error) => break error,
        }
    };
    let Error::RegisterThread { limit, .. } = refused else { panic!("{refused}") };
    assert_eq!(threads.len() + 1, limit as usize, "the one that started DPDK counts");
}
