//! Machine code, and the one place where it is taken for what it says it is.
#![allow(unsafe_code, reason = "code that was compiled before is loaded here and nowhere else")]

use wasmtime::{Engine, Module};

use crate::load_error::LoadError;

/// A compiled module, as wasmtime writes it down.
///
/// Invariant: the bytes are what this program's compiler wrote, in this process, in a child that
/// it started of itself, or earlier, kept since in a folder that nobody else may write to and
/// found whole by their digest. Nothing of it was ever received from a client.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Code(Vec<u8>);

impl Code {
    /// Compiles a module here.
    pub(super) fn compile(engine: &Engine, wasm: &[u8]) -> Result<Self, String> {
        engine.precompile_module(wasm).map(Self).map_err(|error| format!("{error:#}"))
    }

    /// Takes over what the program's own compiler wrote. Only a child of this process and the
    /// cache may say so of bytes: see the invariant.
    pub(super) fn from_own_compiler(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Makes it fit to run.
    pub(super) fn load(&self, engine: &Engine) -> Result<Module, LoadError> {
        // SAFETY: by the invariant the bytes are what `Engine::precompile_module` wrote, unchanged;
        // that they are for this engine is checked by wasmtime.
        let module = unsafe { Module::deserialize(engine, &self.0) };
        module.map_err(|error| LoadError::Compile(format!("its code does not load: {error:#}")))
    }
}
