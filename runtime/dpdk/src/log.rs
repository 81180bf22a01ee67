//! Where DPDK's log goes: into `tracing`, and into the error of the call that failed.

use std::{
    cell::RefCell,
    ffi::{c_char, c_int},
    fmt, slice,
};

/// DPDK's level for warnings; smaller numbers are worse.
const WARNING: u32 = 5;
const ERROR: u32 = 4;

/// How many lines an error carries at most.
const LINES: usize = 16;

thread_local! {
    /// The warnings of the call that this thread makes, while there is one.
    static CAPTURED: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// What DPDK and its drivers said while a call failed: errors and warnings, in their words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DriverLog(Vec<String>);

impl DriverLog {
    /// The lines, oldest first.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for DriverLog {
    /// Nothing, or the lines behind a colon, to stand at the end of a message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        write!(f, " (DPDK says: {})", self.0.join("; "))
    }
}

/// Has DPDK log to this module from now on.
pub(crate) fn open() -> c_int {
    // SAFETY: `sink` reads only the text it is given, and does not unwind.
    unsafe { dpdk_sys::dp_log_open(Some(sink)) }
}

/// Runs a call and returns its answer with what DPDK logged meanwhile on this thread.
pub(crate) fn capture<T>(call: impl FnOnce() -> T) -> (T, DriverLog) {
    // SAFETY: writes an integer of this thread, so that a number left there is the call's own.
    unsafe { dpdk_sys::dp_errno_set(0) };
    CAPTURED.set(Some(Vec::new()));
    let answer = call();
    (answer, DriverLog(CAPTURED.take().unwrap_or_default()))
}

extern "C" fn sink(level: u32, text: *const c_char, length: usize) {
    // SAFETY: the shim passes the bytes that DPDK just formatted, which live until this returns.
    let bytes = unsafe { slice::from_raw_parts(text.cast::<u8>(), length) };
    let text = String::from_utf8_lossy(bytes);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        write_line(level, line);
    }
}

fn write_line(level: u32, line: &str) {
    // A thread that ends may log when its variables are gone.
    let captured = CAPTURED.try_with(|captured| keep(level, line, &mut captured.borrow_mut()));
    let captured = captured.unwrap_or(false);
    match level {
        // Whoever made the call reports it.
        ..=WARNING if captured => tracing::debug!(target: "dpdk", "{line}"),
        ..=ERROR => tracing::error!(target: "dpdk", "{line}"),
        WARNING => tracing::warn!(target: "dpdk", "{line}"),
        _ => tracing::debug!(target: "dpdk", "{line}"),
    }
}

/// Whether there is a call that the line belongs to.
fn keep(level: u32, line: &str, captured: &mut Option<Vec<String>>) -> bool {
    let Some(lines) = captured else { return false };
    if level <= WARNING && lines.len() < LINES && !repeats(line) {
        lines.push(line.to_owned());
    }
    true
}

/// Whether the line says no more than that the call failed, which the error says.
fn repeats(line: &str) -> bool {
    ["EAL: Driver cannot attach the device", "EAL: Failed to attach device on primary process"]
        .iter()
        .any(|start| line.starts_with(start))
}
