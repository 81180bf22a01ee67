use super::{Action, copy, mpls, set_field, tag, ttl};
use crate::{DropReason, Packet, packet::Headers};

/// Changes a packet, or the metadata beside it, as an action says.
///
/// # Errors
///
/// Why the packet is to be dropped. Its bytes are as they were.
// Called from several places the compiler would not inline it, which costs the engine's loop 2 ns.
#[inline(always)]
pub fn apply<P: Packet>(
    action: Action,
    packet: &mut P,
    headers: &Headers,
    metadata: &mut u64,
) -> Result<(), DropReason> {
    match action {
        Action::Set(field) => set_field::set(field, packet.bytes_mut(), headers),
        Action::DecrementTtl => ttl::decrement(packet.bytes_mut(), headers),
        Action::PushVlan(tag) => tag::push(tag, packet),
        Action::PopVlan => tag::pop(packet, headers),
        Action::PushMpls(label) => mpls::push(label, packet, headers),
        Action::PopMpls { ethertype } => mpls::pop(ethertype, packet, headers),
        Action::DecrementMplsTtl => mpls::decrement_ttl(packet.bytes_mut(), headers),
        Action::SetMetadata { value, mask } => {
            *metadata = (*metadata & !mask) | (value & mask);
            Ok(())
        }
        Action::Copy { from, to } => copy::copy(from, to, packet.bytes_mut(), headers, metadata),
        Action::Drop(reason) => Err(reason),
        Action::Output(_)
        | Action::Stage(_)
        | Action::Goto(_)
        | Action::Normal
        | Action::Flood
        | Action::Mirror(_)
        | Action::Sample { .. }
        | Action::Meter(_)
        | Action::Group(_) => Ok(()),
    }
}
