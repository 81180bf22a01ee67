//! Compiles one module for a parent, as the daemon does by itself: for the tests of this crate.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    wasm::serve_compiler(std::env::args().next_back().as_deref())
}
