//! One test guest with many behaviours, each chosen by a packet's bytes.

use std::fmt::Write;

use crate::harness::Frame;

/// What the guest does with a packet whose first byte is the act's number. The number at byte 4
/// is the act's argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Pass,
    Drop(u32),
    Output(u32),
    Goto(u32),
    /// Answers with a number for which there may be no verdict.
    Verdict(u32),
    /// Answers nothing.
    Silent,
    /// Writes [`Act::MARK`] at byte 8 and says so.
    Rewrite,
    /// The same, and does not say so.
    RewriteQuietly,
    /// The same, and then traps.
    RewriteAndTrap,
    Unreachable,
    LoadOutside,
    DivideByZero,
    FloatOverflow,
    NullCall,
    WrongCall,
    Recurse,
    Spin,
    /// Grows the memory by so many pages; a drop if that was refused.
    GrowMemory(u32),
    /// Grows the table by so many elements; a drop if that was refused.
    GrowTable(u32),
    /// Lies about where the packet is, how long it is and where it came from.
    Scribble,
    /// Sets the metadata.
    Metadata(u32),
    /// Copies its descriptor into the window.
    Echo,
    /// Logs so many bytes from byte 8 on.
    Log(u32),
    /// Logs from where there is no memory.
    LogOutside,
    /// Logs so often.
    LogFlood(u32),
    /// Says a verdict and then traps.
    DecideAndTrap,
    /// Says a verdict on the packet after this one and then traps.
    ForestallAndTrap,
    /// Sets the counter `set`.
    Count(u32),
    /// Leaves a mark in memory.
    Remember,
    /// A drop if there is a mark in memory.
    Recall,
}

impl Act {
    pub(crate) const MARK: [u8; 4] = [0xea, 0x1d, 0xad, 0xab];

    /// Its place in the guest's table, and its argument.
    fn code(self) -> (u8, u32) {
        match self {
            Self::Pass => (0, 0),
            Self::Drop(reason) => (1, reason),
            Self::Output(port) => (2, port),
            Self::Goto(table) => (3, table),
            Self::Verdict(verdict) => (4, verdict),
            Self::Silent => (5, 0),
            Self::Rewrite => (6, 0),
            Self::RewriteQuietly => (7, 0),
            Self::RewriteAndTrap => (8, 0),
            Self::Unreachable => (9, 0),
            Self::LoadOutside => (10, 0),
            Self::DivideByZero => (11, 0),
            Self::FloatOverflow => (12, 0),
            Self::NullCall => (13, 0),
            Self::WrongCall => (14, 0),
            Self::Recurse => (15, 0),
            Self::Spin => (16, 0),
            Self::GrowMemory(pages) => (17, pages),
            Self::GrowTable(elements) => (18, elements),
            Self::Scribble => (19, 0),
            Self::Metadata(value) => (20, value),
            Self::Echo => (21, 0),
            Self::Log(length) => (22, length),
            Self::LogOutside => (23, 0),
            Self::LogFlood(lines) => (24, lines),
            Self::DecideAndTrap => (25, 0),
            Self::ForestallAndTrap => (26, 0),
            Self::Count(value) => (27, value),
            Self::Remember => (28, 0),
            Self::Recall => (29, 0),
        }
    }

    /// A frame of `length` bytes that has the guest do this.
    pub(crate) fn frame(self, length: usize) -> Frame {
        let (number, argument) = self.code();
        let mut bytes: Vec<u8> = (0..=250).cycle().take(length).collect();
        bytes[0] = number;
        bytes[4..8].copy_from_slice(&argument.to_le_bytes());
        Frame(bytes)
    }
}

/// The guest's text, in parts that a test may replace or leave out.
#[derive(Debug, Clone)]
pub(crate) struct Guest {
    pub(crate) manifest: String,
    pub(crate) imports: String,
    pub(crate) memory: String,
    pub(crate) version: String,
    pub(crate) alloc: String,
    pub(crate) init: String,
    pub(crate) batch: String,
    pub(crate) process: String,
    pub(crate) counters: String,
    /// Whatever else.
    pub(crate) more: String,
}

impl Guest {
    /// Two drop reasons, two counters, and a window of 128 bytes that is written.
    pub(crate) const MANIFEST: &'static str = r#"{"name": "guest", "version": "1.2.3",
        "writes": true, "drop_reasons": ["first", "second"], "counters": ["packets", "set"]}"#;

    /// The pages of memory that it has from the start.
    pub(crate) const PAGES: usize = 1;

    pub(crate) fn new() -> Self {
        Self {
            manifest: Self::MANIFEST.into(),
            imports: r#"(import "weft" "log" (func $log (param i32 i32 i32)))"#.into(),
            memory: r#"(memory (export "memory") 1)"#.into(),
            version: answering("weft_abi_version", "(result i32)", "i32.const 1"),
            alloc: answering("weft_alloc", "(param i32) (result i32)", "i32.const 32768"),
            init: INIT.into(),
            batch: answering("weft_batch", "(param i32 i32) (result i32)", "i32.const 4096"),
            process: include_str!("process.wat").into(),
            counters: answering("weft_counters", "(result i32)", "i32.const 16"),
            more: String::new(),
        }
    }

    pub(crate) fn text(&self) -> String {
        let Self { manifest, imports, memory, version, alloc, .. } = self;
        let Self { init, batch, process, counters, more, .. } = self;
        let mut section = String::new();
        manifest.bytes().for_each(|byte| write!(section, "\\{byte:02x}").unwrap());
        format!(
            "(module $guest {imports} {memory} {version} {alloc} {init} {batch} {process} \
             {counters} {more} (@custom \"weft.manifest\" \"{section}\"))"
        )
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        wat::parse_str(self.text()).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// An exported function that answers the same always.
pub(crate) fn answering(name: &str, signature: &str, body: &str) -> String {
    format!("(func (export \"{name}\") {signature} {body})")
}

/// What becomes of a configuration is chosen by the first letter of its JSON.
const INIT: &str = r#"
    (data (i32.const 512) "no such \1b[31mport\n")
    (func (export "weft_init") (param $config i32) (param $length i32) (result i64)
      (local $letter i32)
      (local.set $letter (i32.load8_u (local.get $config)))
      (if (i32.eq (local.get $letter) (i32.const 49)) (then unreachable))
      (if (i32.eq (local.get $letter) (i32.const 50)) (then (loop $spin (br $spin))))
      (if (i32.eq (local.get $letter) (i32.const 51))
        (then (return (i64.const 0x00000200_00000012))))
      (if (i32.eq (local.get $letter) (i32.const 52))
        (then (return (i64.const 0x0000fff8_00000012))))
      (if (i32.eq (local.get $letter) (i32.const 53))
        (then (call $log (i32.const 3) (local.get $config) (local.get $length))))
      (i64.const 0))"#;
