//! Fields of ARP for IPv4 over Ethernet (RFC 826), as offsets into its packet.

use super::bytes::write;
use crate::packet::{Headers, ethertype};

pub(in crate::program) const OPERATION: usize = 6;
pub(in crate::program) const SENDER_MAC: usize = 8;
pub(in crate::program) const SENDER_IP: usize = 14;
pub(in crate::program) const TARGET_MAC: usize = 18;
pub(in crate::program) const TARGET_IP: usize = 24;

pub(super) fn set_operation(frame: &mut [u8], headers: &Headers, operation: u8) -> Option<()> {
    set(frame, headers, OPERATION, &[0, operation])
}

pub(super) fn set(frame: &mut [u8], headers: &Headers, field: usize, value: &[u8]) -> Option<()> {
    write(frame, start(headers)? + field, value)
}

/// Where the ARP packet begins, if there is one.
pub(in crate::program) fn start(headers: &Headers) -> Option<usize> {
    headers.l3.filter(|_| headers.ethertype == ethertype::ARP).map(usize::from)
}
