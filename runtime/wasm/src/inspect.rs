//! What a module is held against before it is compiled.

use wasmparser::{
    BinaryReaderError, CompositeInnerType, FuncType, Parser, Payload, ValType, Validator,
    WasmFeatures,
    types::{EntityType, TypesRef},
};
use weft_abi::{MANIFEST_SECTION, Manifest, exports, imports};

use crate::{
    compile, host::HostOptions, load_error::LoadError, manifest, startup::entry, text::excerpt,
};

/// The most elements that a module's tables may have.
pub(crate) const TABLE_ELEMENTS: usize = 65_536;
/// The most tables that a module may have.
pub(crate) const TABLES: usize = 8;
/// The bytes of a page of memory.
const PAGE: u64 = 65_536;

/// What was found in a module that is fit to be compiled.
#[derive(Debug)]
pub(crate) struct Inspected {
    pub(crate) manifest: Manifest,
    /// The bytes of its memory from the start.
    pub(crate) memory: u64,
}

/// What is on: version 2 of WebAssembly, with what every compiler emits today, and no more.
fn features() -> WasmFeatures {
    WasmFeatures::WASM2.union(WasmFeatures::EXTENDED_CONST).difference(WasmFeatures::GC_TYPES)
}

/// Checks all that can be checked without compiling.
pub(crate) fn inspect(bytes: &[u8], options: &HostOptions) -> Result<Inspected, LoadError> {
    let (size, limit) = (bytes.len(), options.module_bytes);
    if size > limit {
        return Err(LoadError::TooLarge { size, limit });
    }
    recognise(bytes)?;
    compile::count(bytes, &options.compile)?;
    let types = Validator::new_with_features(features()).validate_all(bytes)?;
    check_imports(types.as_ref())?;
    let manifest = read_manifest(bytes)?;
    check_exports(types.as_ref(), &manifest)?;
    check_tables(types.as_ref())?;
    let memory = memory_bytes(types.as_ref(), options.memory_bytes)?;
    Ok(Inspected { manifest, memory })
}

impl From<BinaryReaderError> for LoadError {
    fn from(error: BinaryReaderError) -> Self {
        Self::Invalid { offset: error.offset(), reason: excerpt(error.message()) }
    }
}

/// Says what the bytes are if they are no core module.
fn recognise(bytes: &[u8]) -> Result<(), LoadError> {
    let other = match bytes {
        _ if Parser::is_core_wasm(bytes) => return Ok(()),
        _ if Parser::is_component(bytes) => return Err(LoadError::Component),
        [0x7f, b'E', b'L', b'F', ..] => return Err(LoadError::Precompiled),
        [] => "empty",
        [0x1f, 0x8b, ..] => "gzip data",
        [b'P', b'K', ..] => "a zip archive",
        [b'(', ..] | [b';', b';', ..] => "WebAssembly text (wat2wasm translates it)",
        [0, b'a', b's', b'm', ..] => "WebAssembly of an unknown version, or cut short",
        _ => "something without its magic number",
    };
    Err(LoadError::NotWasm(other))
}

fn check_imports(types: TypesRef<'_>) -> Result<(), LoadError> {
    for (module, name, entity) in types.core_imports().into_iter().flatten() {
        let known = (module, name) == (imports::MODULE, imports::LOG);
        let (module, name) = (excerpt(module), excerpt(name));
        if !known {
            return Err(LoadError::UnknownImport { module, name });
        }
        let log = signature(&[ValType::I32; 3], &[]);
        let found = describe(types, entity);
        if found != log {
            return Err(LoadError::ImportType { module, name, expected: log, found });
        }
    }
    Ok(())
}

fn check_exports(types: TypesRef<'_>, manifest: &Manifest) -> Result<(), LoadError> {
    use ValType::{I32, I64};
    let functions: [(&'static str, &[ValType], &[ValType]); _] = [
        (exports::ABI_VERSION, &[], &[I32]),
        (exports::ALLOC, &[I32], &[I32]),
        (exports::INIT, &[I32, I32], &[I64]),
        (exports::BATCH, &[I32, I32], &[I32]),
        (entry(manifest.kind), &[I32], &[]),
        (exports::COUNTERS, &[], &[I32]),
    ];
    check_export(types, exports::MEMORY, "a memory".into())?;
    for (name, parameters, results) in functions {
        if name != exports::COUNTERS || !manifest.counters.is_empty() {
            check_export(types, name, signature(parameters, results))?;
        }
    }
    Ok(())
}

fn check_export(
    types: TypesRef<'_>,
    name: &'static str,
    expected: String,
) -> Result<(), LoadError> {
    let mut all = types.core_exports().into_iter().flatten();
    let Some((_, entity)) = all.find(|(export, _)| *export == name) else {
        return Err(LoadError::MissingExport { name, expected });
    };
    let found = describe(types, entity);
    if found == expected { Ok(()) } else { Err(LoadError::ExportType { name, expected, found }) }
}

/// What an import or export is, in words in which equal types are equal.
fn describe(types: TypesRef<'_>, entity: EntityType) -> String {
    let text = match entity {
        EntityType::Func(id) | EntityType::FuncExact(id) => {
            return match &types[id].composite_type.inner {
                CompositeInnerType::Func(function) => describe_function(function),
                _ => "a function of no plain type".to_owned(),
            };
        }
        EntityType::Memory(_) => "a memory",
        EntityType::Table(_) => "a table",
        EntityType::Global(_) => "a global",
        EntityType::Tag(_) => "a tag",
    };
    text.to_owned()
}

fn describe_function(function: &FuncType) -> String {
    signature(function.params(), function.results())
}

fn signature(parameters: &[ValType], results: &[ValType]) -> String {
    let list = |types: &[ValType]| {
        let names: Vec<String> = types.iter().map(ToString::to_string).collect();
        names.join(", ")
    };
    format!("a function ({}) -> ({})", list(parameters), list(results))
}

fn check_tables(types: TypesRef<'_>) -> Result<(), LoadError> {
    let limit = TABLE_ELEMENTS as u64;
    for index in 0..types.table_count() {
        let needed = types.table_at(index).initial;
        if needed > limit {
            return Err(LoadError::Table { needed, limit });
        }
    }
    Ok(())
}

/// The bytes that the memory has from the start. There is one, since its export was found and
/// several are a feature that is off.
fn memory_bytes(types: TypesRef<'_>, limit: usize) -> Result<u64, LoadError> {
    let needed = types.memory_at(0).initial.saturating_mul(PAGE);
    let limit = limit as u64;
    if needed > limit { Err(LoadError::Memory { needed, limit }) } else { Ok(needed) }
}

fn read_manifest(bytes: &[u8]) -> Result<Manifest, LoadError> {
    let mut found = Vec::new();
    for payload in Parser::new(0).parse_all(bytes) {
        if let Payload::CustomSection(section) = payload?
            && section.name() == MANIFEST_SECTION
        {
            found.push((section.data_offset(), section.data()));
        }
    }
    let [(offset, json)] = found[..] else {
        return Err(LoadError::Manifests(found.len()));
    };
    manifest::parse(json).map_err(|source| LoadError::Manifest { offset, source })
}
