//! Frames go from a capture file through the queues into another.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod environment;

use std::{fs, path::Path};

use dataplane::{Packet, Receive, Received, Transmit};
use dpdk::{Mbuf, Pool, Port, PortConfig, RxQueue};

/// A capture in the classic format, little-endian, with microseconds.
fn write_capture(path: &Path, frames: &[Vec<u8>]) {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 262_144, 1] {
        file.extend(word.to_le_bytes());
    }
    for frame in frames {
        let length = u32::try_from(frame.len()).unwrap();
        for word in [0, 0, length, length] {
            file.extend(word.to_le_bytes());
        }
        file.extend(frame);
    }
    fs::write(path, file).unwrap();
}

fn read_capture(path: &Path) -> Vec<Vec<u8>> {
    let file = fs::read(path).unwrap();
    let mut rest = &file[24..];
    let mut frames = Vec::new();
    while !rest.is_empty() {
        let length = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        frames.push(rest[16..16 + length].to_vec());
        rest = &rest[16 + length..];
    }
    frames
}

fn frame(length: usize) -> Vec<u8> {
    (0..=250).cycle().skip(length % 251).take(length).collect()
}

/// Polls until the file is at its end.
fn receive_all(rx: &mut RxQueue) -> (Vec<Mbuf>, Received) {
    let (mut burst, mut sum) = (Vec::with_capacity(64), Received::default());
    loop {
        let old = burst.len();
        let received = rx.receive(&mut burst);
        sum.oversize_packets += received.oversize_packets;
        sum.oversize_bytes += received.oversize_bytes;
        if burst.len() == old && received == Received::default() {
            return (burst, sum);
        }
    }
}

#[test]
fn what_is_read_from_one_file_is_written_to_another() {
    let directory = tempfile::tempdir().unwrap();
    let (input, output) = (directory.path().join("in.pcap"), directory.path().join("out.pcap"));
    let frames: Vec<Vec<u8>> = [60, 61, 1514, 2048, 14].map(frame).into();
    write_capture(&input, &frames);

    let eal = environment::start();
    let pool = Pool::new(eal, "capture", 255, 0, None).unwrap();
    let devargs = format!("net_pcap0,rx_pcap={},tx_pcap={}", input.display(), output.display());
    let mut port = Port::attach(eal, &devargs).unwrap();
    let mut queues = port.start(&PortConfig::new(&pool)).unwrap();

    let (mut burst, received) = receive_all(&mut queues.rx[0]);
    assert_eq!(received, Received::default());
    assert_eq!(burst.iter().map(|mbuf| mbuf.bytes().to_vec()).collect::<Vec<_>>(), frames);
    burst[0].push_front(4).unwrap()[..4].copy_from_slice(b"weft");
    burst[1].pull_front(20).unwrap();
    assert_eq!(queues.tx[0].transmit(&mut burst), 5);

    let stats = port.stats().unwrap();
    assert_eq!((stats.rx_packets, stats.tx_packets), (5, 5));
    drop(queues);
    port.detach().unwrap();
    let mut expected = frames;
    expected[0].splice(..0, *b"weft");
    expected[1].drain(..20);
    assert_eq!(read_capture(&output), expected);
    assert_eq!(pool.free_count(), 255);
}

#[test]
fn a_frame_that_needs_several_buffers_is_counted_and_freed() {
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("jumbo.pcap");
    let lengths = [60, 2049, 61, 9018, 62];
    write_capture(&input, &lengths.map(frame));

    let eal = environment::start();
    let pool = Pool::new(eal, "jumbo", 255, 0, None).unwrap();
    let mut port = Port::attach(eal, &format!("net_pcap1,rx_pcap={}", input.display())).unwrap();
    let mut queues = port.start(&PortConfig::new(&pool)).unwrap();

    let (burst, received) = receive_all(&mut queues.rx[0]);
    assert_eq!(received, Received { oversize_packets: 2, oversize_bytes: 2049 + 9018 });
    let kept: Vec<usize> = burst.iter().map(|mbuf| mbuf.bytes().len()).collect();
    assert_eq!(kept, [60, 61, 62]);
    drop(burst);
    assert_eq!(pool.free_count(), 255, "nothing leaked");
}
