//! Rules that Weft and Open vSwitch both know, at random, and packets for them.

mod chance;
mod flow;
mod random;
mod rule;
mod traffic;
mod weft;

pub use chance::Chance;
pub use flow::flows;
pub use random::rules;
pub use rule::{
    Action, Conditions, CopiedField, Field, FragmentCondition, IpCondition, PORTS, Port,
    PortsCondition, Rule, VlanCondition,
};
pub use traffic::{Scope, frame};
