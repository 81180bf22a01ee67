//! Programs: the action lists that packets run. Flows that share a list share a program.

mod action;
mod apply;
mod interner;
mod set_field;
mod tag;
mod ttl;

pub use action::{Action, SetField, Tag};
pub(crate) use apply::apply;
pub(crate) use interner::{ProgramId, Programs};
