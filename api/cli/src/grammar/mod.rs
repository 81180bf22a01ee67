//! The words that people write on the command line, and the API's values for them.

pub(crate) mod action;
pub(crate) mod condition;
pub(crate) mod config;
mod pairs;
pub(crate) mod size;
pub(crate) mod steering;
