use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read, Seek, Write},
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{Child, Command, ExitStatus},
    thread::sleep,
    time::{Duration, Instant},
};

use rustix::fs::{MemfdFlags, memfd_create};

use super::{Code, CompileLimits, Excess};
use crate::{load_error::LoadError, text::printable};

/// How often a child is looked at.
const GLANCE: Duration = Duration::from_millis(1);
/// The most that is kept of what a child complains of, in bytes.
const COMPLAINT: u64 = 4096;
/// What a process gets that the system kills for want of memory.
const SIGKILL: i32 = 9;
/// What a process does to itself that gets no memory.
const SIGABRT: i32 = 6;

/// A program that compiles one module: it calls [`serve_compiler`](super::serve_compiler).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildProcess {
    /// The program, which must be this very one: its code is trusted.
    pub program: PathBuf,
    /// What makes it compile; the memory that it may have is added to that.
    pub arguments: Vec<OsString>,
}

/// What a child made.
pub(super) struct Made {
    pub(super) code: Code,
    pub(super) peak_bytes: u64,
}

impl ChildProcess {
    /// This program again, with one argument.
    #[must_use]
    pub fn of_this_program(argument: &str) -> Self {
        Self { program: "/proc/self/exe".into(), arguments: vec![argument.into()] }
    }

    /// Has a child compile a module, and kills it when it takes too much.
    pub(super) fn compile(&self, wasm: &[u8], limits: &CompileLimits) -> Result<Made, LoadError> {
        let failed = |error: io::Error| LoadError::Compiler(error.to_string());
        // Files that are in memory: unlike pipes, nobody has to read one while the other writes.
        let (mut input, mut output, mut complaints) =
            (memory_file()?, memory_file()?, memory_file()?);
        input.write_all(wasm).and_then(|()| input.rewind()).map_err(failed)?;
        let child = Command::new(&self.program)
            .args(&self.arguments)
            .arg(limits.memory_bytes.to_string())
            .env_clear()
            .current_dir("/")
            .stdin(input)
            .stdout(output.try_clone().map_err(failed)?)
            .stderr(complaints.try_clone().map_err(failed)?)
            .spawn()
            .map_err(failed)?;
        let (status, peak_bytes) = Watched(child).wait(limits)?;
        if !status.success() {
            return Err(why(status, &read(&mut complaints, COMPLAINT)?, limits));
        }
        let code = read(&mut output, limits.memory_bytes as u64)?;
        Ok(Made { code: Code::from_own_compiler(code), peak_bytes })
    }
}

/// A child that does not outlive the wait for it.
struct Watched(Child);

impl Watched {
    fn wait(mut self, limits: &CompileLimits) -> Result<(ExitStatus, u64), LoadError> {
        let started = Instant::now();
        let mut peak = 0;
        loop {
            peak = peak.max(resident(self.0.id()));
            if peak > limits.memory_bytes as u64 {
                return Err(Excess::Memory { limit: limits.memory_bytes }.into());
            }
            match self.0.try_wait() {
                Ok(Some(status)) => return Ok((status, peak)),
                Ok(None) if started.elapsed() > limits.time => {
                    return Err(Excess::Time { limit: limits.time }.into());
                }
                Ok(None) => sleep(GLANCE),
                Err(error) => return Err(LoadError::Compiler(error.to_string())),
            }
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // Neither can fail in a way that leaves something to do: it has ended, or ends now.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The memory that a process has, in bytes; 0 once it has ended.
fn resident(process: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * rustix::param::page_size() as u64
}

/// Says what an unsuccessful end was.
fn why(status: ExitStatus, complaint: &[u8], limits: &CompileLimits) -> LoadError {
    let complaint = printable(complaint.trim_ascii());
    match status.signal() {
        Some(SIGKILL) => Excess::Memory { limit: limits.memory_bytes }.into(),
        Some(SIGABRT) if complaint.contains("memory allocation") => {
            Excess::Memory { limit: limits.memory_bytes }.into()
        }
        Some(signal) => {
            LoadError::Compile(format!("the compiler ended by signal {signal}: {complaint}"))
        }
        None => LoadError::Compile(complaint),
    }
}

fn memory_file() -> Result<File, LoadError> {
    memfd_create("weft-compile", MemfdFlags::CLOEXEC)
        .map(File::from)
        .map_err(|error| LoadError::Compiler(format!("no file in memory can be made: {error}")))
}

/// What was written to a file that others hold too.
fn read(file: &mut File, most: u64) -> Result<Vec<u8>, LoadError> {
    let mut bytes = Vec::new();
    file.rewind()
        .and_then(|()| file.take(most).read_to_end(&mut bytes))
        .map_err(|error| LoadError::Compiler(error.to_string()))?;
    Ok(bytes)
}
