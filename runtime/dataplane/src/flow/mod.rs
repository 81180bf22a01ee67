//! Flows: what tells them apart, and the cache of what was decided for them.

mod hash;
mod key;
mod mask;
mod signatures;

pub(crate) use hash::AsIs;
pub use hash::Seed;
pub use key::{FlowKey, layers, mpls, vlan};
pub(crate) use mask::Mask;
pub(crate) use signatures::Signatures;
