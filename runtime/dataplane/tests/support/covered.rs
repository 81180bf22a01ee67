//! Checksums and what they cover, summed up anew each time.

use dataplane::packet::{Fragment, Parsed};

use super::frames::{self, DCCP, ICMP, ICMPV6, IPV4, IPV6, SCTP, TCP, UDP, UDP_LITE};

/// The sums over what each checksum of a frame covers, itself included: they tell how right it is.
pub struct Checksums {
    header: Option<u16>,
    segment: Option<u16>,
    sctp: Option<u32>,
}

impl Checksums {
    pub fn of(frame: &[u8], parsed: &Parsed) -> Self {
        let segment = Segment::of(frame, parsed);
        let sum =
            |segment: &Segment| segment.checksum.map(|_| frames::sum(&segment.covered(frame)));
        Self {
            header: header(frame, parsed).map(frames::sum),
            segment: segment.as_ref().and_then(sum),
            sctp: segment.filter(Segment::is_whole_sctp).map(|segment| segment.crc(frame)),
        }
    }

    /// Writes the checksums of a frame such that the sums are what they were.
    pub fn restore(&self, frame: &mut [u8], parsed: &Parsed) {
        if let Some(before) = self.header {
            let place = usize::from(parsed.headers.l3.unwrap()) + 10;
            let sum = |frame: &[u8]| frames::sum(header(frame, parsed).unwrap());
            restore(frame, place, before, false, sum);
        }
        let Some(segment) = Segment::of(frame, parsed) else { return };
        if let (Some(before), Some(place)) = (self.segment, segment.checksum) {
            let is_udp = [UDP, UDP_LITE].contains(&parsed.headers.protocol);
            restore(frame, place, before, is_udp, |frame| frames::sum(&segment.covered(frame)));
        }
        if let Some(before) = self.sctp {
            let change = before ^ segment.crc(frame);
            let place = segment.start + 8;
            let bytes: [u8; 4] = frame[place..place + 4].try_into().unwrap();
            let new = u32::from_le_bytes(bytes) ^ change;
            frame[place..place + 4].copy_from_slice(&new.to_le_bytes());
        }
    }
}

/// Writes a checksum such that the sum over what it covers is `before` again.
fn restore(frame: &mut [u8], place: usize, before: u16, is_udp: bool, sum: impl Fn(&[u8]) -> u16) {
    if sum(frame) == before {
        return;
    }
    frame[place..place + 2].fill(0);
    let rest = sum(frame);
    let right = frames::sum(&[before.to_be_bytes(), (!rest).to_be_bytes()].concat());
    let right = match right {
        0 | 0xffff if is_udp => 0xffff,
        0xffff => 0,
        right => right,
    };
    frame[place..place + 2].copy_from_slice(&right.to_be_bytes());
}

/// The header of IPv4, which its checksum covers.
fn header<'a>(frame: &'a [u8], parsed: &Parsed) -> Option<&'a [u8]> {
    let start = usize::from(parsed.headers.l3.filter(|_| parsed.headers.ethertype == IPV4)?);
    let length = usize::from(frame[start] & 0xf) * 4;
    Some(&frame[start..start + length])
}

/// What IP carries.
struct Segment {
    start: usize,
    end: usize,
    /// Where the checksum of 16 bits is, if there is one.
    checksum: Option<usize>,
    source: Vec<u8>,
    /// Nothing, if the packet goes elsewhere in the end.
    destination: Vec<u8>,
    protocol: u8,
    fragment: Fragment,
}

impl Segment {
    fn of(frame: &[u8], parsed: &Parsed) -> Option<Self> {
        let headers = &parsed.headers;
        let l3 = usize::from(headers.l3?);
        let (start, end, source, destination) = match headers.ethertype {
            IPV4 => {
                let header = usize::from(frame[l3] & 0xf) * 4;
                (l3 + header, l3 + word(frame, l3 + 2), l3 + 12..l3 + 16, l3 + 16..l3 + 20)
            }
            IPV6 => {
                let start = behind_extensions(frame, frame[l3 + 6], l3 + 40);
                (start, l3 + 40 + word(frame, l3 + 4), l3 + 8..l3 + 24, l3 + 24..l3 + 40)
            }
            _ => return None,
        };
        let routed = headers.ethertype == IPV6 && is_routed(frame, frame[l3 + 6], l3 + 40);
        // The last destination stands where no action writes, so it does not matter what it is.
        let destination = if routed { 0..0 } else { destination };
        let shortest = match headers.protocol {
            _ if headers.fragment == Fragment::Later => return None,
            TCP => 20,
            UDP | UDP_LITE | DCCP | ICMP | ICMPV6 => 8,
            SCTP => 12,
            _ => return None,
        };
        let known = headers.l4.is_some() || [UDP_LITE, DCCP].contains(&headers.protocol);
        if !known || end < start + shortest {
            return None;
        }
        let is_udp = [UDP, UDP_LITE].contains(&headers.protocol);
        let place = frames::checksum_place(headers.protocol).map(|place| start + place);
        // A UDP sender need not make one (RFC 768).
        let checksum = place.filter(|place| !(is_udp && frame[*place..*place + 2] == [0, 0]));
        let (source, destination) = (frame[source].to_vec(), frame[destination].to_vec());
        let (protocol, fragment) = (headers.protocol, headers.fragment);
        Some(Self { start, end, checksum, source, destination, protocol, fragment })
    }

    /// The pseudo header and the segment as far as it is here.
    fn covered(&self, frame: &[u8]) -> Vec<u8> {
        let segment = &frame[self.start..self.end];
        if self.protocol == ICMP {
            return segment.to_vec();
        }
        let length = segment.len();
        let pseudo = frames::pseudo_header(&self.source, &self.destination, self.protocol, length);
        [&pseudo, segment].concat()
    }

    fn is_whole_sctp(&self) -> bool {
        self.protocol == SCTP && self.fragment == Fragment::Not
    }

    /// The checksum that SCTP should have, and whatever its field has.
    fn crc(&self, frame: &[u8]) -> u32 {
        let mut segment = frame[self.start..self.end].to_vec();
        segment[8..12].fill(0);
        frames::crc32c(&segment)
    }
}

fn word(frame: &[u8], place: usize) -> usize {
    usize::from(u16::from_be_bytes([frame[place], frame[place + 1]]))
}

/// The extension header at a place, if there is one and it is whole.
fn extension(frame: &[u8], number: u8, place: usize) -> Option<&[u8]> {
    let words = usize::from(*frame.get(place + 1)?);
    let length = match number {
        0 | 43 | 60 | 135 => words * 8 + 8,
        44 => 8,
        51 => words * 4 + 8,
        _ => return None,
    };
    frame.get(place..place + length)
}

fn behind_extensions(frame: &[u8], number: u8, place: usize) -> usize {
    match extension(frame, number, place) {
        Some(header) => behind_extensions(frame, header[0], place + header.len()),
        None => place,
    }
}

/// Whether a routing header has segments left.
fn is_routed(frame: &[u8], number: u8, place: usize) -> bool {
    extension(frame, number, place).is_some_and(|header| {
        (number == 43 && header[3] > 0) || is_routed(frame, header[0], place + header.len())
    })
}
