use crate::{compile::Excess, manifest::ManifestError};

/// Why a module was refused before anything of it ran.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// It has too many bytes.
    #[error(
        "the module has {size} bytes and the limit is {limit}; build it with optimisation and \
         strip its debug sections"
    )]
    TooLarge {
        /// Its bytes.
        size: usize,
        /// The most that are taken.
        limit: usize,
    },
    /// It is something else.
    #[error("this is not a WebAssembly module but {0}; send the .wasm file that the build made")]
    NotWasm(&'static str),
    /// It is native code, which nobody can check.
    #[error(
        "this is native code, such as a precompiled module (.cwasm), and is never taken; send the \
         .wasm file that it was made from"
    )]
    Precompiled,
    /// It is a component of the component model.
    #[error(
        "this is a WebAssembly component; a stage is a core module: build for \
         wasm32-unknown-unknown, and without wasm-tools component or wasm32-wasip2"
    )]
    Component,
    /// It is malformed, or uses a feature of WebAssembly that is off here.
    #[error(
        "the module is not valid here at offset {offset:#x}: {reason} (if this names a feature of \
         WebAssembly, build without it: stages have WebAssembly 2.0 with SIMD)"
    )]
    Invalid {
        /// Where.
        offset: usize,
        /// What the validator said.
        reason: String,
    },
    /// It wants something that the host does not have.
    #[error(
        "the module imports `{module}.{name}`, which this host does not offer; it offers only \
         `weft.log` (for imports of `wasi_*` or `env`, build for wasm32-unknown-unknown)"
    )]
    UnknownImport {
        /// The module that it is to come from.
        module: String,
        /// Its name.
        name: String,
    },
    /// It wants something by another type than it has.
    #[error("the module imports `{module}.{name}` as {found}; it is {expected}")]
    ImportType {
        /// The module that it comes from.
        module: String,
        /// Its name.
        name: String,
        /// Its type.
        expected: String,
        /// The type that the module thinks it has.
        found: String,
    },
    /// It lacks an export.
    #[error(
        "the module does not export `{name}`, {expected}; modules that use the SDK get it from \
         `weft_sdk::export!`"
    )]
    MissingExport {
        /// Its name.
        name: &'static str,
        /// What it would be.
        expected: String,
    },
    /// An export is of another type.
    #[error("the module exports `{name}` as {found}; it must be {expected}")]
    ExportType {
        /// Its name.
        name: &'static str,
        /// What it must be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// There is not exactly one manifest.
    #[error(
        "the module has {0} custom sections `weft.manifest` and needs one; modules that use the \
         SDK get it from `weft_sdk::export!` (does a strip step remove it?)"
    )]
    Manifests(usize),
    /// The manifest is not fit.
    #[error("the manifest in the custom section `weft.manifest` at offset {offset:#x}: {source}")]
    Manifest {
        /// Where it lies.
        offset: usize,
        /// What is wrong with it.
        source: ManifestError,
    },
    /// Its memory is larger from the start than any stage may have.
    #[error(
        "the module's memory has {needed} bytes from the start and the limit is {limit}; make its \
         statics or its stack (-zstack-size) smaller"
    )]
    Memory {
        /// The bytes that it has from the start.
        needed: u64,
        /// The most that any stage may have.
        limit: u64,
    },
    /// A table is larger from the start than any stage may have.
    #[error("a table of the module has {needed} elements from the start and the limit is {limit}")]
    Table {
        /// The elements that it has from the start.
        needed: u64,
        /// The most that there may be.
        limit: u64,
    },
    /// It is more than the compiler takes on.
    #[error(
        "the module is too much to compile: {0}; split it, build it for size, or raise the limit in \
         the configuration"
    )]
    Excess(#[from] Excess),
    /// The compiler could not be run; that is not the module's fault.
    #[error("the compiler could not be run: {0}")]
    Compiler(String),
    /// It is valid, but the compiler could not do it.
    #[error("the module could not be compiled: {0}")]
    Compile(String),
}
