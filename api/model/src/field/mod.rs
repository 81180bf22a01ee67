//! The values of match fields and set-field actions, each with its text form.

mod arp;
mod ether_type;
mod fragment;
mod ip;
mod ip_protocol;
mod l4;
mod mac;
mod metadata;
mod number;
mod text;
mod treatment;
mod vlan;

pub use arp::ArpOperation;
pub use ether_type::EtherType;
pub use fragment::IpFragment;
pub use ip::{IpAddress, IpMatch};
pub use ip_protocol::IpProtocol;
pub use l4::{L4PortMatch, TcpFlagsMatch};
pub use mac::{MacAddress, MacMatch};
pub use metadata::Metadata;
pub use number::{
    Dscp, Ecn, Ipv6Label, MplsBottom, MplsLabel, MplsTrafficClass, VlanId, VlanPriority,
};
pub use text::TextError;
pub use treatment::Treatment;
pub use vlan::{TagProtocol, VlanMatch};
