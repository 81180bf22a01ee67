use super::{Action, set_field, tag, ttl};
use crate::{DropReason, Packet, packet::Headers};

/// Changes a packet as an action says.
///
/// # Errors
///
/// Why the packet is to be dropped. Its bytes are as they were.
#[inline]
pub(crate) fn apply<P: Packet>(
    action: Action,
    packet: &mut P,
    headers: &Headers,
) -> Result<(), DropReason> {
    match action {
        Action::Set(field) => set_field::set(field, packet.bytes_mut(), headers),
        Action::DecrementTtl => ttl::decrement(packet.bytes_mut(), headers),
        Action::PushVlan(tag) => tag::push(tag, packet),
        Action::PopVlan => tag::pop(packet, headers),
        Action::Drop(reason) => Err(reason),
        Action::Output(_) | Action::Stage(_) | Action::Goto(_) => Ok(()),
    }
}
