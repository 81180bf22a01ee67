//! Reads and writes of a frame, none of which goes past its end.

use std::ops::Range;

use crate::packet::checksum;

pub(super) fn array<const N: usize>(frame: &[u8], place: usize) -> Option<[u8; N]> {
    frame.get(place..)?.first_chunk().copied()
}

pub(super) fn word(frame: &[u8], place: usize) -> Option<u16> {
    array(frame, place).map(u16::from_be_bytes)
}

pub(super) fn write(frame: &mut [u8], place: usize, value: &[u8]) -> Option<()> {
    frame.get_mut(place..place + value.len())?.copy_from_slice(value);
    Some(())
}

/// Brings a checksum up to date.
pub(super) fn change_checksum(frame: &mut [u8], at: usize, old: &[u8], new: &[u8]) -> Option<()> {
    let place: Range<usize> = at..at + 2;
    let sum = checksum::update_bytes(word(frame, at)?, old, new);
    frame.get_mut(place)?.copy_from_slice(&sum.to_be_bytes());
    Some(())
}
