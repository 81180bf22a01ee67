//! From a configuration to a daemon that polls.

use std::{
    hash::{BuildHasher, RandomState},
    sync::Arc,
    thread,
    time::Duration,
};

use anyhow::{Context, Result};
use api_model::{CompilerConfig, Config, Hugepages, MemoryConfig, WorkersConfig};
use dataplane::{flow::Seed, worker::Settings};
use dpdk::{Eal, EalOptions, Pool};

use crate::{
    control::{Daemon, watch},
    cores::Cores,
    plane::Plane,
};

/// Buffers that each thread keeps at hand.
const BUFFER_CACHE: u32 = 256;

/// Starts everything but ports, stages and rules.
pub(crate) fn daemon(config: &Config, cores: Cores) -> Result<Arc<Daemon>> {
    let eal = Eal::init(&EalOptions {
        hugepages: hugepages(&config.memory),
        memory_mb: config.memory.size_mb,
        main_core: cores.control[0],
    })?;
    let pool = Pool::new(&eal, "packets", config.memory.buffers, BUFFER_CACHE, None)?;
    let host = wasm::Host::new(host_options(&config.compiler))?;
    let seed = Seed(RandomState::new().hash_one(std::process::id()));
    let settings = settings(&config.workers, eal.tsc_hz(), seed);
    let plane = Plane::start(&cores, &eal, settings)?;
    tracing::info!(
        dpdk = dpdk::version(),
        workers = ?cores.workers,
        control = ?cores.control,
        buffers = pool.size(),
        "started"
    );
    let daemon = Arc::new(Daemon::new(eal, pool, host, cores, plane));
    watch::start(&daemon).context("cannot start the thread for the modules' log")?;
    Ok(daemon)
}

/// What the file says of each worker, with times in cycles.
fn settings(config: &WorkersConfig, cycles_a_second: u64, seed: Seed) -> Settings {
    let cycles = |ms: u32| u64::from(ms).saturating_mul(cycles_a_second) / 1000;
    Settings {
        worker: 0,
        seed,
        exact_entries: config.exact_entries as usize,
        flow_limit: config.flow_limit as usize,
        idle: cycles(config.flow_idle_ms),
        hard: cycles(config.flow_hard_ms),
    }
}

/// Modules are compiled by this very program.
fn host_options(config: &CompilerConfig) -> wasm::HostOptions {
    let compile = wasm::CompileLimits {
        time: Duration::from_millis(config.time_limit_ms.into()),
        memory_bytes: (config.memory_limit_mb as usize) << 20,
        functions: config.function_limit,
        ..wasm::CompileLimits::default()
    };
    let child = wasm::ChildProcess::of_this_program(crate::COMPILE);
    wasm::HostOptions {
        compiler: wasm::Compiler::Child(child),
        compile,
        cache: config.cache.clone(),
        ..wasm::HostOptions::default()
    }
}

/// Whether to use hugepages, and says so.
fn hugepages(memory: &MemoryConfig) -> bool {
    let (needed, free) = (u64::from(memory.size_mb), dpdk::free_hugepage_mb());
    let used = match memory.hugepages {
        Hugepages::On => true,
        Hugepages::Off => false,
        Hugepages::Auto => free >= needed,
    };
    let which = if used { "hugepages" } else { "ordinary pages" };
    tracing::info!(needed_mb = needed, free_hugepage_mb = free, "memory is of {which}");
    used
}

/// Stops everything, once the last request is done.
pub(crate) fn stop(daemon: Arc<Daemon>) {
    let mut shared = daemon;
    loop {
        match Arc::try_unwrap(shared) {
            Ok(daemon) => return daemon.stop(),
            Err(still) => {
                thread::sleep(Duration::from_millis(10));
                shared = still;
            }
        }
    }
}
