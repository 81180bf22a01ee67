//! The resources of Weft's management API, its configuration file and its command line: one schema.
//!
//! A resource has a *spec*, which clients write, and a *status*, which the daemon adds. What parses
//! has the right shape; what no shape can say is in the `validate` methods, whose answer is an
//! [`Invalid`] that points at the field. This crate knows neither HTTP nor the engine.
#![forbid(unsafe_code)]

mod action;
mod batch;
mod compiler_config;
mod config;
mod explain;
mod field;
mod fields;
mod flow;
mod group;
mod invalid;
mod mac_table;
mod matching;
mod meter;
mod module;
mod name;
mod port;
mod problem;
mod rule;
mod set_field;
mod stage;
mod stats;
mod table;
mod version;
mod worker;

pub use action::{Action, CopiedField, CopyField, LabelProtocol, PushMpls, PushVlan, Sample};
pub use batch::{DeleteRule, PutRule, RuleBatch, RuleOperation, RulesChanged};
pub use compiler_config::CompilerConfig;
pub use config::{
    ApiConfig, Config, ConfigError, Hugepages, MemoryConfig, ModuleSource, TableConfig,
    WorkersConfig,
};
pub use explain::{
    Decision, ExplainRequest, ExplainStep, Explanation, PacketBytes, PacketBytesError,
};
pub use field::{
    ArpOperation, Dscp, Ecn, EtherType, IpAddress, IpFragment, IpMatch, IpProtocol, Ipv6Label,
    L4PortMatch, MacAddress, MacMatch, Metadata, MplsBottom, MplsLabel, MplsTrafficClass,
    TagProtocol, TcpFlagsMatch, TextError, Treatment, VlanId, VlanMatch, VlanPriority,
};
pub use fields::Fields;
pub use flow::{CacheLevel, Flow, FlowCursor, FlowCursorError, FlowQuery, Flows, RuleKey};
pub use group::{BucketSpec, BucketStatus, Group, GroupKind, GroupSpec, GroupStatus};
pub use invalid::Invalid;
pub use mac_table::{MacEntry, MacTable, MacTableSpec, MacTableStatus};
pub use matching::Match;
pub use meter::{ColorCounters, Meter, MeterAlgorithm, MeterSpec, MeterStatus, MeterUnit};
pub use module::Module;
pub use name::{Name, NameError};
pub use port::{DeviceCounters, Link, Port, PortCounters, PortSpec, PortStatus};
pub use problem::{Code, Problem};
pub use rule::{Rule, RuleQuery, RuleSpec, RuleStatus};
pub use set_field::SetField;
pub use stage::{FaultCounters, OnFault, Stage, StageSpec, StageStatus, VerdictCounters};
pub use stats::{RuleStats, Stats};
pub use table::{FlowTable, TableNumber, TableSpec, TableStatus};
pub use version::{Readiness, Version};
pub use worker::Worker;
