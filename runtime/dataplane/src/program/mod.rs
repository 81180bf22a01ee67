//! Programs: the action lists that packets run. Flows that share a list share a program.

mod action;
mod apply;
mod copy;
mod interner;
mod mpls;
mod set_field;
mod tag;
mod ttl;

pub use action::{Action, Field, PushMpls, SetField, Tag};
pub use apply::apply;
pub(crate) use interner::{ProgramId, Programs};
