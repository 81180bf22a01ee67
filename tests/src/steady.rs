//! Numbered datagrams at a steady rate, and what became of them.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

/// What each datagram starts with.
const MAGIC: [u8; 8] = *b"weft-num";
/// The length of a datagram.
const LENGTH: usize = 64;
/// The sequence number of the last word, which says how many were sent.
const END: u64 = u64::MAX;
/// The last word is said more than once, for it may be lost too.
const ENDS: u32 = 5;
const BETWEEN_ENDS: Duration = Duration::from_millis(20);
/// A sleep is rarely this much too long, so the rest of a pause is spent awake.
const AWAKE: Duration = Duration::from_micros(80);

/// What a receiver saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// How many were sent; null if the sender's last word never came.
    pub sent: Option<u64>,
    /// How many came, duplicates not counted.
    pub received: u64,
    /// How many did not.
    pub lost: u64,
    /// How many came after one with a higher number.
    pub reordered: u64,
    /// How many came a second time.
    pub duplicated: u64,
    /// The longest time between two that came one after the other, in microseconds.
    pub longest_gap_us: u64,
}

impl Report {
    /// Whether all came, once, in order, and the end of them too.
    #[must_use]
    pub fn is_flawless(&self) -> bool {
        self.sent == Some(self.received)
            && (self.lost, self.reordered, self.duplicated) == (0, 0, 0)
    }
}

/// Sends `rate` datagrams a second until `stop` says so, and returns how many.
///
/// Each has its own moment counted from the start, so that a late one does not delay the rest.
///
/// # Errors
///
/// Fails if there is no socket to be had. Datagrams that the system refuses are tried again.
pub fn send(to: SocketAddr, rate: u32, mut stop: impl FnMut() -> bool) -> io::Result<u64> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    let start = Instant::now();
    let interval = Duration::from_secs(1) / rate;
    let (mut sent, mut moment) = (0, start);
    while !stop() {
        wait_for(moment);
        if socket.send_to(&datagram(sent, 0), to).is_ok() {
            sent += 1;
        }
        moment += interval;
    }
    for _ in 0..ENDS {
        thread::sleep(BETWEEN_ENDS);
        // Lost or refused: there are more of them.
        let _ = socket.send_to(&datagram(END, sent), to);
    }
    Ok(sent)
}

/// Receives until the sender's last word, or until nothing came for `idle`.
///
/// # Errors
///
/// Fails if the port is taken.
pub fn receive(port: u16, idle: Duration) -> io::Result<Report> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port))?;
    socket.set_read_timeout(Some(idle))?;
    let start = Instant::now();
    let mut tally = Tally::default();
    let mut buffer = [0; LENGTH];
    while let Ok(length) = socket.recv(&mut buffer) {
        match numbers(&buffer[..length]) {
            Some((END, sent)) => return Ok(tally.report(Some(sent))),
            Some((sequence, _)) => tally.count(sequence, start.elapsed()),
            None => {}
        }
    }
    Ok(tally.report(None))
}

fn wait_for(moment: Instant) {
    let left = moment.saturating_duration_since(Instant::now());
    if let Some(asleep) = left.checked_sub(AWAKE) {
        thread::sleep(asleep);
    }
    while Instant::now() < moment {
        std::hint::spin_loop();
    }
}

fn datagram(sequence: u64, sent: u64) -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..16].copy_from_slice(&sequence.to_be_bytes());
    bytes[16..24].copy_from_slice(&sent.to_be_bytes());
    bytes
}

fn numbers(bytes: &[u8]) -> Option<(u64, u64)> {
    let number = |at: usize| bytes.get(at..)?.first_chunk().map(|eight| u64::from_be_bytes(*eight));
    if bytes.starts_with(&MAGIC) { Some((number(8)?, number(16)?)) } else { None }
}

/// What has come so far.
#[derive(Debug, Default)]
struct Tally {
    /// One bit a sequence number.
    seen: Vec<u64>,
    /// The next number if all is well.
    next: u64,
    received: u64,
    reordered: u64,
    duplicated: u64,
    last: Option<Duration>,
    longest_gap: Duration,
}

impl Tally {
    fn count(&mut self, sequence: u64, at: Duration) {
        self.longest_gap = self.longest_gap.max(at - self.last.unwrap_or(at));
        self.last = Some(at);
        if !self.mark(sequence) {
            self.duplicated += 1;
            return;
        }
        self.received += 1;
        self.reordered += u64::from(sequence < self.next);
        self.next = self.next.max(sequence + 1);
    }

    /// Whether the number is new.
    fn mark(&mut self, sequence: u64) -> bool {
        let word = usize::try_from(sequence / 64).expect("usize has 64 bits");
        let bit = 1 << (sequence % 64);
        if word >= self.seen.len() {
            self.seen.resize(word + 1, 0);
        }
        let new = self.seen[word] & bit == 0;
        self.seen[word] |= bit;
        new
    }

    fn report(&self, sent: Option<u64>) -> Report {
        Report {
            sent,
            received: self.received,
            lost: sent.unwrap_or(self.next) - self.received,
            reordered: self.reordered,
            duplicated: self.duplicated,
            longest_gap_us: u64::try_from(self.longest_gap.as_micros()).unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(sequences: &[u64], sent: Option<u64>) -> Report {
        let mut tally = Tally::default();
        for (at, &sequence) in (0u64..).zip(sequences) {
            // The pauses grow: 1 µs, 3 µs, 5 µs.
            tally.count(sequence, Duration::from_micros(at * at));
        }
        tally.report(sent)
    }

    #[test]
    fn all_in_order_is_flawless() {
        let flawless = report(&[0, 1, 2], Some(3));
        assert!(flawless.is_flawless());
        assert_eq!(flawless.longest_gap_us, 3);
        assert!(!report(&[0, 1, 2], None).is_flawless(), "more may have been sent");
    }

    #[test]
    fn lost_reordered_and_duplicated_are_told_apart() {
        let expected = Report {
            sent: Some(200),
            received: 5,
            lost: 195,
            reordered: 1,
            duplicated: 2,
            longest_gap_us: 11,
        };
        assert_eq!(report(&[0, 3, 2, 3, 130, 0, 131], Some(200)), expected);
    }

    #[test]
    fn without_the_last_word_the_highest_number_counts() {
        assert_eq!(report(&[0, 5], None).lost, 4);
        assert_eq!(report(&[], None).lost, 0);
    }

    #[test]
    fn what_is_not_ours_is_not_counted() {
        assert_eq!(numbers(&datagram(7, 9)), Some((7, 9)));
        assert_eq!(numbers(b"weft-num"), None);
        assert_eq!(numbers(&[0; LENGTH]), None);
    }

    #[test]
    fn what_is_sent_on_the_loopback_is_received() {
        let port = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))
            .and_then(|socket| socket.local_addr())
            .expect("the loopback has ports")
            .port();
        let receiver = thread::spawn(move || receive(port, Duration::from_secs(5)));
        // The receiver may be late, so the first ones may be lost; the end is not.
        let mut left = 200;
        let to = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let sent = send(to, 1000, || {
            left -= 1;
            left < 0
        });
        let report = receiver.join().expect("no panic").expect("the port is free");
        assert_eq!(sent.expect("there are sockets"), 200);
        assert_eq!(report.sent, Some(200));
        assert_eq!(report.received + report.lost, 200);
        assert!(report.received > 100, "{report:?}");
    }
}
