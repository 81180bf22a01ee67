//! The configuration file's ports, modules, stages, meters, groups and rules, made one after the other in the
//! order in which they need each other. Ports are polled last, so that the first packet finds the
//! rules.

use std::path::Path;

use anyhow::{Context, Result};
use api_model::Config;
use api_server::Control;

use crate::control::{Daemon, RuleKey};

/// Makes everything that the file names, or says what could not be made. Forgets the file then: it
/// may be large.
pub(crate) fn apply(daemon: &Daemon, config: Config, file: Option<&Path>) -> Result<()> {
    let folder = file.and_then(Path::parent).unwrap_or_else(|| Path::new(""));
    let attached = daemon
        .attach_first(&config.ports)
        .map_err(|(name, refused)| anyhow::Error::new(refused).context(format!("port {name}")))?;
    for (name, source) in &config.modules {
        let path = folder.join(&source.path);
        let wasm = std::fs::read(&path)
            .with_context(|| format!("module {name}: cannot read {}", path.display()))?;
        daemon
            .put_module(Some(name), &wasm)
            .with_context(|| format!("module {name} of {}", path.display()))?;
    }
    for (name, spec) in &config.stages {
        daemon.put_stage(name, spec.clone()).with_context(|| format!("stage {name}"))?;
    }
    for (name, spec) in &config.meters {
        daemon.put_meter(name, spec.clone()).with_context(|| format!("meter {name}"))?;
    }
    for (name, spec) in &config.groups {
        daemon.put_group(name, spec.clone()).with_context(|| format!("group {name}"))?;
    }
    daemon.put_mac_table(config.mac_table).context("mac_table")?;
    for (table, tabled) in &config.tables {
        daemon.put_table(*table, tabled.spec()).with_context(|| format!("table {table}"))?;
    }
    make_rules(daemon, &config)?;
    drop(config);
    daemon.poll_first(attached).context("the ports cannot be polled")
}

/// Makes the rules of all tables together, so that many take no longer than they must.
fn make_rules(daemon: &Daemon, config: &Config) -> Result<()> {
    let rules = config.tables.iter().flat_map(|(table, tabled)| {
        tabled.rules.iter().map(|(name, spec)| ((*table, name.clone()), spec))
    });
    let rules: Vec<_> = rules.collect();
    let made = daemon.make_rules(&rules).map_err(|(rule, refused)| {
        let about = rule.map_or_else(
            || "the rules".to_owned(),
            |(table, name): RuleKey| format!("rule {name} of table {table}"),
        );
        anyhow::Error::new(refused).context(about)
    });
    made.map(drop)
}
