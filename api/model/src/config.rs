//! The configuration file: everything that a daemon is to run, as TOML.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    ops::RangeInclusive,
    path::PathBuf,
};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    Action, BucketSpec, CompilerConfig, GroupSpec, Invalid, MacTableSpec, MeterSpec, Name,
    PortSpec, RuleSpec, StageSpec, TableNumber, TableSpec,
};

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
    /// How modules are compiled.
    pub compiler: CompilerConfig,
    /// The ports, by name.
    pub ports: BTreeMap<Name, PortSpec>,
    /// The modules, by name.
    pub modules: BTreeMap<Name, ModuleSource>,
    /// The stages, by name.
    pub stages: BTreeMap<Name, StageSpec>,
    /// The meters, by name.
    pub meters: BTreeMap<Name, MeterSpec>,
    /// The groups, by name.
    pub groups: BTreeMap<Name, GroupSpec>,
    /// How the action `normal` remembers addresses.
    pub mac_table: MacTableSpec,
    /// The tables with their rules, by number.
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
    /// The packets that it holds at once, with those that a port replays for ever. Each takes about
    /// 2.5 KB of it.
    #[schema(minimum = 1024)]
    pub buffers: u32,
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

/// The threads that move packets, and the flows that each keeps in its cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkersConfig {
    /// The cores that they are pinned to, one each; without it, all that the daemon may use but the
    /// first, or that one if it is alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 1)]
    pub cores: Option<Vec<u32>>,
    /// Places for packets that are found by all of their headers: a power of two.
    #[schema(minimum = 1024, maximum = 4_194_304)]
    pub exact_entries: u32,
    /// The most flows.
    #[schema(minimum = 1, maximum = 4_194_304)]
    pub flow_limit: u32,
    /// How long a flow is kept without a packet, in milliseconds.
    #[schema(minimum = 1)]
    pub flow_idle_ms: u32,
    /// How long a flow is kept in all, in milliseconds; 0 for as long as packets come.
    pub flow_hard_ms: u32,
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TableConfig {
    /// What is done with packets that none of its rules matches; see [`TableSpec`].
    #[schema(min_items = 1)]
    pub miss: Vec<Action>,
    /// What says what packets are; see [`TableSpec`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classifier: Option<Name>,
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
        Self { hugepages: Hugepages::default(), size_mb: 512, buffers: 16_383 }
    }
}

impl Default for WorkersConfig {
    fn default() -> Self {
        Self {
            cores: None,
            exact_entries: 65_536,
            flow_limit: 200_000,
            flow_idle_ms: 10_000,
            flow_hard_ms: 0,
        }
    }
}

impl Default for TableConfig {
    fn default() -> Self {
        let TableSpec { miss, classifier } = TableSpec::default();
        Self { miss, classifier, rules: BTreeMap::new() }
    }
}

impl TableConfig {
    /// The table without its rules.
    #[must_use]
    pub fn spec(&self) -> TableSpec {
        TableSpec { miss: self.miss.clone(), classifier: self.classifier.clone() }
    }
}

impl WorkersConfig {
    /// The places that there can be for packets that are found by all of their headers.
    pub const EXACT_ENTRIES: RangeInclusive<u32> = 1024..=4_194_304;
    /// The flows that there can be at most.
    pub const FLOW_LIMIT: RangeInclusive<u32> = 1..=4_194_304;

    fn invalid(&self) -> impl Iterator<Item = Invalid> {
        let cores = self.cores.as_deref().and_then(invalid_cores);
        let cores = cores.map(|reason| Invalid::at(&["cores"], reason));
        let (entries, range) = (self.exact_entries, Self::EXACT_ENTRIES);
        let fits = range.contains(&entries) && entries.is_power_of_two();
        let exact = (!fits).then(|| {
            let (least, most) = (range.start(), range.end());
            let reason = format!("{entries} is not a power of two from {least} to {most}");
            Invalid::at(&["exact_entries"], reason)
        });
        let limit = (!Self::FLOW_LIMIT.contains(&self.flow_limit)).then(|| {
            let (least, most) = (Self::FLOW_LIMIT.start(), Self::FLOW_LIMIT.end());
            let reason = format!("{} is not from {least} to {most}", self.flow_limit);
            Invalid::at(&["flow_limit"], reason)
        });
        let idle = (self.flow_idle_ms == 0).then(|| {
            Invalid::at(&["flow_idle_ms"], "no flow would be kept").hint("write 1 or more")
        });
        [cores, exact, limit, idle].into_iter().flatten().map(|invalid| invalid.under("workers"))
    }
}

impl MemoryConfig {
    /// The fewest packet buffers that ports can work with.
    pub const MIN_BUFFERS: u32 = 1024;
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
        invalid.extend(self.workers.invalid());
        invalid.extend(self.compiler.invalid());
        invalid.extend(self.invalid_ports());
        invalid.extend(self.invalid_stages());
        invalid.extend(self.invalid_meters());
        invalid.extend(self.invalid_groups());
        invalid.extend(self.mac_table.validate().err().map(|it| it.under("mac_table")));
        invalid.extend(self.invalid_tables());
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
        let buffers = (self.memory.buffers < MemoryConfig::MIN_BUFFERS).then(|| {
            let reason = format!("it is less than {}", MemoryConfig::MIN_BUFFERS);
            (&["memory", "buffers"][..], reason)
        });
        [socket, listen, size, buffers].into_iter().flatten()
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

    fn invalid_meters(&self) -> impl Iterator<Item = Invalid> {
        self.meters.iter().filter_map(|(name, meter)| {
            let invalid = meter.validate().err()?;
            Some(invalid.under(name.as_str()).under("meters"))
        })
    }

    fn invalid_groups(&self) -> impl Iterator<Item = Invalid> {
        self.groups.iter().filter_map(|(name, group)| {
            let buckets = group.buckets.iter().enumerate();
            let unknown =
                || buckets.filter_map(|(place, bucket)| self.unknown_in(place, bucket)).next();
            let invalid = group.validate().err().or_else(unknown)?;
            Some(invalid.under(name.as_str()).under("groups"))
        })
    }

    /// The first port that a bucket names and that is not there.
    fn unknown_in(&self, place: usize, bucket: &BucketSpec) -> Option<Invalid> {
        let watched = bucket.watch_port.as_ref().filter(|port| !self.ports.contains_key(*port));
        let watched = watched.map(|port| Invalid::at(&["watch_port"], no_port(port)));
        let acts = || Some(self.unknown_action(&bucket.actions)?.under("actions"));
        Some(watched.or_else(acts)?.under(&place.to_string()).under("buckets"))
    }

    fn invalid_tables(&self) -> impl Iterator<Item = Invalid> {
        self.tables.iter().filter_map(move |(table, config)| {
            let unknown = || Some(self.unknown_action(&config.miss)?.under("miss"));
            let invalid = config.spec().validate(*table).err().or_else(unknown)?;
            Some(invalid.under(&table.to_string()).under("tables"))
        })
    }

    fn invalid_rules(&self) -> impl Iterator<Item = Invalid> {
        self.tables.iter().flat_map(move |(table, TableConfig { rules, .. })| {
            rules.iter().filter_map(move |(name, rule)| {
                let invalid = rule.validate(*table).err().or_else(|| self.unknown_name(rule))?;
                let invalid = invalid.under(name.as_str()).under("rules");
                Some(invalid.under(&table.to_string()).under("tables"))
            })
        })
    }

    /// The first port or stage that a rule names and that is not there.
    fn unknown_name(&self, rule: &RuleSpec) -> Option<Invalid> {
        match &rule.r#match.in_port {
            Some(port) if !self.ports.contains_key(port) => {
                Some(Invalid::at(&["match", "in_port"], no_port(port)))
            }
            _ => Some(self.unknown_action(&rule.actions)?.under("actions")),
        }
    }

    /// The first thing that one of the actions names and that is not there.
    fn unknown_action(&self, actions: &[Action]) -> Option<Invalid> {
        actions.iter().enumerate().find_map(|(index, action)| {
            let no = |what: &str, name: &Name| format!("there is no {what} {name}");
            let (path, reason) = match action {
                Action::Stage(stage) if !self.stages.contains_key(stage) => {
                    (&["stage"][..], no("stage", stage))
                }
                Action::Meter(meter) if !self.meters.contains_key(meter) => {
                    (&["meter"][..], no("meter", meter))
                }
                Action::Group(group) if !self.groups.contains_key(group) => {
                    (&["group"][..], no("group", group))
                }
                _ => {
                    let port = action.port().filter(|port| !self.ports.contains_key(*port))?;
                    (port_path(action), no_port(port))
                }
            };
            Some(Invalid::at(path, reason).under(&index.to_string()))
        })
    }
}

/// Where an action names its port.
fn port_path(action: &Action) -> &'static [&'static str] {
    match action {
        Action::Mirror(_) => &["mirror"],
        Action::Sample(_) => &["sample", "output"],
        _ => &["output"],
    }
}

fn no_port(port: &Name) -> String {
    format!("there is no port {port}")
}

fn invalid_cores(cores: &[u32]) -> Option<String> {
    let mut seen = BTreeSet::new();
    if cores.is_empty() {
        return Some("no core is given; leave the key out for the default".to_owned());
    }
    let twice = cores.iter().find(|core| !seen.insert(**core))?;
    Some(format!("core {twice} is given twice"))
}
