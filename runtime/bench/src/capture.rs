use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

use crate::workload::Header;

/// A replay loop of fewer would not fill bursts.
const FEWEST: usize = 512;

/// Writes a capture of one frame for each flow, and the same again until there are 512. Returns how
/// many there are.
pub(crate) fn write(path: &Path, headers: &[Header], size: usize) -> io::Result<usize> {
    let rounds = FEWEST.div_ceil(headers.len().max(1));
    let mut file = BufWriter::new(File::create(path)?);
    // Microseconds, version 2.4, Ethernet.
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 1] {
        file.write_all(&u32::to_le_bytes(word))?;
    }
    for header in (0..rounds).flat_map(|_| headers) {
        let frame = header.frame(size);
        let length = u32::try_from(frame.len()).expect("a frame is shorter than 4 GiB");
        for word in [0, 0, length, length] {
            file.write_all(&u32::to_le_bytes(word))?;
        }
        file.write_all(&frame)?;
    }
    file.flush()?;
    Ok(rounds * headers.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Flows, RuleSet, Workload};

    #[test]
    fn few_flows_are_repeated_in_turn_until_bursts_are_full() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("three.pcap");
        let headers = Workload::new(RuleSet::One, 1, Flows::Replayed(3), 0).headers;
        assert_eq!(write(&path, &headers, 64).unwrap(), 513);
        let bytes = std::fs::read(path).unwrap();
        assert_eq!(bytes.len(), 24 + 513 * (16 + 60));
        let records = bytes[24..].chunks(76).map(|record| record[16..].to_vec());
        let expected = (0..513).map(|at| headers[at % 3].frame(64));
        assert!(records.eq(expected));
    }
}
