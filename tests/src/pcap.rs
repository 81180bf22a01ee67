//! Classic pcap files, read and written whole.

use std::{fs, path::Path};

const MAGIC_MICROSECONDS: u32 = 0xa1b2_c3d4;
const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
const ETHERNET: u32 = 1;
const SNAP_LENGTH: u32 = 262_144;
const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;

/// The frames of a capture, in order; times are not kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capture {
    /// Each frame from its first byte, as far as it was captured.
    pub frames: Vec<Vec<u8>>,
}

/// Why bytes are no capture that [`Capture`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotACapture {
    /// Not a classic pcap file: perhaps pcapng.
    Format,
    /// Not of Ethernet frames, but of this link type.
    LinkType(u32),
}

impl Capture {
    /// A capture of these frames.
    #[must_use]
    pub fn new(frames: impl IntoIterator<Item = Vec<u8>>) -> Self {
        Self { frames: frames.into_iter().collect() }
    }

    /// Reads a file.
    ///
    /// # Panics
    ///
    /// Panics if there is no such file, or it is no classic pcap of Ethernet frames.
    #[must_use]
    pub fn read(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self::parse(&bytes).unwrap_or_else(|why| panic!("{}: {why:?}", path.display()))
    }

    /// Reads a file's bytes, up to the first record that is cut or longer than any frame.
    ///
    /// # Errors
    ///
    /// Fails if the file's header is not that of a classic pcap of Ethernet frames.
    pub fn parse(bytes: &[u8]) -> Result<Self, NotACapture> {
        let header = bytes.get(..FILE_HEADER).ok_or(NotACapture::Format)?;
        let big_endian = [MAGIC_MICROSECONDS, MAGIC_NANOSECONDS].contains(&word(header, 0, true));
        let little_endian =
            [MAGIC_MICROSECONDS, MAGIC_NANOSECONDS].contains(&word(header, 0, false));
        if !big_endian && !little_endian {
            return Err(NotACapture::Format);
        }
        // The upper half may tell how long a check sequence is.
        match word(header, 20, big_endian) & 0xffff {
            ETHERNET => Ok(Self { frames: records(&bytes[FILE_HEADER..], big_endian) }),
            other => Err(NotACapture::LinkType(other)),
        }
    }

    /// Writes a file, with a microsecond between frames.
    ///
    /// # Panics
    ///
    /// Panics if the file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) {
        let path = path.as_ref();
        fs::write(path, self.to_bytes()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }

    fn to_bytes(&self) -> Vec<u8> {
        let version = u32::from_le_bytes([2, 0, 4, 0]);
        let header = [MAGIC_MICROSECONDS, version, 0, 0, SNAP_LENGTH, ETHERNET];
        let mut bytes: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
        for (at, frame) in (0u32..).zip(&self.frames) {
            let length = u32::try_from(frame.len()).expect("a frame is shorter than 4 GiB");
            let record = [at / 1_000_000, at % 1_000_000, length, length];
            bytes.extend(record.iter().flat_map(|word| word.to_le_bytes()));
            bytes.extend(frame);
        }
        bytes
    }
}

fn records(mut bytes: &[u8], big_endian: bool) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    while let Some((header, rest)) = bytes.split_at_checked(RECORD_HEADER) {
        let length = word(header, 8, big_endian);
        let Some((frame, rest)) = rest.split_at_checked(length as usize) else { break };
        if length > SNAP_LENGTH {
            break;
        }
        frames.push(frame.to_vec());
        bytes = rest;
    }
    frames
}

fn word(bytes: &[u8], at: usize, big_endian: bool) -> u32 {
    let word = bytes[at..].first_chunk().expect("the header is whole");
    if big_endian { u32::from_be_bytes(*word) } else { u32::from_le_bytes(*word) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let capture = Capture::new([vec![1, 2, 3], vec![], vec![9; 1514]]);
        assert_eq!(Capture::parse(&capture.to_bytes()), Ok(capture));
    }

    #[test]
    fn a_file_of_the_other_byte_order_reads_the_same() {
        let words = [MAGIC_NANOSECONDS, 0x0002_0004, 0, 0, SNAP_LENGTH, ETHERNET, 0, 0, 2, 60];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        bytes.extend([7, 8]);
        assert_eq!(Capture::parse(&bytes), Ok(Capture::new([vec![7, 8]])));
    }

    #[test]
    fn a_cut_record_ends_the_capture() {
        let mut bytes = Capture::new([vec![1; 60], vec![2; 60]]).to_bytes();
        bytes.truncate(bytes.len() - 1);
        assert_eq!(Capture::parse(&bytes), Ok(Capture::new([vec![1; 60]])));
    }

    #[test]
    fn other_formats_and_link_types_are_refused_by_name() {
        assert_eq!(
            Capture::parse(b"\x0a\x0d\x0d\x0a of pcapng, and more"),
            Err(NotACapture::Format)
        );
        let mut bytes = Capture::default().to_bytes();
        bytes[20] = 101;
        assert_eq!(Capture::parse(&bytes), Err(NotACapture::LinkType(101)));
    }

    #[test]
    fn wireshark_reads_what_is_written() {
        let file = tempfile::NamedTempFile::new().expect("there is room for a file");
        Capture::new([vec![0; 60], vec![0; 60]]).write(file.path());
        let path = file.path().to_str().expect("the path is UTF-8");
        let lengths = crate::run(&["tshark", "-r", path, "-T", "fields", "-e", "frame.len"]);
        assert_eq!(lengths, "60\n60\n");
    }
}
