use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Which parts of IP packets a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum IpFragment {
    /// Packets that are not fragments.
    No,
    /// First fragments: they have the transport header.
    First,
    /// Fragments after the first: they have none.
    Later,
    /// Fragments, first or later.
    Any,
}
