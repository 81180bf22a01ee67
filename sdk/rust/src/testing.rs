//! A host for tests, on the machine that the module is written on.
//!
//! It does what Weft does, a packet at a time: parses the frame, shows the stage its window, and
//! copies that back only if the stage changed it.
//!
//! ```
//! # use weft_sdk::{ConfigError, Counters, NoConfig, NoNames, Packet, Stage, Verdict};
//! # #[derive(Debug)]
//! # struct Echo;
//! # impl Stage for Echo {
//! #     type Config = NoConfig;
//! #     type Reason = NoNames;
//! #     type Counter = NoNames;
//! #     fn new(_: NoConfig) -> Result<Self, ConfigError> {
//! #         Ok(Self)
//! #     }
//! #     fn process(&mut self, p: &mut Packet<'_>, _: &mut Counters<NoNames>) -> Verdict<NoNames> {
//! #         Verdict::Output(p.in_port())
//! #     }
//! # }
//! use weft_sdk::testing::{FakeHost, IN_PORT};
//!
//! let mut host = FakeHost::<Echo>::new("{}").unwrap();
//! let outcome = host.run(&[0; 60]);
//! assert_eq!(outcome.verdict, Verdict::Output(IN_PORT));
//! assert_eq!(outcome.frame, [0; 60]);
//! ```

mod parse;

use core::cell::RefCell;
use std::{string::String, thread_local, vec::Vec};

pub use parse::describe;
use weft_abi::flags;

use crate::{ConfigError, Counters, Level, Names, Packet, PortId, Stage, Verdict, config::read};

/// The port that every packet comes by.
pub const IN_PORT: PortId = PortId(1);

/// A host with one stage.
#[derive(Debug)]
pub struct FakeHost<S: Stage> {
    stage: S,
    counters: Counters<S::Counter>,
}

/// What became of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome<R> {
    /// What the stage said.
    pub verdict: Verdict<R>,
    /// The frame, as the stage left it.
    pub frame: Vec<u8>,
    /// What the stage left for the next one.
    pub metadata: u64,
}

impl<S: Stage> FakeHost<S> {
    /// Deploys the stage with a configuration in JSON.
    ///
    /// # Errors
    ///
    /// Fails as the deployment would.
    pub fn new(config: &str) -> Result<Self, ConfigError> {
        Ok(Self { stage: S::new(read(config.as_bytes())?)?, counters: Counters::new() })
    }

    /// Sends a frame through the stage.
    ///
    /// # Panics
    ///
    /// Panics if the stage changed the frame and its [`Stage::WRITES`] is false.
    pub fn run(&mut self, frame: &[u8]) -> Outcome<S::Reason> {
        let mut descriptor = describe(frame, S::WINDOW);
        let mut frame = Vec::from(frame);
        let mut window = Vec::from(&frame[..descriptor.data_length as usize]);
        let mut packet = Packet::new(&mut descriptor, &mut window);
        let verdict = self.stage.process(&mut packet, &mut self.counters);
        if descriptor.flags & flags::DIRTY != 0 {
            assert!(S::WRITES, "a stage whose WRITES is false changed a packet");
            frame[..window.len()].copy_from_slice(&window);
        }
        Outcome { verdict, frame, metadata: descriptor.metadata }
    }

    /// What the stage counted and is not zero, by name.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        let counters =
            S::Counter::NAMES.iter().copied().zip(self.counters.values().iter().copied());
        counters.filter(|(_, count)| *count != 0).collect()
    }
}

thread_local!(static LOG: RefCell<Vec<(Level, String)>> = const { RefCell::new(Vec::new()) });

/// What this thread has logged since the last call.
#[must_use]
pub fn take_log() -> Vec<(Level, String)> {
    LOG.take()
}

pub(crate) fn keep_log(level: Level, line: &str) {
    LOG.with_borrow_mut(|log| log.push((level, line.into())));
}
