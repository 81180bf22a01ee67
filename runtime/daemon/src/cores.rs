//! Which cores there are, which of them poll, and how threads get there.

use std::{collections::BTreeSet, sync::Arc};

use hwlocality::{
    Topology,
    cpu::{binding::CpuBindingFlags, cpuset::CpuSet},
};

/// Why cores could not be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CoresError {
    /// The machine's topology could not be read.
    #[error("cannot read this machine's topology: {0}")]
    Topology(String),
    /// A core was named that the process may not use.
    #[error(
        "workers.cores names core {core}, which this process may not use; it may use {allowed:?} \
         (see taskset and the cpuset of its cgroup)"
    )]
    NotAllowed {
        /// The core.
        core: u32,
        /// What may be used.
        allowed: Vec<u32>,
    },
    /// A core was named twice.
    #[error("workers.cores names core {0} twice; each worker needs a core of its own")]
    Twice(u32),
    /// No core was named.
    #[error("workers.cores is empty; name at least one core, or leave it out")]
    Empty,
    /// A thread could not be bound.
    #[error("cannot bind a thread to cores {cores:?}: {reason}")]
    Bind {
        /// Where it was to run.
        cores: Vec<u32>,
        /// Why not.
        reason: String,
    },
}

/// The cores that this process may use, and who runs where.
#[derive(Debug, Clone)]
pub(crate) struct Cores {
    topology: Arc<Topology>,
    /// One for each worker.
    pub(crate) workers: Vec<u32>,
    /// For everything else.
    pub(crate) control: Vec<u32>,
}

impl Cores {
    /// Reads the topology and gives each worker its core.
    pub(crate) fn read(wanted: Option<&[u32]>) -> Result<Self, CoresError> {
        let topology = Topology::new().map_err(|error| CoresError::Topology(error.to_string()))?;
        let allowed = allowed(&topology)?;
        let workers = choose(&allowed, wanted)?;
        let mut control: Vec<u32> =
            allowed.iter().copied().filter(|core| !workers.contains(core)).collect();
        if control.is_empty() {
            control = allowed;
        }
        Ok(Self { topology: Arc::new(topology), workers, control })
    }

    /// Moves the calling thread, and the threads that it will start, off the workers' cores.
    pub(crate) fn enter_control(&self) -> Result<(), CoresError> {
        self.bind(&self.control)
    }

    /// Moves the calling thread to one core.
    pub(crate) fn enter(&self, core: u32) -> Result<(), CoresError> {
        self.bind(&[core])
    }

    /// The NUMA node of a core, if the machine says.
    pub(crate) fn node(&self, core: u32) -> Option<u32> {
        let unit = self.topology.pu_with_os_index(core as usize)?;
        let node = unit.nodeset()?.first_set()?;
        u32::try_from(usize::from(node)).ok()
    }

    fn bind(&self, cores: &[u32]) -> Result<(), CoresError> {
        let set: CpuSet =
            cores.iter().map(|&core| core as usize).fold(CpuSet::new(), |mut set, core| {
                set.set(core);
                set
            });
        self.topology
            .bind_cpu(&set, CpuBindingFlags::THREAD)
            .map_err(|error| CoresError::Bind { cores: cores.to_vec(), reason: error.to_string() })
    }
}

/// The cores that the machine, the cgroup and the process's own affinity all allow.
fn allowed(topology: &Topology) -> Result<Vec<u32>, CoresError> {
    let bound = topology
        .cpu_binding(CpuBindingFlags::PROCESS)
        .map_err(|error| CoresError::Topology(error.to_string()))?;
    let allowed = topology.allowed_cpuset();
    let cores = allowed.iter_set().filter(|core| bound.is_set(*core));
    Ok(cores.filter_map(|core| u32::try_from(usize::from(core)).ok()).collect())
}

/// The workers' cores: those asked for, or all but the first.
fn choose(allowed: &[u32], wanted: Option<&[u32]>) -> Result<Vec<u32>, CoresError> {
    let Some(wanted) = wanted else {
        let others = allowed.get(1..).filter(|others| !others.is_empty());
        return Ok(others.unwrap_or(allowed).to_vec());
    };
    let mut seen = BTreeSet::new();
    for &core in wanted {
        if !allowed.contains(&core) {
            return Err(CoresError::NotAllowed { core, allowed: allowed.to_vec() });
        }
        if !seen.insert(core) {
            return Err(CoresError::Twice(core));
        }
    }
    if wanted.is_empty() { Err(CoresError::Empty) } else { Ok(wanted.to_vec()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_cores_but_the_first_poll_unless_it_is_alone() {
        assert_eq!(choose(&[0, 2, 5], None).unwrap(), [2, 5]);
        assert_eq!(choose(&[3], None).unwrap(), [3]);
    }

    #[test]
    fn says_which_cores_it_refuses() {
        let refused = |wanted: &[u32]| choose(&[0, 1], Some(wanted)).unwrap_err().to_string();
        assert!(refused(&[7]).contains("core 7") && refused(&[7]).contains("[0, 1]"));
        assert!(refused(&[1, 1]).contains("core 1 twice"));
        assert!(refused(&[]).contains("empty"));
        assert_eq!(choose(&[0, 1], Some(&[1])).unwrap(), [1]);
    }
}
