//! The commonest frame, read a word at a time: Ethernet without tags, IPv4 without options and
//! fragments, TCP or UDP. The other readers know all frames, these too, and say the same of them.

use super::{Parsed, protocol};
use crate::{
    PortId,
    flow::layers,
    packet::{Fragment, Headers},
};

/// The bytes up to the end of a UDP header.
const SHORTEST: usize = 42;
const ETHERNET: usize = 14;
const IPV4: usize = 20;

const _: () = assert!(cfg!(target_endian = "little"), "words are put together in this order");

/// Reads a frame; `None` if it is of another kind, or cut, or contradicts itself, and then nothing
/// is written.
#[inline]
pub(super) fn read(in_port: PortId, frame: &[u8], parsed: &mut Parsed) -> Option<()> {
    let head: &[u8; SHORTEST] = frame.first_chunk()?;
    let (macs, types, network) = (word(head, 0), word(head, 8), word(head, 16));
    let is_plain_ipv4 = types >> 32 & 0x00ff_ffff == 0x0045_0008;
    let is_fragment = network >> 32 & 0xff3f != 0;
    let total = usize::from(u16::from_be_bytes([head[16], head[17]]));
    if !is_plain_ipv4 || is_fragment || ETHERNET + total > frame.len() {
        return None;
    }
    let segment = total.checked_sub(IPV4)?;
    let protocol = head[23];
    let tcp_flags = match protocol {
        protocol::UDP => udp(head, segment)?,
        protocol::TCP => tcp(frame, segment)?,
        _ => return None,
    };
    let known = layers::NETWORK | layers::IP | layers::TRANSPORT;
    let ports = word(head, 30) >> 32;
    let ports = (ports & 0x00ff_00ff) << 8 | ports >> 8 & 0x00ff_00ff;
    parsed.key = zerocopy::transmute!([
        macs,
        types & 0xff00_0000_ffff_ffff | 0x0800 << 32 | u64::from(known) << 48,
        ports | u64::from(in_port.0) << 32 | network & 0xffff_0000_0000_0000,
        word(head, 26),
        u64::from(tcp_flags) << 32,
        0,
        0,
        0,
        0,
        0,
        0
    ]);
    parsed.headers = Headers {
        l3: Some(14),
        l4: Some(34),
        ethertype: 0x0800,
        protocol,
        vlan_tags: 0,
        fragment: Fragment::Not,
    };
    Some(())
}

/// The flags of a whole UDP header in a segment of this length: it has none.
#[inline]
fn udp(head: &[u8; SHORTEST], segment: usize) -> Option<u16> {
    let length = usize::from(u16::from_be_bytes([head[38], head[39]]));
    (length >= 8 && length <= segment).then_some(0)
}

/// The flags of a whole TCP header in a segment of this length.
#[inline]
fn tcp(frame: &[u8], segment: usize) -> Option<u16> {
    let offset_and_flags = u16::from_be_bytes([*frame.get(46)?, *frame.get(47)?]);
    let length = usize::from(offset_and_flags >> 12) * 4;
    (length >= 20 && length <= segment).then_some(offset_and_flags & 0x0fff)
}

/// Eight bytes, the first of them the lowest.
#[inline]
fn word(head: &[u8; SHORTEST], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|place| head[at + place]))
}
