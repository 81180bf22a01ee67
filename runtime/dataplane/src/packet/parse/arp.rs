//! ARP for IPv4 over Ethernet (RFC 826).

use super::{Parsed, array, offset};
use crate::flow::layers;

/// Ethernet, IPv4, and the lengths of their addresses.
const ETHERNET_IPV4: [u8; 6] = [0, 1, 8, 0, 6, 4];

pub(super) fn read(frame: &[u8], start: usize, parsed: &mut Parsed) -> Option<()> {
    let arp: [u8; 28] = array(frame, start)?;
    if arp[..6] != ETHERNET_IPV4 {
        return None;
    }
    let key = &mut parsed.key;
    // Operations above 255 were never assigned; they read as 0, which is reserved.
    key.protocol = if arp[6] == 0 { arp[7] } else { 0 };
    key.ipv4_src.copy_from_slice(&arp[14..18]);
    key.ipv4_dst.copy_from_slice(&arp[24..28]);
    key.ipv6_src[..6].copy_from_slice(&arp[8..14]);
    key.ipv6_dst[..6].copy_from_slice(&arp[18..24]);
    key.layers |= layers::NETWORK;
    parsed.headers.l3 = offset(start);
    Some(())
}
