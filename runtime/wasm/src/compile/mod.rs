//! From bytes to machine code: by a process that may be killed, and from a folder of what was
//! compiled before.
//!
//! A module can be small and yet take hours or all memory to compile. So what can be counted is
//! counted first, and the rest is the work of a child with limits: when it is killed, nothing of
//! the daemon is.

mod cache;
mod census;
mod child;
mod code;
mod serve;

use std::{sync::Arc, time::Duration};

pub(crate) use cache::Cache;
pub use cache::CacheError;
use cache::Key;
pub(crate) use census::count;
pub use child::ChildProcess;
use code::Code;
pub use serve::serve_compiler;
use wasmtime::Engine;

use crate::load_error::LoadError;

/// Where modules are compiled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Compiler {
    /// In this process, with no limit on time and memory: for tests and benches, whose modules are
    /// their own.
    #[default]
    InProcess,
    /// In a process for each module, which is killed when it takes more than it may.
    Child(ChildProcess),
}

/// What a module may take to be compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompileLimits {
    /// The time, of a child.
    pub time: Duration,
    /// The memory, of a child, in bytes.
    pub memory_bytes: usize,
    /// The functions of the module.
    pub functions: u32,
    /// The bytes of one function.
    pub function_bytes: usize,
    /// The locals of one function, its parameters aside.
    pub locals: u32,
    /// How deep blocks stand in one another.
    pub nesting: u32,
}

impl Default for CompileLimits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(10),
            memory_bytes: 1 << 30,
            functions: 20_000,
            function_bytes: 512 << 10,
            locals: 10_000,
            nesting: 10_000,
        }
    }
}

/// What of a module was too much to compile it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Excess {
    /// It has too many functions.
    #[error("it has {found} functions and the limit is {limit}")]
    Functions {
        /// How many.
        found: u32,
        /// The most.
        limit: u32,
    },
    /// A function is too long.
    #[error("function {function} has {found} bytes and the limit is {limit}")]
    FunctionBytes {
        /// Which, from 0, imports included.
        function: u32,
        /// Its bytes.
        found: usize,
        /// The most.
        limit: usize,
    },
    /// A function has too many locals.
    #[error("function {function} has {found} locals and the limit is {limit}")]
    Locals {
        /// Which, from 0, imports included.
        function: u32,
        /// How many.
        found: u32,
        /// The most.
        limit: u32,
    },
    /// Blocks of a function stand too deep in one another.
    #[error("blocks of function {function} are nested more than {limit} deep")]
    Nesting {
        /// Which, from 0, imports included.
        function: u32,
        /// The most.
        limit: u32,
    },
    /// The compiler was not done in time.
    #[error("the compiler was not done after {limit:?}")]
    Time {
        /// How long it may take.
        limit: Duration,
    },
    /// The compiler took too much memory.
    #[error("the compiler took more than {limit} bytes of memory")]
    Memory {
        /// How much it may take.
        limit: usize,
    },
}

/// Where a module's code is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It was compiled.
    Compiled {
        /// The most memory that the child had, in bytes; 0 if there was none.
        peak_bytes: u64,
    },
    /// It had been compiled before, and was kept.
    Cached,
}

/// A module's code, and how it was come by.
pub(crate) struct Outcome {
    pub(crate) module: wasmtime::Module,
    pub(crate) origin: Origin,
    /// Why it was not found, or could not be kept, in the cache.
    pub(crate) trouble: Option<CacheError>,
}

/// What compiles the modules of a host.
#[derive(Debug)]
pub(crate) struct Workshop {
    pub(crate) compiler: Compiler,
    pub(crate) limits: CompileLimits,
    pub(crate) cache: Option<Arc<Cache>>,
}

impl Workshop {
    /// Has a module that was checked compiled, or finds it among those that were.
    pub(crate) fn make(
        &self,
        engine: &Engine,
        wasm: &[u8],
        digest: &[u8; 32],
    ) -> Result<Outcome, LoadError> {
        let Some(cache) = &self.cache else {
            let (code, origin) = self.compile(engine, wasm)?;
            return Ok(Outcome { module: code.load(engine)?, origin, trouble: None });
        };
        let key = Key::new(engine, digest);
        let missed = match cache.read(&key) {
            // Code of the same key that does not load is of another machine: made anew.
            Ok(Some(code)) => match code.load(engine) {
                Ok(module) => {
                    return Ok(Outcome { module, origin: Origin::Cached, trouble: None });
                }
                Err(_) => None,
            },
            Ok(None) => None,
            Err(trouble) => Some(trouble),
        };
        let (code, origin) = self.compile(engine, wasm)?;
        let unwritten = cache.write(&key, &code).err();
        Ok(Outcome { module: code.load(engine)?, origin, trouble: missed.or(unwritten) })
    }

    fn compile(&self, engine: &Engine, wasm: &[u8]) -> Result<(Code, Origin), LoadError> {
        match &self.compiler {
            Compiler::InProcess => {
                let code = Code::compile(engine, wasm).map_err(LoadError::Compile)?;
                Ok((code, Origin::Compiled { peak_bytes: 0 }))
            }
            Compiler::Child(process) => {
                let made = process.compile(wasm, &self.limits)?;
                Ok((made.code, Origin::Compiled { peak_bytes: made.peak_bytes }))
            }
        }
    }
}
