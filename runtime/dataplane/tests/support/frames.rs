//! Frames, put together header by header, with every checksum summed up over the whole.

pub const ICMP: u8 = 1;
pub const TCP: u8 = 6;
pub const UDP: u8 = 17;
pub const ICMPV6: u8 = 58;
pub const SCTP: u8 = 132;
pub const DCCP: u8 = 33;
pub const UDP_LITE: u8 = 136;

pub const IPV4: u16 = 0x0800;
pub const IPV6: u16 = 0x86dd;
pub const ARP: u16 = 0x0806;
pub const MPLS: u16 = 0x8847;
pub const MPLS_MULTICAST: u16 = 0x8848;

/// The sum of 16-bit words in one's complement (RFC 1071), the last byte padded by a zero.
pub fn sum(bytes: &[u8]) -> u16 {
    let words =
        bytes.chunks(2).map(|word| u64::from(word[0]) << 8 | u64::from(*word.get(1).unwrap_or(&0)));
    let mut sum: u64 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    u16::try_from(sum).unwrap()
}

/// The checksum of SCTP (RFC 9260, appendix A), bit by bit.
pub fn crc32c(bytes: &[u8]) -> u32 {
    let mut register = u32::MAX;
    for byte in bytes {
        register ^= u32::from(*byte);
        for _ in 0..8 {
            let carry = register & 1 == 1;
            register >>= 1;
            register ^= if carry { 0x82f6_3b78 } else { 0 };
        }
    }
    !register
}

/// An SCTP packet with its checksum, which stands there with its lowest byte first.
pub fn seal_sctp(mut segment: Vec<u8>) -> Vec<u8> {
    segment[8..12].fill(0);
    let checksum = crc32c(&segment).to_le_bytes();
    segment[8..12].copy_from_slice(&checksum);
    segment
}

/// What a transport checksum covers besides its segment (RFC 8200, 8.1; of IPv4 the same sum).
pub fn pseudo_header(source: &[u8], destination: &[u8], protocol: u8, length: usize) -> Vec<u8> {
    let length = u32::try_from(length).unwrap().to_be_bytes();
    [source, destination, &length, &[0, 0, 0, protocol]].concat()
}

/// Where the checksum is in a segment.
pub fn checksum_place(protocol: u8) -> Option<usize> {
    match protocol {
        TCP => Some(16),
        UDP | UDP_LITE | DCCP => Some(6),
        ICMP | ICMPV6 => Some(2),
        _ => None,
    }
}

pub fn ethernet(tags: &[[u16; 2]], ethertype: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    frame.extend(tags.iter().flatten().flat_map(|word| word.to_be_bytes()));
    frame.extend(ethertype.to_be_bytes());
    frame.extend(payload);
    frame
}

/// An entry of a label stack.
pub fn label(label: u32, class: u8, is_last: bool, ttl: u8) -> [u8; 4] {
    let low = u32::from(class << 1 | u8::from(is_last)) << 8 | u32::from(ttl);
    (label << 12 | low).to_be_bytes()
}

pub fn arp(operation: u16) -> Vec<u8> {
    let mut packet = vec![0, 1, 8, 0, 6, 4];
    packet.extend(operation.to_be_bytes());
    packet.extend([2, 0, 0, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2]);
    packet
}

/// An IPv4 or IPv6 header.
#[derive(Debug, Clone)]
pub struct Ip {
    /// Four bytes, or sixteen.
    pub source: Vec<u8>,
    pub destination: Vec<u8>,
    pub ttl: u8,
    pub traffic_class: u8,
    pub protocol: u8,
    /// IPv4's options, a multiple of four bytes.
    pub options: Vec<u8>,
    /// IPv4's flags and fragment offset.
    pub fragment: u16,
    /// IPv6's flow label.
    pub label: u32,
    /// IPv6's extension headers: number and bytes, of which the first is the next header's.
    pub extensions: Vec<(u8, Vec<u8>)>,
}

impl Ip {
    pub fn v4() -> Self {
        Self {
            source: vec![10, 0, 0, 1],
            destination: vec![10, 0, 0, 2],
            ttl: 64,
            traffic_class: 0,
            protocol: UDP,
            options: Vec::new(),
            fragment: 0,
            label: 0x54321,
            extensions: Vec::new(),
        }
    }

    pub fn v6() -> Self {
        let address = |last| [&[0x20, 1, 0xd, 0xb8][..], &[0; 11], &[last]].concat();
        Self { source: address(1), destination: address(2), ..Self::v4() }
    }

    pub fn with(&self, protocol: u8) -> Self {
        Self { protocol, ..self.clone() }
    }

    /// An IPv6 header and one more extension header at its end.
    pub fn extended(mut self, number: u8, header: &[u8]) -> Self {
        self.extensions.push((number, header.to_vec()));
        self
    }

    pub fn ethertype(&self) -> u16 {
        if self.source.len() == 4 { IPV4 } else { IPV6 }
    }

    /// The frame of a packet with this payload, as it is.
    pub fn frame(&self, tags: &[[u16; 2]], payload: &[u8]) -> Vec<u8> {
        let packet = if self.ethertype() == IPV4 { self.ipv4(payload) } else { self.ipv6(payload) };
        ethernet(tags, self.ethertype(), &packet)
    }

    fn ipv4(&self, payload: &[u8]) -> Vec<u8> {
        let header = 20 + self.options.len();
        let words = u8::try_from(header / 4).unwrap();
        let total = u16::try_from(header + payload.len()).unwrap().to_be_bytes();
        let fragment = self.fragment.to_be_bytes();
        let mut packet = vec![0x40 | words, self.traffic_class, total[0], total[1], 0x12, 0x34];
        packet.extend([fragment[0], fragment[1], self.ttl, self.protocol, 0, 0]);
        packet.extend([&self.source[..], &self.destination, &self.options].concat());
        let checksum = (!sum(&packet)).to_be_bytes();
        packet[10..12].copy_from_slice(&checksum);
        packet.extend(payload);
        packet
    }

    fn ipv6(&self, payload: &[u8]) -> Vec<u8> {
        let numbers = self.extensions.iter().map(|(number, _)| *number).chain([self.protocol]);
        let mut numbers = numbers.collect::<Vec<_>>().into_iter();
        let first = numbers.next().unwrap();
        let mut rest = Vec::new();
        for ((_, header), next) in self.extensions.iter().zip(numbers) {
            rest.push(next);
            rest.extend(&header[1..]);
        }
        rest.extend(payload);
        let length = u16::try_from(rest.len()).unwrap().to_be_bytes();
        let class = self.traffic_class;
        let first_word = 0x6000_0000 | u32::from(class) << 20 | self.label;
        let mut packet = first_word.to_be_bytes().to_vec();
        packet.extend([length[0], length[1], first, self.ttl]);
        packet.extend([&self.source[..], &self.destination, &rest].concat());
        packet
    }

    /// Where the packet goes in the end: a routing header on its way has one address more.
    fn last_destination(&self) -> &[u8] {
        let routed = |(number, header): &&(u8, Vec<u8>)| *number == 43 && header[3] > 0;
        match self.extensions.iter().find(routed) {
            Some((_, header)) if self.ethertype() == IPV6 => &header[8..24],
            _ => &self.destination,
        }
    }

    /// A segment with its checksum, which is over the addresses too unless it is ICMP.
    pub fn seal(&self, mut segment: Vec<u8>) -> Vec<u8> {
        if self.protocol == SCTP {
            return seal_sctp(segment);
        }
        let Some(place) = checksum_place(self.protocol) else { return segment };
        segment[place..place + 2].fill(0);
        let destination = self.last_destination();
        let pseudo = pseudo_header(&self.source, destination, self.protocol, segment.len());
        let pseudo = if self.protocol == ICMP { Vec::new() } else { pseudo };
        let covered = match u16::from_be_bytes([segment[4], segment[5]]) {
            covered @ 1.. if self.protocol == UDP_LITE => &segment[..covered.into()],
            _ => &segment,
        };
        let checksum = match !sum(&[&pseudo, covered].concat()) {
            0 if [UDP, UDP_LITE].contains(&self.protocol) => 0xffff,
            checksum => checksum,
        };
        segment[place..place + 2].copy_from_slice(&checksum.to_be_bytes());
        segment
    }

    /// The frame of a packet with this segment, whose checksum is made right.
    pub fn sealed(&self, tags: &[[u16; 2]], segment: Vec<u8>) -> Vec<u8> {
        self.frame(tags, &self.seal(segment))
    }
}

pub fn tcp(ports: [u16; 2], flags: u16, options: &[u8], payload: &[u8]) -> Vec<u8> {
    let words = u16::try_from(5 + options.len() / 4).unwrap();
    let mut segment: Vec<u8> = ports.iter().flat_map(|port| port.to_be_bytes()).collect();
    segment.extend([0, 0, 0, 7, 0, 0, 0, 9]);
    segment.extend((words << 12 | flags).to_be_bytes());
    segment.extend([0x20, 0, 0, 0, 0, 0]);
    segment.extend([options, payload].concat());
    segment
}

pub fn udp(ports: [u16; 2], payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(8 + payload.len()).unwrap();
    let words = [ports[0], ports[1], length, 0];
    let mut segment: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    segment.extend(payload);
    segment
}

pub fn icmp(kind: u8, code: u8, payload: &[u8]) -> Vec<u8> {
    [&[kind, code, 0, 0, 0x56, 0x78, 0, 1][..], payload].concat()
}

pub fn sctp(ports: [u16; 2], payload: &[u8]) -> Vec<u8> {
    let ports: Vec<u8> = ports.iter().flat_map(|port| port.to_be_bytes()).collect();
    [&ports[..], &[0, 0, 0, 1, 0xc5, 0xc5, 0xc5, 0xc5], payload].concat()
}

/// UDP-Lite (RFC 3828) whose checksum covers so many bytes; all of them, if that is 0.
pub fn udp_lite(ports: [u16; 2], covered: u16, payload: &[u8]) -> Vec<u8> {
    let words = [ports[0], ports[1], covered, 0];
    let mut segment: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    segment.extend(payload);
    segment
}

/// DCCP (RFC 4340) whose checksum covers everything.
pub fn dccp(ports: [u16; 2], payload: &[u8]) -> Vec<u8> {
    let ports: Vec<u8> = ports.iter().flat_map(|port| port.to_be_bytes()).collect();
    [&ports[..], &[3, 0, 0, 0, 4, 0, 0, 9], payload].concat()
}

/// An IPv6 routing header of one address (RFC 8200, 4.4).
pub fn routing_header(segments_left: u8, address: [u8; 16]) -> Vec<u8> {
    [&[0, 2, 4, segments_left, 0, 0, 0, 0][..], &address].concat()
}

/// An IPv6 fragment header; the offset is in units of eight bytes.
pub fn fragment_header(offset: u16, more: bool) -> Vec<u8> {
    let word = (offset << 3 | u16::from(more)).to_be_bytes();
    vec![0, 0, word[0], word[1], 0, 0, 0, 1]
}

/// An extension header of so many bytes, a multiple of eight.
pub fn options_header(length: usize) -> Vec<u8> {
    let mut header = vec![0; length];
    header[1] = u8::try_from(length / 8 - 1).unwrap();
    header
}

/// An authentication header of so many bytes, a multiple of four.
pub fn authentication_header(length: usize) -> Vec<u8> {
    let mut header = vec![0; length];
    header[1] = u8::try_from(length / 4 - 2).unwrap();
    header
}
