use std::{
    ffi::{CStr, CString, c_char, c_int},
    sync::atomic::{AtomicBool, Ordering},
};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::{Errno, Error, Result, free_hugepage_mb, log};

/// DPDK's environment abstraction layer, running.
///
/// Invariant: a value exists only after DPDK has started, which lasts until the process ends.
#[derive(Debug, Clone)]
pub struct Eal {
    _started: (),
}

/// How DPDK is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EalOptions {
    /// Memory from hugepages, which PCI devices need. Without, only virtual devices can be attached.
    pub hugepages: bool,
    /// How much memory DPDK takes for pools and rings; with hugepages it takes more if it has to.
    pub memory_mb: u32,
    /// The core on which the thread that starts DPDK counts as running. It is not pinned to it.
    pub main_core: u32,
}

static STARTED: AtomicBool = AtomicBool::new(false);

impl Eal {
    /// Starts DPDK with no device. Its log goes to `tracing` under the target `dpdk`.
    ///
    /// # Errors
    ///
    /// If it was started before in this process, or the options cannot be met.
    pub fn init(options: &EalOptions) -> Result<Self> {
        let affinity = read_affinity()?;
        check_core(options.main_core, &affinity)?;
        if options.hugepages {
            check_hugepages(options.memory_mb.into(), free_hugepage_mb())?;
        }
        if STARTED.swap(true, Ordering::AcqRel) {
            return Err(Error::AlreadyInitialised);
        }
        let started = start(&arguments(options));
        // DPDK pins its main thread, but whoever starts it is not one of the workers.
        let restored = sched_setaffinity(None, &affinity);
        started?;
        restored.map_err(|errno| Error::Affinity { what: "restore", errno })?;
        Ok(Self { _started: () })
    }

    /// Ticks of [`tsc`](crate::tsc) in a second.
    #[must_use]
    pub fn tsc_hz(&self) -> u64 {
        // SAFETY: reads an integer that was measured when DPDK started.
        unsafe { dpdk_sys::rte_get_tsc_hz() }
    }
}

/// The release of DPDK that Weft was built with, such as `DPDK 22.11.11`.
#[must_use]
pub fn version() -> &'static str {
    // SAFETY: it is a static string with a NUL at its end.
    let text = unsafe { CStr::from_ptr(dpdk_sys::dp_version()) };
    text.to_str().unwrap_or("unknown")
}

fn arguments(options: &EalOptions) -> Vec<String> {
    let memory: &[&str] = if options.hugepages {
        // Allowing one PCI device, which is none, keeps DPDK from probing all of them.
        &["--in-memory", "-a", "0000:00:00.0"]
    } else {
        // DPDK 22.11 refuses --no-huge together with --in-memory.
        &["--no-huge", "--no-shconf", "--no-pci"]
    };
    let memory_mb = options.memory_mb.to_string();
    let lcore = format!("0@{}", options.main_core);
    ["weft"]
        .iter()
        .chain(memory)
        .chain(&["--no-telemetry", "-m", &memory_mb, "--lcores", &lcore])
        .map(|&argument| argument.to_owned())
        .collect()
}

fn start(arguments: &[String]) -> Result<()> {
    let mut pointers: Vec<*mut c_char> = arguments
        .iter()
        // DPDK may keep them, so they are never freed.
        .map(|text| CString::new(text.as_str()).expect("arguments hold no NUL").into_raw())
        .collect();
    let count = c_int::try_from(pointers.len()).expect("there are few arguments");
    pointers.push(std::ptr::null_mut());

    let (status, log) = log::capture(|| {
        if log::open() != 0 {
            return -1;
        }
        // SAFETY: `pointers` are `count` strings and a null, and the strings live for ever.
        // SAFETY: this is the first and only call, as STARTED was false.
        unsafe { dpdk_sys::rte_eal_init(count, pointers.as_mut_ptr()) }
    });
    Errno::check(status).map_err(|errno| Error::Initialise { errno, log })
}

fn read_affinity() -> Result<CpuSet> {
    sched_getaffinity(None).map_err(|errno| Error::Affinity { what: "read", errno })
}

fn check_core(core: u32, affinity: &CpuSet) -> Result<()> {
    let allowed = |core: usize| core < CpuSet::MAX_CPU && affinity.is_set(core);
    if allowed(core as usize) {
        return Ok(());
    }
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&core| allowed(core)).collect();
    Err(Error::CoreNotAllowed { core, allowed: list(&cores) })
}

/// Cores in ascending order as `0-3,8`.
fn list(cores: &[usize]) -> String {
    cores
        .chunk_by(|a, b| a + 1 == *b)
        .map(|run| match run {
            [first, .., last] => format!("{first}-{last}"),
            one => one.iter().map(ToString::to_string).collect(),
        })
        .collect::<Vec<_>>()
        .join(",")
}

fn check_hugepages(needed_mb: u64, free_mb: u64) -> Result<()> {
    if free_mb < needed_mb {
        return Err(Error::Hugepages { needed_mb, free_mb });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_named_devices_are_probed_with_hugepages_and_no_pci_device_without() {
        let options = EalOptions { hugepages: true, memory_mb: 512, main_core: 3 };
        assert_eq!(
            arguments(&options).join(" "),
            "weft --in-memory -a 0000:00:00.0 --no-telemetry -m 512 --lcores 0@3"
        );
        assert_eq!(
            arguments(&EalOptions { hugepages: false, ..options }).join(" "),
            "weft --no-huge --no-shconf --no-pci --no-telemetry -m 512 --lcores 0@3"
        );
    }

    #[test]
    fn a_core_outside_the_affinity_is_refused_with_those_inside() {
        let mut affinity = CpuSet::new();
        for core in [0, 1, 2, 3, 8] {
            affinity.set(core);
        }
        assert_eq!(check_core(8, &affinity), Ok(()));
        for core in [4, 4_000_000] {
            let allowed = "0-3,8".to_owned();
            assert_eq!(check_core(core, &affinity), Err(Error::CoreNotAllowed { core, allowed }));
        }
    }

    #[test]
    fn too_few_hugepages_are_refused_with_the_command_that_reserves_them() {
        assert_eq!(check_hugepages(512, 512), Ok(()));
        let refused = check_hugepages(513, 512).unwrap_err().to_string();
        assert!(
            refused.contains("513 MB of hugepages are needed and 512 MB are free"),
            "{refused}"
        );
        assert!(refused.contains("`sysctl vm.nr_hugepages=257`"), "{refused}");
    }
}
