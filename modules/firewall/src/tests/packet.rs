use alloc::{vec, vec::Vec};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An IP packet, by what rules look at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain {
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    pub(super) protocol: u8,
    pub(super) ports: (u16, u16),
    pub(super) shape: Shape,
}

/// How much of it there is to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Whole,
    FirstFragment,
    /// A first fragment that ends within the ports.
    TinyFragment,
    LaterFragment,
    /// Its transport header lies beyond the window: IPv6 only.
    FarAway,
    /// It has an extension header that the host does not follow: IPv6 only.
    Hidden,
}

/// Twenty bytes that any transport protocol takes for its header.
fn transport(packet: &Plain) -> Vec<u8> {
    let mut bytes = vec![0; 20];
    bytes[..2].copy_from_slice(&packet.ports.0.to_be_bytes());
    bytes[2..4].copy_from_slice(&packet.ports.1.to_be_bytes());
    bytes[5] = 20;
    bytes[12] = 0x50;
    if packet.shape == Shape::TinyFragment {
        bytes.truncate(3);
    }
    bytes
}

/// An IPv6 extension header or several.
fn extension(packet: &Plain) -> (u8, Vec<u8>) {
    let next = packet.protocol;
    match packet.shape {
        Shape::Whole => (next, vec![]),
        Shape::FirstFragment | Shape::TinyFragment => (44, vec![next, 0, 0, 1, 0, 0, 0, 7]),
        Shape::LaterFragment => (44, vec![next, 0, 0, 8, 0, 0, 0, 7]),
        Shape::FarAway => {
            let mut options = vec![0; 96];
            options[..2].copy_from_slice(&[next, 11]);
            (0, options)
        }
        Shape::Hidden => (139, vec![next, 0, 0, 0, 0, 0, 0, 0]),
    }
}

fn length(parts: [&[u8]; 2]) -> [u8; 2] {
    u16::try_from(parts[0].len() + parts[1].len()).unwrap().to_be_bytes()
}

fn ipv4(packet: &Plain, source: Ipv4Addr, destination: Ipv4Addr) -> Vec<u8> {
    let transport = transport(packet);
    let fragment = match packet.shape {
        Shape::Whole => [0, 0],
        Shape::FirstFragment | Shape::TinyFragment => [0x20, 0],
        Shape::LaterFragment => [0, 1],
        Shape::FarAway | Shape::Hidden => panic!("IPv4 has no extension headers"),
    };
    [
        &[0x45, 0][..],
        &length([&[0; 20], &transport]),
        &[0, 0],
        &fragment,
        &[64, packet.protocol, 0, 0],
        &source.octets(),
        &destination.octets(),
        &transport,
    ]
    .concat()
}

fn ipv6(packet: &Plain, source: Ipv6Addr, destination: Ipv6Addr) -> Vec<u8> {
    let transport = transport(packet);
    let (next, extension) = extension(packet);
    [
        &[0x60, 0, 0, 0][..],
        &length([&extension, &transport]),
        &[next, 64],
        &source.octets(),
        &destination.octets(),
        &extension,
        &transport,
    ]
    .concat()
}

impl Plain {
    /// The packet in an Ethernet frame. Firewalls do not read checksums.
    pub(super) fn frame(&self) -> Vec<u8> {
        let (ethertype, packet) = match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                ([8, 0], ipv4(self, source, destination))
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                ([0x86, 0xdd], ipv6(self, source, destination))
            }
            _ => panic!("both addresses are of one family"),
        };
        [&[2; 12][..], &ethertype, &packet].concat()
    }
}
