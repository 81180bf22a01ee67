use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use crossbeam::queue::ArrayQueue;
use weft_abi::{imports::MAX_LOG_LINE, level};

use crate::{pace::Pace, text::printable};

/// The lines that wait for control; more are lost.
const WAITING: usize = 128;
/// The lines a second that one stage may write, on all workers together.
const A_SECOND: u32 = 50;
/// The lines that it may write at once.
const AT_ONCE: u32 = 64;

/// How much a line of a module's log matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something failed.
    Error,
    /// Something is odd.
    Warn,
    /// Something to know. A number that is no level counts as this one.
    Info,
    /// Something for the author.
    Debug,
}

impl From<u32> for Level {
    fn from(number: u32) -> Self {
        match number {
            level::ERROR => Self::Error,
            level::WARN => Self::Warn,
            level::DEBUG => Self::Debug,
            _ => Self::Info,
        }
    }
}

/// A line of a module's log, fit for a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// How much it matters.
    pub level: Level,
    /// What the module wrote, with control characters as their codes.
    pub text: String,
    /// Whether it was longer than what is kept.
    pub cut: bool,
}

/// The lines of one stage between its workers and control: paced, bounded and of a fixed size.
#[derive(Debug)]
pub(crate) struct LogQueue {
    records: ArrayQueue<Record>,
    pace: Pace,
    lost: AtomicU64,
}

#[derive(Debug)]
struct Record {
    level: Level,
    length: usize,
    cut: bool,
    text: [u8; MAX_LOG_LINE],
}

impl LogQueue {
    pub(crate) fn new() -> Self {
        Self {
            records: ArrayQueue::new(WAITING),
            pace: Pace::new(A_SECOND, AT_ONCE),
            lost: AtomicU64::new(0),
        }
    }

    /// Keeps a line, or counts it as lost. Fit for the packet path.
    pub(crate) fn write(&self, now: Duration, level: Level, line: &[u8]) {
        let kept = self.pace.admits(now) && self.records.push(Record::new(level, line)).is_ok();
        if !kept {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Takes the lines that wait, first the oldest.
    pub(crate) fn drain(&self) -> impl Iterator<Item = LogLine> {
        // No more than there is room for, though a module should write ever on.
        (0..WAITING).map_while(|_| self.records.pop()).map(LogLine::from)
    }

    /// The lines that nobody will see.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

impl Record {
    fn new(level: Level, line: &[u8]) -> Self {
        let length = line.len().min(MAX_LOG_LINE);
        let mut text = [0; MAX_LOG_LINE];
        text[..length].copy_from_slice(&line[..length]);
        Self { level, length, cut: line.len() > length, text }
    }
}

impl From<Record> for LogLine {
    fn from(record: Record) -> Self {
        let mut kept = &record.text[..record.length];
        if record.cut
            && let Err(error) = str::from_utf8(kept)
            && error.error_len().is_none()
        {
            // The cut went through a character.
            kept = &kept[..error.valid_up_to()];
        }
        Self { level: record.level, text: printable(kept), cut: record.cut }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(level: Level, text: &str, cut: bool) -> LogLine {
        LogLine { level, text: text.into(), cut }
    }

    #[test]
    fn lines_come_out_escaped_and_in_order() {
        let logs = LogQueue::new();
        logs.write(Duration::ZERO, Level::from(1), b"one\n");
        logs.write(Duration::ZERO, Level::from(77), b"\x1b[2J");
        let drained: Vec<_> = logs.drain().collect();
        assert_eq!(
            drained,
            [line(Level::Error, "one\\u{a}", false), line(Level::Info, "\\u{1b}[2J", false)]
        );
        assert_eq!(logs.drain().count(), 0);
    }

    #[test]
    fn a_line_of_the_limit_is_whole_and_a_longer_one_is_cut_between_characters() {
        let logs = LogQueue::new();
        let whole = "x".repeat(MAX_LOG_LINE);
        let long = "x".repeat(MAX_LOG_LINE - 1) + "é";
        logs.write(Duration::ZERO, Level::Warn, whole.as_bytes());
        logs.write(Duration::ZERO, Level::Warn, long.as_bytes());
        let drained: Vec<_> = logs.drain().collect();
        let cut = &long[..MAX_LOG_LINE - 1];
        assert_eq!(drained, [line(Level::Warn, &whole, false), line(Level::Warn, cut, true)]);
    }

    #[test]
    fn what_exceeds_the_rate_or_the_room_is_counted() {
        let logs = LogQueue::new();
        for second in 0..4 {
            for _ in 0..100 {
                logs.write(Duration::from_secs(second), Level::Info, b"flood");
            }
        }
        // 64 at once, then 50 a second until the room is full.
        assert_eq!(logs.drain().count(), WAITING);
        assert_eq!(logs.lost(), 400 - u64::try_from(WAITING).unwrap());
    }
}
