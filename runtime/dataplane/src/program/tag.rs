//! VLAN tags on and off (IEEE 802.1Q). The headers behind them are then to be read again: they
//! have moved, and another tag may have come into sight or gone out of it.

use super::Tag;
use crate::{DropReason, Packet, packet::Headers};

/// The bytes of the two MAC addresses, before the tag.
const ADDRESSES: usize = 12;
/// The bytes of a tag.
const TAG: usize = 4;

pub(super) fn push<P: Packet>(tag: Tag, packet: &mut P) -> Result<(), DropReason> {
    let frame = packet.push_front(TAG).ok_or(DropReason::NoHeadroom)?;
    frame.copy_within(TAG..TAG + ADDRESSES, 0);
    frame[ADDRESSES..ADDRESSES + 2].copy_from_slice(&tag.tpid.to_be_bytes());
    frame[ADDRESSES + 2..ADDRESSES + TAG].copy_from_slice(&tag.tci.to_be_bytes());
    Ok(())
}

pub(super) fn pop<P: Packet>(packet: &mut P, headers: &Headers) -> Result<(), DropReason> {
    if headers.vlan_tags == 0 {
        return Err(DropReason::NotApplicable);
    }
    packet.bytes_mut().copy_within(0..ADDRESSES, TAG);
    packet.pull_front(TAG).expect("a packet with a tag is longer than a tag");
    Ok(())
}
