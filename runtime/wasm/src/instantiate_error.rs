use std::time::Duration;

use weft_abi::VERSION;

/// Why a deployment was refused: the module did not get ready, or it was asked for what cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InstantiateError {
    /// A part of the deployment is out of its range.
    #[error("{what} is {value}; it must be {range}")]
    Option {
        /// Which part.
        what: &'static str,
        /// What it is.
        value: String,
        /// What it may be.
        range: String,
    },
    /// The module's memory is larger from the start than the stage may have.
    #[error(
        "the module's memory has {needed} bytes from the start, more than the stage's memory limit \
         of {limit}; raise the limit, or make the module's statics or stack smaller"
    )]
    Memory {
        /// The bytes that it has from the start.
        needed: u64,
        /// The stage's limit.
        limit: usize,
    },
    /// The module failed on one of the packets that it is tried on before it gets real ones.
    #[error(
        "the module failed when it was tried on a sample of many kinds of packets, on {sample}: \
         {what}; mend the module, or turn the self-test off if that is what it is to do"
    )]
    SelfTest {
        /// The kind of packet.
        sample: &'static str,
        /// How it failed.
        what: String,
    },
    /// The module trapped before it was ready.
    #[error("the module trapped in {step}: {message}")]
    Trap {
        /// The function that it was in.
        step: &'static str,
        /// What the trap was, and where.
        message: String,
    },
    /// The module was not ready in time.
    #[error("the module was not ready after {limit:?}: it was still in {step}")]
    Deadline {
        /// The function that it was in.
        step: &'static str,
        /// The time that it had.
        limit: Duration,
    },
    /// The module is for another version of the ABI than its manifest says.
    #[error(
        "weft_abi_version answers {found} and this host has {VERSION}; build the module with the \
         SDK of this release"
    )]
    AbiVersion {
        /// What it answers.
        found: u32,
    },
    /// The module has no place for what the host must give it.
    #[error(
        "the module has no room for {bytes} bytes of {what}: {function} answers 0; raise the \
         stage's memory limit, which is {limit}"
    )]
    NoRoom {
        /// What there is no room for.
        what: &'static str,
        /// Its bytes.
        bytes: usize,
        /// The function that was to find the room.
        function: &'static str,
        /// The stage's memory limit.
        limit: usize,
    },
    /// The module named a place that is not in its memory.
    #[error(
        "the module is broken: {function} puts {bytes} bytes of {what} at {address:#x}, and its \
         memory ends at {memory:#x}"
    )]
    OutsideMemory {
        /// What was to lie there.
        what: &'static str,
        /// Its bytes.
        bytes: usize,
        /// The function that named the place.
        function: &'static str,
        /// The place.
        address: u32,
        /// The bytes of the memory.
        memory: usize,
    },
    /// The module named a place of the wrong alignment.
    #[error(
        "the module is broken: {function} puts {what} at {address:#x}, which is no multiple of \
         {alignment}"
    )]
    Misaligned {
        /// What was to lie there.
        what: &'static str,
        /// The function that named the place.
        function: &'static str,
        /// The place.
        address: u32,
        /// What it must be a multiple of.
        alignment: usize,
    },
    /// The module refused its configuration.
    #[error("the module refuses its configuration: {0}")]
    Refused(String),
    /// The host could not make an instance.
    #[error("the module could not be instantiated: {0}")]
    Host(String),
}
