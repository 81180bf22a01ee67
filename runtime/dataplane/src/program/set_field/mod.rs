//! Header fields written in place, with every checksum that covers them.

pub(super) mod arp;
mod bytes;
mod extension;
pub(super) mod ip;
mod transport;

use bytes::{word, write};

use super::{SetField, mpls};
use crate::{DropReason, packet::Headers};

/// Writes one field.
pub(super) fn set(field: SetField, frame: &mut [u8], headers: &Headers) -> Result<(), DropReason> {
    let done = match field {
        SetField::EthDst(address) => write(frame, 0, &address),
        SetField::EthSrc(address) => write(frame, 6, &address),
        SetField::VlanVid(vid) => set_tag(frame, headers, 0x0fff, vid),
        SetField::VlanPcp(pcp) => set_tag(frame, headers, 0xe000, u16::from(pcp) << 13),
        SetField::MplsLabel(label) => mpls::set_label(frame, headers, label),
        SetField::MplsTrafficClass(class) => mpls::set_traffic_class(frame, headers, class),
        SetField::MplsTtl(ttl) => mpls::set_ttl(frame, headers, ttl),
        SetField::ArpOperation(operation) => arp::set_operation(frame, headers, operation),
        SetField::ArpSpa(address) => arp::set(frame, headers, arp::SENDER_IP, &address),
        SetField::ArpTpa(address) => arp::set(frame, headers, arp::TARGET_IP, &address),
        SetField::ArpSha(address) => arp::set(frame, headers, arp::SENDER_MAC, &address),
        SetField::ArpTha(address) => arp::set(frame, headers, arp::TARGET_MAC, &address),
        SetField::IpSrc(address) => ip::set_source(frame, headers, address),
        SetField::IpDst(address) => ip::set_destination(frame, headers, address),
        SetField::Dscp(dscp) => ip::set_traffic_class(frame, headers, 0xfc, dscp << 2),
        SetField::Ecn(ecn) => ip::set_traffic_class(frame, headers, 0x03, ecn),
        SetField::Ttl(ttl) => ip::set_ttl(frame, headers, ttl),
        SetField::Ipv6Label(label) => ip::set_label(frame, headers, label),
        SetField::L4Src(port) => transport::set_port(frame, headers, 0, port),
        SetField::L4Dst(port) => transport::set_port(frame, headers, 2, port),
    };
    done.ok_or(DropReason::NotApplicable)
}

fn set_tag(frame: &mut [u8], headers: &Headers, mask: u16, value: u16) -> Option<()> {
    const TCI: usize = 14;
    let tci = word(frame, TCI).filter(|_| headers.vlan_tags > 0)?;
    write(frame, TCI, &((tci & !mask) | (value & mask)).to_be_bytes())
}
