//! Packets out of captures of the classic format (draft-ietf-opsawg-pcap).

use std::{
    fs::File,
    io::{self, BufReader, Read},
    num::NonZeroU64,
    path::Path,
};

use crate::error::Error;

/// The link type of Ethernet.
const ETHERNET: u32 = 1;
/// Above the link type stands how long frame check sequences are.
const LINK_TYPE: u32 = 0x0fff_ffff;
/// The most bytes of a packet that tools write.
const LONGEST: u32 = 262_144;

/// The bytes of a packet of a capture file, of which the first is number 1.
pub(crate) fn packet(path: &Path, number: NonZeroU64) -> Result<Vec<u8>, Error> {
    let file = File::open(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    find(BufReader::new(file), number)
        .map_err(|reason| Error::Content { path: path.to_owned(), reason })
}

fn find(mut capture: impl Read, number: NonZeroU64) -> Result<Vec<u8>, String> {
    let head: [u8; 24] = take(&mut capture)?.ok_or("it is too short to be a capture")?;
    let order = Order::of(word(&head, 0))?;
    let link = order.number(word(&head, 20)) & LINK_TYPE;
    if link != ETHERNET {
        return Err(format!("its packets are not of Ethernet, but of link type {link}"));
    }
    for index in 1..number.get() {
        next(&mut capture, order, index)?;
    }
    next(&mut capture, order, number.get())
}

/// The next packet, which is number `index`.
fn next(capture: &mut impl Read, order: Order, index: u64) -> Result<Vec<u8>, String> {
    let Some(head) = take::<16>(capture)? else {
        return Err(format!("it has only {} packets", index - 1));
    };
    let length = order.number(word(&head, 8));
    if length > LONGEST {
        return Err(format!("it is broken: packet {index} would have {length} bytes"));
    }
    let mut bytes = Vec::new();
    let read = capture.take(length.into()).read_to_end(&mut bytes);
    if read.map_err(|error| error.to_string())? < length as usize {
        return Err(format!("it ends within packet {index}"));
    }
    Ok(bytes)
}

/// In which order the bytes of numbers stand.
#[derive(Clone, Copy)]
enum Order {
    Little,
    Big,
}

impl Order {
    fn of(magic: [u8; 4]) -> Result<Self, String> {
        match magic {
            [0xd4, 0xc3, 0xb2, 0xa1] | [0x4d, 0x3c, 0xb2, 0xa1] => Ok(Self::Little),
            [0xa1, 0xb2, 0xc3, 0xd4] | [0xa1, 0xb2, 0x3c, 0x4d] => Ok(Self::Big),
            [0x0a, 0x0d, 0x0d, 0x0a] => {
                Err("it is of the newer format; convert it by `editcap -F pcap`".to_owned())
            }
            _ => Err("it is no capture".to_owned()),
        }
    }

    fn number(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }
}

fn word(head: &[u8], offset: usize) -> [u8; 4] {
    *head[offset..].first_chunk().expect("heads are longer than their last number's place")
}

/// So many bytes; none at the end.
fn take<const N: usize>(from: &mut impl Read) -> Result<Option<[u8; N]>, String> {
    let mut bytes = [0; N];
    match from.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A capture of these packets, its numbers written by `write`.
    fn capture(magic: u32, link: u32, packets: &[&[u8]], write: fn(u32) -> [u8; 4]) -> Vec<u8> {
        let mut bytes: Vec<u8> =
            [magic, 0, 0, 0, 65_535, link].into_iter().flat_map(write).collect();
        for packet in packets {
            let length = u32::try_from(packet.len()).unwrap();
            bytes.extend([0, 0, length, length].into_iter().flat_map(write));
            bytes.extend_from_slice(packet);
        }
        bytes
    }

    fn get(capture: &[u8], number: u64) -> Result<Vec<u8>, String> {
        find(capture, NonZeroU64::new(number).unwrap())
    }

    #[test]
    fn packets_are_found_by_number_in_any_byte_order() {
        let packets: [&[u8]; 3] = [b"one", b"", b"three"];
        for (magic, write) in [
            (0xa1b2_c3d4, u32::to_le_bytes as fn(u32) -> [u8; 4]),
            (0xa1b2_c3d4, u32::to_be_bytes),
            (0xa1b2_3c4d, u32::to_le_bytes),
            (0xa1b2_3c4d, u32::to_be_bytes),
        ] {
            let capture = capture(magic, 1, &packets, write);
            for (number, packet) in (1..).zip(packets) {
                assert_eq!(get(&capture, number), Ok(packet.to_vec()));
            }
            assert_eq!(get(&capture, 4), Err("it has only 3 packets".into()));
        }
    }

    #[test]
    fn what_is_no_whole_capture_is_refused_with_the_reason() {
        let good = capture(0xa1b2_c3d4, 1, &[b"one"], u32::to_le_bytes);
        let wifi = capture(0xa1b2_c3d4, 105, &[b"one"], u32::to_le_bytes);
        let mut broken = good.clone();
        broken[35] = 0xff;
        let newer = [&[0x0a, 0x0d, 0x0d, 0x0a][..], &[0; 30]].concat();
        for (bytes, expected) in [
            (&b"x"[..], "it is too short to be a capture"),
            (&[0; 24], "it is no capture"),
            (&newer, "it is of the newer format; convert it by `editcap -F pcap`"),
            (&wifi, "its packets are not of Ethernet, but of link type 105"),
            (&good[..good.len() - 1], "it ends within packet 1"),
            (&good[..30], "it has only 0 packets"),
            (&broken, "it is broken: packet 1 would have 4278190083 bytes"),
        ] {
            assert_eq!(get(bytes, 1), Err(expected.to_owned()));
        }
    }
}
