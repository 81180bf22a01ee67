//! TCP, UDP, SCTP, ICMP and ICMPv6: what of them tells flows apart.

use super::{Parsed, array, offset, u16_at};
use crate::{flow::layers, packet::Fragment};

pub(crate) mod protocol {
    //! Protocol numbers (IANA).
    pub(crate) const ICMP: u8 = 1;
    pub(crate) const TCP: u8 = 6;
    pub(crate) const UDP: u8 = 17;
    pub(crate) const ICMPV6: u8 = 58;
    pub(crate) const SCTP: u8 = 132;
    pub(crate) const DCCP: u8 = 33;
    pub(crate) const UDP_LITE: u8 = 136;
}

/// Notes that a packet is a fragment, or not. Of several fragment headers, which nobody should
/// send, the one that hides the most counts.
#[inline]
pub(super) fn mark(fragment: Fragment, parsed: &mut Parsed) {
    parsed.headers.fragment = parsed.headers.fragment.max(fragment);
    parsed.key.layers |= match fragment {
        Fragment::Not => 0,
        Fragment::First => layers::FRAGMENT,
        Fragment::Later => layers::FRAGMENT | layers::LATER_FRAGMENT,
    };
}

/// Reads the header at `start` of `packet`, which ends where the network header says.
#[inline]
pub(super) fn read(packet: &[u8], start: usize, parsed: &mut Parsed) -> Option<()> {
    if parsed.headers.fragment == Fragment::Later {
        return None;
    }
    let (source, destination) = match parsed.headers.protocol {
        protocol::TCP => tcp(packet, start, parsed)?,
        protocol::UDP => udp(packet, start, parsed.headers.fragment)?,
        protocol::SCTP => ports(packet, start, 12)?,
        protocol::ICMP | protocol::ICMPV6 => {
            // Type, code, checksum and four bytes more: no message is shorter (RFC 792, RFC 4443).
            let [kind, code, ..]: [u8; 8] = array(packet, start)?;
            (u16::from(kind), u16::from(code))
        }
        _ => return None,
    };
    parsed.key.l4_src = source;
    parsed.key.l4_dst = destination;
    parsed.key.layers |= layers::TRANSPORT;
    parsed.headers.l4 = offset(start);
    Some(())
}

/// The two ports that a header of at least `length` bytes begins with.
#[inline]
fn ports(packet: &[u8], start: usize, length: usize) -> Option<(u16, u16)> {
    let [a, b, c, d] = *packet.get(start..start + length)?.first_chunk()?;
    Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])))
}

#[inline]
fn tcp(packet: &[u8], start: usize, parsed: &mut Parsed) -> Option<(u16, u16)> {
    let found = ports(packet, start, 20)?;
    let offset_and_flags = u16_at(packet, start + 12)?;
    let length = usize::from(offset_and_flags >> 12) * 4;
    if length < 20 || packet.len() < start + length {
        return None;
    }
    parsed.key.tcp_flags = offset_and_flags & 0x0fff;
    Some(found)
}

#[inline]
fn udp(packet: &[u8], start: usize, fragment: Fragment) -> Option<(u16, u16)> {
    let found = ports(packet, start, 8)?;
    let length = usize::from(u16_at(packet, start + 4)?);
    let whole = fragment == Fragment::Not;
    if length < 8 || (whole && packet.len() < start + length) {
        return None;
    }
    Some(found)
}
