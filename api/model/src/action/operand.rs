use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Invalid, MplsLabel, MplsTrafficClass, Name, TagProtocol, VlanId, VlanPriority};

/// A VLAN tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PushVlan {
    /// The VLAN.
    pub vid: VlanId,
    /// The priority.
    #[serde(default)]
    pub pcp: VlanPriority,
    /// The EtherType that announces the tag.
    #[serde(default)]
    pub tpid: TagProtocol,
}

/// An MPLS label that is put on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PushMpls {
    /// The label.
    pub label: MplsLabel,
    /// The traffic class.
    #[serde(default)]
    pub tc: MplsTrafficClass,
    /// The TTL; without it, that of the label before, or of the IP packet, or else 64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u8>,
    /// What announces the label.
    #[serde(default)]
    pub eth_type: LabelProtocol,
}

/// The EtherType that announces an MPLS label (RFC 5332).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LabelProtocol {
    /// The receiver has assigned it.
    #[default]
    Mpls,
    /// The sender has assigned it.
    MplsMulticast,
}

impl LabelProtocol {
    /// The number on the wire.
    #[must_use]
    pub const fn get(self) -> u16 {
        match self {
            Self::Mpls => 0x8847,
            Self::MplsMulticast => 0x8848,
        }
    }
}

/// A copy of some packets, by chance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// One packet in so many.
    #[schema(minimum = 1)]
    pub rate: u32,
    /// The port that the copies leave by.
    pub output: Name,
}

impl Sample {
    pub(super) fn validate(&self) -> Result<(), Invalid> {
        if self.rate > 0 {
            return Ok(());
        }
        Err(Invalid::at(&["rate"], "one packet in none is no rate")
            .hint("write 1 for every packet"))
    }
}
