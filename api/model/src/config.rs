//! The configuration file: everything that a daemon is to run, as TOML.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    path::PathBuf,
};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Action, Invalid, Name, PortSpec, RuleSpec, StageSpec, TableNumber};

/// The whole file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where the management API is served.
    pub api: ApiConfig,
    /// The memory that packets lie in.
    pub memory: MemoryConfig,
    /// The threads that move packets.
    pub workers: WorkersConfig,
    /// The ports, by name.
    pub ports: BTreeMap<Name, PortSpec>,
    /// The modules, by name.
    pub modules: BTreeMap<Name, ModuleSource>,
    /// The stages, by name.
    pub stages: BTreeMap<Name, StageSpec>,
    /// The rules, by table and name.
    pub tables: BTreeMap<TableNumber, TableConfig>,
}

/// Where the management API is served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ApiConfig {
    /// The path of a Unix socket.
    #[schema(value_type = String)]
    pub socket: PathBuf,
    /// A loopback address and port, besides the socket.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "127.0.0.1:9177")]
    pub listen: Option<SocketAddr>,
}

/// The memory that packets lie in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MemoryConfig {
    /// Whether it is of huge pages.
    pub hugepages: Hugepages,
    /// How much there is, in MiB.
    #[schema(minimum = 1)]
    pub size_mb: u32,
}

/// Whether memory is of huge pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Hugepages {
    /// If the machine has enough of them.
    #[default]
    Auto,
    /// Always; without them the daemon does not start.
    On,
    /// Never.
    Off,
}

/// The threads that move packets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkersConfig {
    /// The cores that they are pinned to, one each; without it, all that the daemon may use but the
    /// first, or that one if it is alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 1)]
    pub cores: Option<Vec<u32>>,
}

/// Where a module's bytes are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ModuleSource {
    /// A file, relative to the configuration's.
    #[schema(value_type = String)]
    pub path: PathBuf,
}

/// One table of rules.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TableConfig {
    /// The rules, by name.
    pub rules: BTreeMap<Name, RuleSpec>,
}

/// Why a configuration was refused.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Not TOML, or not of this shape. The message has the line and shows it.
    #[error(transparent)]
    Shape(#[from] toml::de::Error),
    /// Of this shape, but not fit to run: everything that is wrong.
    #[error("the configuration is not fit to run:{}", lines(.0))]
    Invalid(Vec<Invalid>),
}

fn lines(invalid: &[Invalid]) -> String {
    invalid.iter().map(|invalid| format!("\n  {invalid}")).collect()
}

impl Default for ApiConfig {
    fn default() -> Self {
        Self { socket: "/run/weft/api.sock".into(), listen: None }
    }
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self { hugepages: Hugepages::default(), size_mb: 512 }
    }
}

impl Config {
    /// Reads a file's text and checks it.
    ///
    /// # Errors
    ///
    /// If it is not TOML, has an unknown key or a wrong type, or is not fit to run.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        let config: Self = toml::from_str(text)?;
        let invalid = config.validate();
        if invalid.is_empty() { Ok(config) } else { Err(ConfigError::Invalid(invalid)) }
    }

    /// Writes a file's text, from which [`Config::from_toml`] reads an equal value.
    ///
    /// # Panics
    ///
    /// Panics if [`Config::validate`] has something to say.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("what is valid has a TOML form")
    }

    /// Everything that the shape does not forbid but that is not fit to run.
    #[must_use]
    pub fn validate(&self) -> Vec<Invalid> {
        let mut invalid = Vec::new();
        invalid.extend(self.invalid_settings().map(|(path, reason)| Invalid::at(path, reason)));
        invalid.extend(self.invalid_ports());
        invalid.extend(self.invalid_stages());
        invalid.extend(self.invalid_rules());
        invalid
    }

    fn invalid_settings(&self) -> impl Iterator<Item = (&'static [&'static str], String)> {
        let listen = self.api.listen.filter(|address| !address.ip().is_loopback());
        let listen = listen.map(|address| {
            let reason = format!("{address} is not a loopback address, and there is no TLS");
            (&["api", "listen"][..], reason)
        });
        let socket = self.api.socket.as_os_str().is_empty();
        let socket = socket.then(|| (&["api", "socket"][..], "no path is given".to_owned()));
        let size = self.memory.size_mb == 0;
        let size = size.then(|| (&["memory", "size_mb"][..], "there is no memory".to_owned()));
        let cores = self.workers.cores.as_deref().and_then(invalid_cores);
        let cores = cores.map(|reason| (&["workers", "cores"][..], reason));
        [socket, listen, size, cores].into_iter().flatten()
    }

    fn invalid_ports(&self) -> impl Iterator<Item = Invalid> {
        let mut devices = BTreeMap::new();
        self.ports.iter().filter_map(move |(name, port)| {
            let earlier = devices.insert(port.device_name(), name);
            let invalid = port.validate().err().or_else(|| {
                let reason = format!("port {} has this device already", earlier?);
                let hint = "give virtual devices different numbers, as in net_tap0 and net_tap1";
                Some(Invalid::at(&["device"], reason).hint(hint))
            });
            Some(invalid?.under(name.as_str()).under("ports"))
        })
    }

    fn invalid_stages(&self) -> impl Iterator<Item = Invalid> {
        self.stages.iter().filter_map(|(name, stage)| {
            let invalid = stage.validate().err().or_else(|| {
                let module = &stage.module;
                let reason = || format!("there is no module {module}");
                let hint = || format!("add [modules.\"{module}\"] with its path");
                let known = self.modules.contains_key(module);
                (!known).then(|| Invalid::at(&["module"], reason()).hint(hint()))
            });
            Some(invalid?.under(name.as_str()).under("stages"))
        })
    }

    fn invalid_rules(&self) -> impl Iterator<Item = Invalid> {
        self.tables.iter().flat_map(move |(table, TableConfig { rules })| {
            rules.iter().filter_map(move |(name, rule)| {
                let invalid = rule.validate(*table).err().or_else(|| self.unknown_name(rule))?;
                let invalid = invalid.under(name.as_str()).under("rules");
                Some(invalid.under(&table.to_string()).under("tables"))
            })
        })
    }

    /// The first port or stage that a rule names and that is not there.
    fn unknown_name(&self, rule: &RuleSpec) -> Option<Invalid> {
        let ports: BTreeSet<&Name> = self.ports.keys().collect();
        let no_port = |port: &Name| format!("there is no port {port}");
        if let Some(port) = rule.r#match.in_port.as_ref().filter(|port| !ports.contains(port)) {
            return Some(Invalid::at(&["match", "in_port"], no_port(port)));
        }
        rule.actions.iter().enumerate().find_map(|(index, action)| {
            let (key, reason) = match action {
                Action::Output(port) if !ports.contains(port) => ("output", no_port(port)),
                Action::Stage(stage) if !self.stages.contains_key(stage) => {
                    ("stage", format!("there is no stage {stage}"))
                }
                _ => return None,
            };
            Some(Invalid::at(&["actions", &index.to_string(), key], reason))
        })
    }
}

fn invalid_cores(cores: &[u32]) -> Option<String> {
    let mut seen = BTreeSet::new();
    if cores.is_empty() {
        return Some("no core is given; leave the key out for the default".to_owned());
    }
    let twice = cores.iter().find(|core| !seen.insert(**core))?;
    Some(format!("core {twice} is given twice"))
}
