use std::net::IpAddr;

use crate::{DropReason, PortId, StageId, TableId};

/// One step of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Sends the packet; a copy of it, if more steps follow.
    Output(PortId),
    /// Drops the packet.
    Drop(DropReason),
    /// Writes a header field.
    Set(SetField),
    /// Takes one from the TTL or hop limit, and drops what would reach zero.
    DecrementTtl,
    /// Puts an outermost VLAN tag on.
    PushVlan(Tag),
    /// Takes the outermost VLAN tag off.
    PopVlan,
    /// Lets a stage decide.
    Stage(StageId),
    /// Looks the packet up in another table.
    Goto(TableId),
}

impl Action {
    /// Whether a lookup after it may find another key than one before it.
    #[must_use]
    pub fn changes_key(self) -> bool {
        match self {
            Self::Output(_) | Self::Drop(_) | Self::Goto(_) => false,
            Self::Set(_)
            | Self::DecrementTtl
            | Self::PushVlan(_)
            | Self::PopVlan
            | Self::Stage(_) => true,
        }
    }

    /// Whether a packet's headers stand elsewhere after it.
    #[must_use]
    pub fn moves_headers(self) -> bool {
        matches!(self, Self::PushVlan(_) | Self::PopVlan)
    }
}

/// A header field and what is written there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SetField {
    /// The source MAC address.
    EthSrc([u8; 6]),
    /// The destination MAC address.
    EthDst([u8; 6]),
    /// The id of the outermost VLAN tag.
    VlanVid(u16),
    /// The priority of the outermost VLAN tag.
    VlanPcp(u8),
    /// The source address; needs a packet of that version.
    IpSrc(IpAddr),
    /// The destination address; needs a packet of that version.
    IpDst(IpAddr),
    /// The differentiated services code point.
    Dscp(u8),
    /// The congestion notification bits.
    Ecn(u8),
    /// The TTL or hop limit.
    Ttl(u8),
    /// The source port of TCP or UDP.
    L4Src(u16),
    /// The destination port of TCP or UDP.
    L4Dst(u16),
}

/// A VLAN tag (IEEE 802.1Q).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tag {
    /// The EtherType that announces it.
    pub tpid: u16,
    /// The priority, the drop eligible indicator and the id.
    pub tci: u16,
}
