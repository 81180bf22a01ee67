use std::{
    io::{self, Read, Write},
    process::ExitCode,
};

use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
use wasmtime::Engine;

use super::Code;
use crate::host::{HostOptions, config};

/// How much more than its parent allows a child may ask the system for: its parent looks at what
/// it uses, and this is for what grows faster than anyone looks.
const MARGIN: u64 = 2;

/// The child's side: compiles the module that comes by the standard input, writes the code to the
/// standard output, or the reason why there is none to the standard error.
///
/// `memory` is the last argument that the child was started with. It must be called before there
/// is anything else in the process.
#[must_use]
pub fn serve_compiler(memory: Option<&str>) -> ExitCode {
    match compile(memory) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            // If that cannot be written either, there is nobody to tell.
            drop(writeln!(io::stderr(), "{reason}"));
            ExitCode::FAILURE
        }
    }
}

fn compile(memory: Option<&str>) -> Result<(), String> {
    let memory: u64 = memory
        .and_then(|text| text.parse().ok())
        .ok_or("the memory that the compiler may have is not given, in bytes")?;
    restrict(memory).map_err(|error| format!("the compiler cannot be restricted: {error}"))?;
    let mut wasm = Vec::new();
    io::stdin().read_to_end(&mut wasm).map_err(|error| error.to_string())?;
    // The options that differ from host to host do not matter to code.
    let engine = Engine::new(&config(&HostOptions::default()))
        .map_err(|error| format!("the WebAssembly engine cannot run here: {error:#}"))?;
    let code = Code::compile(&engine, &wasm)?;
    io::stdout().write_all(code.bytes()).map_err(|error| error.to_string())
}

fn restrict(memory: u64) -> rustix::io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let most = |limit| Rlimit { current: Some(limit), maximum: Some(limit) };
    setrlimit(Resource::Data, most(memory.saturating_mul(MARGIN)))?;
    setrlimit(Resource::Fsize, most(memory))?;
    setrlimit(Resource::Core, most(0))
}
