//! What chains should make of a frame, computed slowly and by another library than the engine's.

use etherparse::{Ipv4Header, NetSlice, SlicedPacket, VlanSlice};

/// A frame as etherparse sees it.
///
/// # Panics
///
/// Panics if it has a malformed header: the twins are for well-formed traffic.
#[must_use]
pub fn slices(frame: &[u8]) -> SlicedPacket<'_> {
    SlicedPacket::from_ethernet(frame).unwrap_or_else(|error| panic!("{error}: {frame:02x?}"))
}

/// The frame after a hop with these addresses of the next link; none if its time is over.
#[must_use]
pub fn router_hop(frame: &[u8], source: [u8; 6], destination: [u8; 6]) -> Option<Vec<u8>> {
    let mut hopped = frame.to_vec();
    let sliced = slices(frame);
    let tags = match sliced.vlan() {
        None => 0,
        Some(VlanSlice::SingleVlan(_)) => 1,
        Some(VlanSlice::DoubleVlan(_)) => 2,
    };
    let start = 14 + 4 * tags;
    match sliced.net {
        Some(NetSlice::Ipv4(_)) => {
            let (mut header, payload) = Ipv4Header::from_slice(&frame[start..]).expect("it parsed");
            header.time_to_live = header.time_to_live.checked_sub(1).filter(|ttl| *ttl > 0)?;
            header.header_checksum = header.calc_header_checksum();
            let end = frame.len() - payload.len();
            hopped[start..end].copy_from_slice(&header.to_bytes());
        }
        Some(NetSlice::Ipv6(ip)) => {
            let limit = ip.header().hop_limit();
            hopped[start + 7] = limit.checked_sub(1).filter(|limit| *limit > 0)?;
        }
        _ => return Some(hopped),
    }
    hopped[..6].copy_from_slice(&destination);
    hopped[6..12].copy_from_slice(&source);
    Some(hopped)
}

/// The frame with its addresses exchanged.
#[must_use]
pub fn macswap(frame: &[u8]) -> Vec<u8> {
    [&frame[6..12], &frame[..6], &frame[12..]].concat()
}

/// The frame with an IEEE 802.1Q tag in front of its type.
#[must_use]
pub fn push_vlan(frame: &[u8], vid: u16) -> Vec<u8> {
    [&frame[..12], &[0x81, 0x00], &vid.to_be_bytes(), &frame[12..]].concat()
}

/// The frame without its first tag.
#[must_use]
pub fn pop_vlan(frame: &[u8]) -> Vec<u8> {
    [&frame[..12], &frame[16..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capture, bad_checksums, frames};

    #[test]
    fn a_hop_takes_one_from_the_time_to_live_and_keeps_the_checksum_right() {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let file = folder.path().join("hopped.pcap");
        let hop = |(_, frame): (_, Vec<u8>)| router_hop(&frame, [2; 6], [4; 6]);
        let hopped = Capture::new(frames::kinds().into_iter().filter_map(hop));
        hopped.write(&file);
        assert_eq!(bad_checksums(&file), [] as [&str; 0]);
        let path = file.to_str().expect("the path is UTF-8");
        let fields = ["-e", "ip.ttl", "-e", "ipv6.hlim"];
        let ttls = crate::run(&[&["tshark", "-r", path, "-T", "fields"][..], &fields].concat());
        assert_eq!(ttls.matches("63").count(), frames::kinds().len() - 2, "all but ARP and LLDP");
    }

    #[test]
    fn a_packet_at_the_end_of_its_time_makes_no_hop() {
        let last = frames::udp_between(frames::SOURCE, frames::TARGET, (1, 2), 1);
        assert_eq!(router_hop(&last, [2; 6], [4; 6]), None);
    }

    #[test]
    fn what_is_pushed_can_be_popped() {
        let frame = frames::kind("ipv4-udp");
        assert_eq!(pop_vlan(&push_vlan(&frame, 10)), frame);
        assert_eq!(macswap(&macswap(&frame)), frame);
        let tagged = push_vlan(&frame, 10);
        let Some(VlanSlice::SingleVlan(tag)) = slices(&tagged).vlan() else { panic!("no tag") };
        assert_eq!(tag.vlan_identifier().value(), 10);
    }
}
