//! The handlers, one file a resource.

pub(crate) mod batch;
pub(crate) mod explain;
pub(crate) mod flows;
pub(crate) mod groups;
pub(crate) mod health;
pub(crate) mod mac_table;
pub(crate) mod meters;
pub(crate) mod modules;
pub(crate) mod ports;
pub(crate) mod rules;
pub(crate) mod stages;
pub(crate) mod stats;
pub(crate) mod tables;
