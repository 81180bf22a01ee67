//! Rules that Weft and Open vSwitch both know, at random, and packets for them.

mod chance;
mod flow;
mod random;
mod rule;
mod traffic;

pub use chance::Chance;
pub use flow::flows;
pub use random::rules;
pub use rule::{
    Action, Conditions, Field, FragmentCondition, IpCondition, PORTS, Port, Rule, VlanCondition,
};
pub use traffic::{Scope, frame};
