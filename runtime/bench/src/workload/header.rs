use std::net::Ipv4Addr;

/// Ethernet addresses of every frame: destination, source.
const MACS: [u8; 12] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
/// The frame check sequence, which is on the wire and not in a capture.
const CHECK_SEQUENCE: usize = 4;
const ETHERNET: usize = 14;
const IPV4: usize = 20;
const TTL: u8 = 64;

/// What an IPv4 packet carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Protocol {
    Icmp,
    Tcp,
    Udp,
}

impl Protocol {
    /// What rules call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Icmp => "icmp",
            Self::Tcp => "tcp",
            Self::Udp => "udp",
        }
    }

    /// Whether rules can be about its ports.
    pub(crate) fn has_ports(self) -> bool {
        self != Self::Icmp
    }

    fn number(self) -> u8 {
        match self {
            Self::Icmp => 1,
            Self::Tcp => 6,
            Self::Udp => 17,
        }
    }
}

/// What tells the packets of one flow from another's. ICMP has no ports, and zeros here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Header {
    pub(crate) source: Ipv4Addr,
    pub(crate) destination: Ipv4Addr,
    pub(crate) protocol: Protocol,
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
}

impl Header {
    /// The frame as a capture holds it, of `size` bytes on the wire, the check sequence included.
    pub(crate) fn frame(&self, size: usize) -> Vec<u8> {
        let length = size - CHECK_SEQUENCE;
        let mut frame = Vec::with_capacity(length);
        frame.extend(MACS);
        frame.extend([0x08, 0x00]);
        frame.extend(self.network(length - ETHERNET));
        match self.protocol {
            Protocol::Udp => frame.extend(self.udp(length - ETHERNET - IPV4)),
            Protocol::Tcp => frame.extend(self.tcp()),
            // An echo request.
            Protocol::Icmp => frame.extend([8, 0, 0xf7, 0xff, 0, 0, 0, 0]),
        }
        frame.resize(length, 0);
        frame
    }

    /// The IPv4 header of a packet of `length` bytes, which may not be fragmented.
    fn network(&self, length: usize) -> [u8; IPV4] {
        let length = u16::try_from(length).expect("a frame is shorter than 64 KiB").to_be_bytes();
        let mut header = [0; IPV4];
        header[..4].copy_from_slice(&[0x45, 0, length[0], length[1]]);
        header[6..10].copy_from_slice(&[0x40, 0, TTL, self.protocol.number()]);
        header[12..16].copy_from_slice(&self.source.octets());
        header[16..20].copy_from_slice(&self.destination.octets());
        let sum = checksum(&header);
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        header
    }

    /// A UDP header without a checksum, for a datagram of `length` bytes.
    fn udp(&self, length: usize) -> [u8; 8] {
        let length = u16::try_from(length).expect("a frame is shorter than 64 KiB");
        let words = [self.source_port, self.destination_port, length, 0].map(u16::to_be_bytes);
        words.concat().try_into().expect("four words are eight bytes")
    }

    /// A TCP header of an acknowledgement.
    fn tcp(&self) -> [u8; 20] {
        let mut header = [0; 20];
        header[..2].copy_from_slice(&self.source_port.to_be_bytes());
        header[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        header[12..14].copy_from_slice(&[0x50, 0x10]);
        header
    }
}

fn checksum(header: &[u8; IPV4]) -> u16 {
    let words =
        header.chunks_exact(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
    let sum: u32 = words.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !u16::try_from((folded & 0xffff) + (folded >> 16)).expect("ten words fold into one")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(protocol: Protocol) -> Header {
        Header {
            source: Ipv4Addr::new(10, 0, 0, 1),
            destination: Ipv4Addr::new(11, 0, 0, 1),
            protocol,
            source_port: 1024,
            destination_port: 9,
        }
    }

    #[test]
    fn a_datagram_of_64_bytes_is_written_to_the_byte() {
        let mut expected = vec![
            2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, // Ethernet
            0x45, 0, 0, 46, 0, 0, 0x40, 0, 64, 17, 0x25, 0xbe, 10, 0, 0, 1, 11, 0, 0,
            1, // IPv4
            4, 0, 0, 9, 0, 26, 0, 0, // UDP
        ];
        expected.resize(60, 0);
        assert_eq!(header(Protocol::Udp).frame(64), expected);
    }

    #[test]
    fn every_protocol_and_size_has_the_length_that_it_says() {
        for protocol in [Protocol::Icmp, Protocol::Tcp, Protocol::Udp] {
            for size in [64, 65, 512, 1518] {
                let frame = header(protocol).frame(size);
                assert_eq!(frame.len(), size - 4);
                assert_eq!(usize::from(u16::from_be_bytes([frame[16], frame[17]])), size - 18);
            }
        }
    }
}
