//! Classification: rules in numbered tables, and the search through them.
//!
//! A table is a tuple space: its patterns lie in a hash table for each mask that they have. A lookup
//! goes through the masks from the highest priority on, and notes which bits it looked at, so that
//! its answer holds for every packet that agrees in these. That they are few, it looks at the fields
//! in stages and at prefixes in a trie, as Open vSwitch does (Pfaff and others, "The Design and
//! Implementation of Open vSwitch", NSDI 2015, section 5).

mod classification;
mod pattern;
mod prefix;
mod rule;
mod subtable;
mod table;
mod tables;
mod touched;
mod trie;

pub use classification::Classification;
pub use pattern::Pattern;
pub use rule::{Rule, RuleId};
pub(crate) use tables::Resolution;
pub use tables::{Ask, Step, Tables};
pub use touched::{Patterns, Touched};
