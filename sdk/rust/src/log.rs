use core::fmt::{self, Write};

use weft_abi::{imports::MAX_LOG_LINE, level};

/// How much a line of the log matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Level {
    /// Something failed.
    Error = level::ERROR,
    /// Something is odd.
    Warn = level::WARN,
    /// Something to know.
    Info = level::INFO,
    /// Something for the author.
    Debug = level::DEBUG,
}

/// Hands a line to the host's log, cut to [`MAX_LOG_LINE`] bytes. Does not allocate.
///
/// The host keeps some lines a second and counts the rest: for odd packets, not for each.
///
/// ```
/// # use weft_sdk::testing::take_log;
/// # use weft_sdk::Level;
/// let port = 7;
/// weft_sdk::log!(Warn, "port {port} is not among the {} known", 4);
/// assert_eq!(take_log(), [(Level::Warn, "port 7 is not among the 4 known".into())]);
/// ```
#[macro_export]
macro_rules! log {
    ($level:ident, $($argument:tt)+) => {
        $crate::write_log($crate::Level::$level, ::core::format_args!($($argument)+))
    };
}

/// What [`log!`](crate::log) does.
#[cold]
pub fn write(level: Level, text: fmt::Arguments<'_>) {
    let mut line = Line { bytes: [0; MAX_LOG_LINE], length: 0 };
    // It fails when the line is full, and then it has been cut as it should be.
    let _ = line.write_fmt(text);
    #[cfg(target_arch = "wasm32")]
    crate::guest::log(level, line.text());
    #[cfg(not(target_arch = "wasm32"))]
    crate::testing::keep_log(level, line.text());
}

struct Line {
    bytes: [u8; MAX_LOG_LINE],
    length: usize,
}

impl Line {
    fn text(&self) -> &str {
        let text = self.bytes.get(..self.length).unwrap_or_default();
        str::from_utf8(text).unwrap_or_default()
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = MAX_LOG_LINE - self.length;
        let fitting = &text[..text.floor_char_boundary(room)];
        self.bytes[self.length..][..fitting.len()].copy_from_slice(fitting.as_bytes());
        self.length += fitting.len();
        if fitting.len() == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::testing::take_log;

    #[test]
    fn a_line_that_fits_is_kept_whole_and_a_longer_one_is_cut_between_characters() {
        let whole = "x".repeat(MAX_LOG_LINE);
        crate::log!(Info, "{whole}");
        crate::log!(Error, "x{}", "ä".repeat(MAX_LOG_LINE));
        let cut = "x".to_string() + &"ä".repeat((MAX_LOG_LINE - 1) / 2);
        assert_eq!(take_log(), [(Level::Info, whole), (Level::Error, cut)]);
    }
}
