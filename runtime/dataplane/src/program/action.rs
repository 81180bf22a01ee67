use std::net::IpAddr;

use crate::{DropReason, GroupId, MeterId, PortId, StageId, TableId};

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
    /// Puts an outermost MPLS label on.
    PushMpls(PushMpls),
    /// Takes the outermost MPLS label off.
    PopMpls {
        /// What the last label was on.
        ethertype: u16,
    },
    /// Takes one from the outermost label's TTL, and drops what would reach zero.
    DecrementMplsTtl,
    /// Writes bits beside the packet.
    SetMetadata {
        /// The bits.
        value: u64,
        /// Those that are written.
        mask: u64,
    },
    /// Copies a field into another of its size.
    Copy {
        /// What is read.
        from: Field,
        /// What is written.
        to: Field,
    },
    /// Sends the packet where a learning switch would: to the port that its destination was last
    /// seen on, else to all but its own. Steps may follow, as behind an output.
    Normal,
    /// Sends the packet by all ports but its own. Steps may follow, as behind an output.
    Flood,
    /// Sends a copy of the packet, also if no step follows.
    Mirror(PortId),
    /// Sends a copy of one packet in so many, by chance.
    Sample {
        /// In how many.
        rate: u32,
        /// Where to.
        port: PortId,
    },
    /// Takes the packet's share of a rate; what is beyond it may be marked or dropped.
    Meter(MeterId),
    /// Goes on in the ways that a group says. Steps that follow see the packet as it was.
    Group(GroupId),
    /// Lets a stage decide.
    Stage(StageId),
    /// Looks the packet up in another table.
    Goto(TableId),
}

impl Action {
    /// Whether a lookup after it may find another key than one before it, or no packet.
    #[must_use]
    pub fn changes_key(self) -> bool {
        match self {
            Self::Output(_)
            | Self::Drop(_)
            | Self::Goto(_)
            | Self::Normal
            | Self::Flood
            | Self::Mirror(_)
            | Self::Sample { .. }
            | Self::Group(_) => false,
            Self::Set(_)
            | Self::DecrementTtl
            | Self::PushVlan(_)
            | Self::PopVlan
            | Self::PushMpls(_)
            | Self::PopMpls { .. }
            | Self::DecrementMplsTtl
            | Self::SetMetadata { .. }
            | Self::Copy { .. }
            | Self::Meter(_)
            | Self::Stage(_) => true,
        }
    }

    /// Whether what it does may depend on the metadata beside the packet.
    #[must_use]
    pub fn reads_metadata(self) -> bool {
        matches!(
            self,
            Self::Stage(_)
                | Self::Goto(_)
                | Self::Group(_)
                | Self::SetMetadata { .. }
                | Self::Copy { .. }
        )
    }

    /// The port that it sends packets to, if it names one.
    #[must_use]
    pub fn port(self) -> Option<PortId> {
        match self {
            Self::Output(port) | Self::Mirror(port) | Self::Sample { port, .. } => Some(port),
            _ => None,
        }
    }

    /// Whether a packet's headers stand elsewhere after it.
    #[must_use]
    pub fn moves_headers(self) -> bool {
        matches!(self, Self::PushVlan(_) | Self::PopVlan | Self::PushMpls(_) | Self::PopMpls { .. })
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
    /// The outermost MPLS label.
    MplsLabel(u32),
    /// The traffic class of the outermost MPLS label.
    MplsTrafficClass(u8),
    /// The TTL of the outermost MPLS label.
    MplsTtl(u8),
    /// The operation of ARP.
    ArpOperation(u8),
    /// The sender's address of ARP.
    ArpSpa([u8; 4]),
    /// The target's address of ARP.
    ArpTpa([u8; 4]),
    /// The sender's MAC address of ARP.
    ArpSha([u8; 6]),
    /// The target's MAC address of ARP.
    ArpTha([u8; 6]),
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
    /// The flow label of IPv6.
    Ipv6Label(u32),
    /// The source port of TCP, UDP or SCTP.
    L4Src(u16),
    /// The destination port of TCP, UDP or SCTP.
    L4Dst(u16),
}

/// A field that can be copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    /// The source MAC address.
    EthSrc,
    /// The destination MAC address.
    EthDst,
    /// The source address of IPv4 or IPv6.
    IpSrc,
    /// The destination address of IPv4 or IPv6.
    IpDst,
    /// The sender's address of ARP.
    ArpSpa,
    /// The target's address of ARP.
    ArpTpa,
    /// The sender's MAC address of ARP.
    ArpSha,
    /// The target's MAC address of ARP.
    ArpTha,
    /// The source port of TCP, UDP or SCTP.
    L4Src,
    /// The destination port of TCP, UDP or SCTP.
    L4Dst,
    /// As many low bits of the metadata as the other field has.
    Metadata,
}

/// An MPLS label (RFC 3032).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PushMpls {
    /// The EtherType that announces it.
    pub ethertype: u16,
    /// The label.
    pub label: u32,
    /// The traffic class.
    pub traffic_class: u8,
    /// The TTL; `None` for that of the label before, or of the IP packet, or else 64.
    pub ttl: Option<u8>,
}

/// A VLAN tag (IEEE 802.1Q).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tag {
    /// The EtherType that announces it.
    pub tpid: u16,
    /// The priority, the drop eligible indicator and the id.
    pub tci: u16,
}
