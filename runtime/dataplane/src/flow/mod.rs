//! Flows: what tells them apart, and the cache of what was decided for them.

mod cache;
mod hash;
mod key;

pub(crate) use cache::FlowCache;
pub use hash::Seed;
pub use key::{FlowKey, layers, mpls, vlan};
