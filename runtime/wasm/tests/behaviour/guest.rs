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

    /// Its number, its argument and what the guest does.
    fn code(self) -> (u8, u32, &'static str) {
        match self {
            Self::Pass => (0, 0, NEXT),
            Self::Drop(argument) => (1, argument, "(call $decide (i32.const 1) (local.get $a))"),
            Self::Output(argument) => (2, argument, "(call $decide (i32.const 2) (local.get $a))"),
            Self::Goto(argument) => (3, argument, "(call $decide (i32.const 3) (local.get $a))"),
            Self::Verdict(argument) => (4, argument, "(call $decide (local.get $a) (i32.const 0))"),
            Self::Silent => (5, 0, ""),
            Self::Rewrite => (
                6,
                0,
                "(i32.store offset=8 (local.get $w) (i32.const 0xabad1dea))
                 (i32.store offset=44 (global.get $d) (i32.const 1))
                 (call $decide (i32.const 0) (i32.const 0))",
            ),
            Self::RewriteQuietly => (
                7,
                0,
                "(i32.store offset=8 (local.get $w) (i32.const 0xabad1dea))
                 (call $decide (i32.const 0) (i32.const 0))",
            ),
            Self::RewriteAndTrap => (
                8,
                0,
                "(i32.store offset=8 (local.get $w) (i32.const 0xabad1dea))
                 (i32.store offset=44 (global.get $d) (i32.const 1))
                 unreachable",
            ),
            Self::Unreachable => (9, 0, "unreachable"),
            Self::LoadOutside => (10, 0, "(drop (i32.load (i32.const -4)))"),
            Self::DivideByZero => (11, 0, "(drop (i32.div_u (i32.const 1) (local.get $a)))"),
            Self::FloatOverflow => (12, 0, "(drop (i32.trunc_f32_s (f32.const inf)))"),
            Self::NullCall => (13, 0, "(call_indirect (i32.const 0))"),
            Self::WrongCall => (14, 0, "(call_indirect (param i64) (i64.const 0) (i32.const 1))"),
            Self::Recurse => (15, 0, "(call $recurse)"),
            Self::Spin => (16, 0, "(loop $spin (br $spin))"),
            Self::GrowMemory(pages) => {
                (17, pages, "(call $drop_if (i32.eq (memory.grow (local.get $a)) (i32.const -1)))")
            }
            Self::GrowTable(elements) => (
                18,
                elements,
                "(call $drop_if
                   (i32.eq (table.grow 0 (ref.null func) (local.get $a)) (i32.const -1)))",
            ),
            Self::Scribble => (
                19,
                0,
                "(i32.store offset=8 (global.get $d) (i32.const -64))
                 (i32.store offset=12 (global.get $d) (i32.const -1))
                 (i32.store offset=16 (global.get $d) (i32.const 0))
                 (i32.store offset=20 (global.get $d) (i32.const -1))
                 (i64.store offset=28 (global.get $d) (i64.const -1))
                 (i32.store offset=8 (local.get $w) (i32.const 0xabad1dea))
                 (i32.store offset=44 (global.get $d) (i32.const 1))
                 (call $decide (i32.const 0) (i32.const 0))",
            ),
            Self::Metadata(value) => (
                20,
                value,
                "(i64.store (global.get $d) (i64.extend_i32_u (local.get $a)))
                 (call $decide (i32.const 0) (i32.const 0))",
            ),
            Self::Echo => (
                21,
                0,
                "(memory.copy (local.get $w) (global.get $d) (i32.const 48))
                 (i32.store offset=44 (global.get $d) (i32.const 1))
                 (call $decide (i32.const 0) (i32.const 0))",
            ),
            Self::Log(length) => (
                22,
                length,
                "(call $log (i32.const 2) (i32.add (local.get $w) (i32.const 8)) (local.get $a))
                 (call $decide (i32.const 0) (i32.const 0))",
            ),
            Self::LogOutside => (23, 0, "(call $log (i32.const 2) (i32.const -16) (i32.const 64))"),
            Self::LogFlood(lines) => (
                24,
                lines,
                "(loop $more
                   (call $log (i32.const 3) (local.get $w) (i32.const 1))
                   (local.set $a (i32.sub (local.get $a) (i32.const 1)))
                   (br_if $more (local.get $a)))
                 (call $decide (i32.const 0) (i32.const 0))",
            ),
            Self::DecideAndTrap => {
                (25, 0, "(call $decide (i32.const 0) (i32.const 0)) unreachable")
            }
            Self::ForestallAndTrap => {
                (26, 0, "(i32.store offset=84 (global.get $d) (i32.const 0)) unreachable")
            }
            Self::Count(value) => (
                27,
                value,
                "(i64.store (i32.const 24) (i64.extend_i32_u (local.get $a)))
                 (call $decide (i32.const 0) (i32.const 0))",
            ),
            Self::Remember => (
                28,
                0,
                "(i32.store (i32.const 60000) (i32.const 1))
                 (call $decide (i32.const 0) (i32.const 0))",
            ),
            Self::Recall => (29, 0, "(call $drop_if (i32.load (i32.const 60000)))"),
        }
    }

    /// One of each, with any argument.
    const ALL: [Self; 30] = [
        Self::Pass,
        Self::Drop(0),
        Self::Output(0),
        Self::Goto(0),
        Self::Verdict(0),
        Self::Silent,
        Self::Rewrite,
        Self::RewriteQuietly,
        Self::RewriteAndTrap,
        Self::Unreachable,
        Self::LoadOutside,
        Self::DivideByZero,
        Self::FloatOverflow,
        Self::NullCall,
        Self::WrongCall,
        Self::Recurse,
        Self::Spin,
        Self::GrowMemory(0),
        Self::GrowTable(0),
        Self::Scribble,
        Self::Metadata(0),
        Self::Echo,
        Self::Log(0),
        Self::LogOutside,
        Self::LogFlood(0),
        Self::DecideAndTrap,
        Self::ForestallAndTrap,
        Self::Count(0),
        Self::Remember,
        Self::Recall,
    ];

    /// A frame of `length` bytes that has the guest do this.
    pub(crate) fn frame(self, length: usize) -> Frame {
        let (number, argument, _) = self.code();
        let mut bytes: Vec<u8> = (0..=250).cycle().take(length).collect();
        bytes[0] = number;
        bytes[4..8].copy_from_slice(&argument.to_le_bytes());
        Frame(bytes)
    }
}

const NEXT: &str = "(call $decide (i32.const 0) (i32.const 0))";

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
            process: process(),
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

fn process() -> String {
    let mut acts = String::new();
    for act in Act::ALL {
        let (number, _, body) = act.code();
        let when = format!("(i32.eq (local.get $what) (i32.const {number}))");
        writeln!(acts, "(if {when} (then {body} return))").unwrap();
    }
    format!(
        r#"
    (global $d (mut i32) (i32.const 0))
    (type $nothing (func))
    (table $functions 2 funcref)
    (elem (i32.const 1) $recurse)
    (func $recurse (call $recurse) (call $recurse))
    (func $decide (param $verdict i32) (param $argument i32)
      (i32.store offset=36 (global.get $d) (local.get $verdict))
      (i32.store offset=40 (global.get $d) (local.get $argument)))
    (func $drop_if (param $refused i32)
      (call $decide (i32.ne (local.get $refused) (i32.const 0)) (i32.const 0)))
    (func $packet (local $what i32) (local $w i32) (local $a i32)
      (i64.store (i32.const 16) (i64.add (i64.load (i32.const 16)) (i64.const 1)))
      (local.set $w (i32.load offset=8 (global.get $d)))
      (local.set $what (i32.load8_u (local.get $w)))
      (local.set $a (i32.load offset=4 (local.get $w)))
      {acts})
    (func (export "weft_process") (param $n i32) (local $i i32)
      (global.set $d (i32.const 4096))
      (block $done (loop $next
        (br_if $done (i32.ge_u (local.get $i) (local.get $n)))
        (call $packet)
        (global.set $d (i32.add (global.get $d) (i32.const 48)))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next))))"#
    )
}
