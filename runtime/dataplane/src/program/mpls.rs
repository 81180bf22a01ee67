//! The label stack of MPLS (RFC 3032): labels on, off and changed. Headers behind a label that came
//! or went are then to be read again.

use super::{PushMpls, ttl};
use crate::{
    DropReason, Packet,
    packet::{Headers, ethertype},
};

/// The bytes of an entry.
const ENTRY: usize = 4;
const LABEL_SHIFT: u32 = 12;
const TRAFFIC_CLASS_SHIFT: u32 = 9;
const LABEL: u32 = 0xffff_f000;
const TRAFFIC_CLASS: u32 = 0x0000_0e00;
const BOTTOM: u32 = 0x0000_0100;
const TTL: u32 = 0x0000_00ff;
/// The TTL of a label on what has none itself.
const DEFAULT_TTL: u8 = 64;

/// Puts a label on, behind the VLAN tags.
pub(super) fn push<P: Packet>(
    label: PushMpls,
    packet: &mut P,
    headers: &Headers,
) -> Result<(), DropReason> {
    if headers.ethertype < ethertype::FIRST {
        return Err(DropReason::NotApplicable);
    }
    let ttl = label.ttl.unwrap_or_else(|| own_ttl(packet.bytes(), headers));
    let bottom = if ethertype::is_mpls(headers.ethertype) { 0 } else { BOTTOM };
    let entry = place(LABEL_SHIFT, LABEL, label.label)
        | place(TRAFFIC_CLASS_SHIFT, TRAFFIC_CLASS, label.traffic_class.into())
        | bottom
        | u32::from(ttl);
    let start = start(headers);
    let frame = packet.push_front(ENTRY).ok_or(DropReason::NoHeadroom)?;
    frame.copy_within(ENTRY..ENTRY + start, 0);
    frame[start - 2..start].copy_from_slice(&label.ethertype.to_be_bytes());
    frame[start..start + ENTRY].copy_from_slice(&entry.to_be_bytes());
    Ok(())
}

/// Takes the outermost label off. What is behind the last label is what `ethertype` says.
pub(super) fn pop<P: Packet>(
    ethertype: u16,
    packet: &mut P,
    headers: &Headers,
) -> Result<(), DropReason> {
    let entry = read(packet.bytes(), headers).ok_or(DropReason::NotApplicable)?;
    let start = start(headers);
    let frame = packet.bytes_mut();
    if entry & BOTTOM != 0 {
        frame[start - 2..start].copy_from_slice(&ethertype.to_be_bytes());
    }
    frame.copy_within(0..start, ENTRY);
    packet.pull_front(ENTRY).expect("a packet with a label is longer than a label");
    Ok(())
}

/// Takes one from the outermost label's TTL (RFC 3032, 2.4.2).
pub(super) fn decrement_ttl(frame: &mut [u8], headers: &Headers) -> Result<(), DropReason> {
    read(frame, headers).ok_or(DropReason::NotApplicable)?;
    ttl::decrement_at(frame, start(headers) + ENTRY - 1)
}

pub(super) fn set_label(frame: &mut [u8], headers: &Headers, label: u32) -> Option<()> {
    change(frame, headers, LABEL, place(LABEL_SHIFT, LABEL, label))
}

pub(super) fn set_traffic_class(frame: &mut [u8], headers: &Headers, class: u8) -> Option<()> {
    let class = place(TRAFFIC_CLASS_SHIFT, TRAFFIC_CLASS, class.into());
    change(frame, headers, TRAFFIC_CLASS, class)
}

pub(super) fn set_ttl(frame: &mut [u8], headers: &Headers, ttl: u8) -> Option<()> {
    change(frame, headers, TTL, ttl.into())
}

fn change(frame: &mut [u8], headers: &Headers, mask: u32, value: u32) -> Option<()> {
    let entry = (read(frame, headers)? & !mask) | value;
    let start = start(headers);
    frame.get_mut(start..start + ENTRY)?.copy_from_slice(&entry.to_be_bytes());
    Some(())
}

fn place(shift: u32, mask: u32, value: u32) -> u32 {
    value << shift & mask
}

/// Where the first label is, or would be.
fn start(headers: &Headers) -> usize {
    14 + 4 * usize::from(headers.vlan_tags)
}

/// The outermost entry, if there is one.
fn read(frame: &[u8], headers: &Headers) -> Option<u32> {
    if !ethertype::is_mpls(headers.ethertype) {
        return None;
    }
    frame.get(start(headers)..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

/// The TTL of the outermost label, or else of the IP packet.
fn own_ttl(frame: &[u8], headers: &Headers) -> u8 {
    let label = read(frame, headers).map(|entry| entry.to_be_bytes()[3]);
    label.or_else(|| ttl::read(frame, headers)).unwrap_or(DEFAULT_TTL)
}
