use std::fmt;

use crate::{DriverLog, Errno};

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong between Weft and DPDK.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// DPDK can be started once in the life of a process, even if it failed to start.
    #[error("DPDK was already started in this process, which it allows once")]
    AlreadyInitialised,
    /// The main core is none of those that the process may run on.
    #[error("core {core} is not one that this process may run on; it may run on {allowed}")]
    CoreNotAllowed {
        /// The core that was asked for.
        core: u32,
        /// A list such as `0-3,8`.
        allowed: String,
    },
    /// The kernel would not tell or set the cores of this thread.
    #[error("cannot {what} the cores of this thread: {errno}")]
    Affinity {
        /// "read" or "restore".
        what: &'static str,
        /// What the kernel reported.
        errno: rustix::io::Errno,
    },
    /// There are too few free hugepages.
    #[error(
        "{needed_mb} MB of hugepages are needed and {free_mb} MB are free: reserve some with \
         `sysctl vm.nr_hugepages={pages}`, ask for less memory, or run without hugepages",
        pages = needed_mb.div_ceil(2)
    )]
    Hugepages {
        /// What was asked for.
        needed_mb: u64,
        /// What there is.
        free_mb: u64,
    },
    /// DPDK did not start.
    #[error("DPDK did not start: {errno}{log}")]
    Initialise {
        /// What it reported.
        errno: Errno,
        /// What it logged.
        log: DriverLog,
    },
    /// DPDK has no room for another thread.
    #[error("DPDK does not take this thread: {errno}{log}; it takes {limit} at once")]
    RegisterThread {
        /// How many it takes, the one that started it included.
        limit: u32,
        /// What it reported.
        errno: Errno,
        /// What it logged.
        log: DriverLog,
    },
    /// A pool could not be made.
    #[error(
        "no pool {name} of {buffers} buffers ({megabytes} MB) on {place}: {errno}{log}; DPDK \
         needs more memory there, or the pool fewer buffers",
        place = numa_node.map_or("any NUMA node".to_owned(), |node| format!("NUMA node {node}"))
    )]
    Pool {
        /// The name it was to have.
        name: String,
        /// How many buffers it was to have.
        buffers: u32,
        /// About how much memory they take.
        megabytes: u64,
        /// Where they were to lie.
        numa_node: Option<u32>,
        /// What DPDK reported.
        errno: Errno,
        /// What it logged.
        log: DriverLog,
    },
    /// A cache that is larger than DPDK allows.
    #[error("a cache of {cache} buffers is too large for a pool of {buffers}: at most {limit}")]
    Cache {
        /// What was asked for.
        cache: u32,
        /// The pool's size.
        buffers: u32,
        /// What there may be.
        limit: u32,
    },
    /// Device arguments hold a NUL byte.
    #[error("the device arguments {0:?} hold a NUL byte")]
    Nul(String),
    /// The device is in use by another port.
    #[error("device {device} is attached already; a second one needs another name")]
    AlreadyAttached {
        /// Its name.
        device: String,
    },
    /// There is no such device, or its driver refuses it.
    #[error("cannot attach device {devargs:?}: {reason}{log}; {hint}", reason = refusal(*errno))]
    Probe {
        /// What was asked for.
        devargs: String,
        /// What DPDK reported.
        errno: Errno,
        /// What DPDK and the driver logged.
        log: DriverLog,
        /// What to check.
        hint: &'static str,
    },
    /// The device was attached, but is for something else than packets.
    #[error("device {device} is no network device")]
    NotNetwork {
        /// Its name.
        device: String,
    },
    /// No queue was asked for in one direction.
    #[error("device {device} needs at least one receive queue and one transmit queue")]
    NoQueues {
        /// Its name.
        device: String,
    },
    /// The device has fewer queues than asked.
    #[error("device {device} has {available} {direction} queues, {asked} were asked for")]
    TooFewQueues {
        /// Its name.
        device: String,
        /// Which queues.
        direction: Direction,
        /// What was asked for.
        asked: u16,
        /// What there is.
        available: u16,
    },
    /// The MTU cannot be changed.
    #[error("driver {driver} of device {device} cannot set an MTU; leave it out, it is {mtu}")]
    MtuUnsupported {
        /// The device's name.
        device: String,
        /// Its driver.
        driver: String,
        /// The MTU it has.
        mtu: u16,
    },
    /// The MTU is out of bounds.
    #[error("device {device} takes no MTU of {mtu}: at least {least}, at most {most}")]
    MtuOutOfRange {
        /// The device's name.
        device: String,
        /// What was asked for.
        mtu: u16,
        /// The least that the device takes.
        least: u16,
        /// The most that the device takes and a buffer holds.
        most: u16,
    },
    /// Queues of the port are still somewhere.
    #[error("device {device} has {queues} queues in use")]
    QueuesInUse {
        /// Its name.
        device: String,
        /// How many.
        queues: usize,
    },
    /// A device refused a call.
    #[error("device {device}: {call}: {errno}{log}")]
    Device {
        /// Its name.
        device: String,
        /// What was to be done.
        call: &'static str,
        /// What DPDK reported.
        errno: Errno,
        /// What DPDK and the driver logged.
        log: DriverLog,
    },
}

/// Of what an attached device answers, two errors mean something else than their text.
fn refusal(errno: Errno) -> String {
    match errno {
        Errno::BAD_ADDRESS => "no driver takes this name".to_owned(),
        Errno::NOT_SUPPORTED => "its driver refuses it".to_owned(),
        other => other.to_string(),
    }
}

/// Which way a queue moves packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the device.
    Receive,
    /// To the device.
    Transmit,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Receive => "receive",
            Self::Transmit => "transmit",
        })
    }
}
