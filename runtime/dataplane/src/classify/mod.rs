//! Classification: rules in numbered tables, and the search through them.

mod pattern;
mod rule;
mod tables;

pub use pattern::Pattern;
pub use rule::{Rule, RuleId};
pub use tables::Tables;
