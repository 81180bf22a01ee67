//! VLAN tags on and off (IEEE 802.1Q).

use super::Tag;
use crate::{DropReason, Packet, packet::Headers};

/// The bytes of the two MAC addresses, before the tag.
const ADDRESSES: usize = 12;
/// The bytes of a tag.
const TAG: usize = 4;

pub(super) fn push<P: Packet>(
    tag: Tag,
    packet: &mut P,
    headers: &mut Headers,
) -> Result<(), DropReason> {
    let frame = packet.push_front(TAG).ok_or(DropReason::NoHeadroom)?;
    frame.copy_within(TAG..TAG + ADDRESSES, 0);
    frame[ADDRESSES..ADDRESSES + 2].copy_from_slice(&tag.tpid.to_be_bytes());
    frame[ADDRESSES + 2..ADDRESSES + TAG].copy_from_slice(&tag.tci.to_be_bytes());
    headers.moved_back(4);
    headers.vlan_tags = headers.vlan_tags.saturating_add(1);
    Ok(())
}

pub(super) fn pop<P: Packet>(packet: &mut P, headers: &mut Headers) -> Result<(), DropReason> {
    if headers.vlan_tags == 0 {
        return Err(DropReason::NotApplicable);
    }
    packet.bytes_mut().copy_within(0..ADDRESSES, TAG);
    packet.pull_front(TAG).expect("a packet with a tag is longer than a tag");
    headers.moved_forward(4);
    headers.vlan_tags -= 1;
    Ok(())
}
