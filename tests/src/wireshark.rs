//! Wireshark's tools: they record what is on a link, and judge what a header says.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    Capture, Link,
    tool::{self, Background},
};

/// What tshark calls a frame with a wrong checksum, 0 being its number for "bad".
const BAD: &str = "ip.checksum.status == 0 || tcp.checksum.status == 0 || udp.checksum.status == 0 \
    || icmp.checksum.status == 0 || icmpv6.checksum.status == 0";

/// The frames of a file with a checksum that is wrong, each as its number and its protocols.
#[track_caller]
#[must_use]
pub fn bad_checksums(capture: &Path) -> Vec<String> {
    let path = capture.to_str().expect("the path is UTF-8");
    let text = tool::run(&[
        "tshark",
        "-r",
        path,
        "-o",
        "ip.check_checksum:TRUE",
        "-o",
        "tcp.check_checksum:TRUE",
        "-o",
        "udp.check_checksum:TRUE",
        "-Y",
        BAD,
        "-T",
        "fields",
        "-e",
        "frame.number",
        "-e",
        "frame.protocols",
    ]);
    text.lines().map(str::to_owned).collect()
}

/// A capture of any format that Wireshark knows, as a classic pcap file's bytes; none if it does
/// not know it, or it is of several link types.
#[must_use]
pub fn as_pcap(file: &Path) -> Option<Vec<u8>> {
    let converted = tempfile::NamedTempFile::new().expect("there is room for a file");
    let (source, target) = file.to_str().zip(converted.path().to_str())?;
    let end = tool::try_run(&["editcap", "-F", "pcap", source, target]);
    if end.code == 0 { fs::read(converted.path()).ok() } else { None }
}

/// A recording of a namespace's link, under way.
#[derive(Debug)]
pub struct Recording {
    file: PathBuf,
    dumpcap: Background,
}

impl Recording {
    /// Starts to record what passes a device of the namespace.
    #[track_caller]
    #[must_use]
    pub fn start(link: &Link, file: &Path) -> Self {
        let path = file.to_str().expect("the path is UTF-8");
        let dumpcap = link.start(&["dumpcap", "-q", "-P", "-i", "eth0", "-w", path]);
        // It writes the file's header when it has opened the device.
        tool::wait_until("dumpcap", || file.metadata().is_ok_and(|file| file.len() >= 24));
        Self { file: file.to_owned(), dumpcap }
    }

    /// Waits until a frame that holds `last` is in the file, and returns the frames up to it.
    #[track_caller]
    #[must_use]
    pub fn until(self, last: &[u8]) -> Capture {
        let holds = |frame: &Vec<u8>| frame.windows(last.len()).any(|window| window == last);
        let mut frames = Vec::new();
        tool::wait_until("the end of the recording", || {
            frames = Capture::read(&self.file).frames;
            frames.iter().any(holds)
        });
        drop(self.dumpcap);
        frames.truncate(frames.iter().position(holds).expect("it was seen") + 1);
        Capture { frames }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames;

    #[test]
    fn wrong_checksums_are_found_in_every_protocol() {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let file = folder.path().join("frames.pcap");
        let right: Vec<Vec<u8>> = frames::kinds().into_iter().map(|(_, frame)| frame).collect();
        Capture::new(right).write(&file);
        assert_eq!(bad_checksums(&file), [] as [&str; 0]);

        for protocol in ["ipv4-tcp", "ipv4-udp", "ipv4-icmp", "ipv6-tcp", "ipv6-udp", "icmpv6"] {
            let mut frame = frames::kind(protocol);
            *frame.last_mut().expect("it has bytes") ^= 1;
            Capture::new([frame]).write(&file);
            assert_eq!(bad_checksums(&file).len(), 1, "{protocol}");
        }
        let mut frame = frames::kind("ipv4-udp");
        frame[14 + 8] -= 1;
        Capture::new([frame]).write(&file);
        assert_eq!(bad_checksums(&file), ["1\teth:ethertype:ip:udp:data"]);
    }
}
