//! Looks after stages and links, off the workers: brings to the daemon's log what modules write
//! and how they fail, and tells groups which ports are up.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
    thread,
    time::{Duration, SystemTime},
};

use api_model::Name;
use wasm::{FaultKind, Level, StageStats};

use super::Daemon;

/// How often stages and links are looked at.
const INTERVAL: Duration = Duration::from_millis(100);

/// Watches until the daemon is gone.
pub(crate) fn start(daemon: &Arc<Daemon>) -> std::io::Result<()> {
    let daemon = Arc::downgrade(daemon);
    thread::Builder::new().name("watch".to_owned()).spawn(move || watch(&daemon))?;
    Ok(())
}

fn watch(watched: &Weak<Daemon>) {
    let mut seen = BTreeMap::new();
    loop {
        let Some(daemon) = watched.upgrade() else { return };
        daemon.look_at_links();
        let stages = daemon.stage_stats();
        drop(daemon);
        seen.retain(|name, _| stages.contains_key(name));
        for (name, stats) in &stages {
            write_log(name, stats);
            write_fault(name, stats, &mut seen);
        }
        thread::sleep(INTERVAL);
    }
}

fn write_log(stage: &Name, stats: &StageStats) {
    for line in stats.drain_log() {
        let text = line.text;
        match line.level {
            Level::Error => tracing::error!(target: "module", %stage, "{text}"),
            Level::Warn => tracing::warn!(target: "module", %stage, "{text}"),
            Level::Info => tracing::info!(target: "module", %stage, "{text}"),
            Level::Debug => tracing::debug!(target: "module", %stage, "{text}"),
        }
    }
}

/// Writes a fault once.
fn write_fault(stage: &Name, stats: &StageStats, seen: &mut BTreeMap<Name, SystemTime>) {
    let Some(fault) = stats.last_fault() else { return };
    if seen.insert(stage.clone(), fault.at) != Some(fault.at) {
        let (worker, message) = (fault.worker, &fault.message);
        let backtrace = fault.backtrace.join("; ");
        let did = match fault.kind {
            FaultKind::Deadline => "ran past its deadline",
            FaultKind::Trap => "trapped",
            FaultKind::BadVerdict => "gave a verdict that means nothing",
            FaultKind::Restart => "did not start again",
        };
        tracing::warn!(%stage, worker, backtrace, "the module {did}: {message}");
    }
}
