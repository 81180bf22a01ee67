//! What is refused before anything of a module runs.

use wasm::{Host, HostOptions, LoadError, ManifestError, Module};

use crate::{
    guest::{Guest, answering},
    harness::{HOST, compile},
};

fn refusal(guest: &Guest) -> LoadError {
    refusal_of(&guest.bytes())
}

fn refusal_of(bytes: &[u8]) -> LoadError {
    Module::compile(&HOST, bytes).err().expect("it is to be refused")
}

/// The part of the guest that an export is in.
fn part<'a>(guest: &'a mut Guest, export: &str) -> &'a mut String {
    match export {
        "memory" => &mut guest.memory,
        "weft_abi_version" => &mut guest.version,
        "weft_alloc" => &mut guest.alloc,
        "weft_init" => &mut guest.init,
        "weft_batch" => &mut guest.batch,
        "weft_process" => &mut guest.process,
        "weft_counters" => &mut guest.counters,
        other => panic!("{other} is no part"),
    }
}

const EXPORTS: [(&str, &str); 7] = [
    ("memory", "a memory"),
    ("weft_abi_version", "a function () -> (i32)"),
    ("weft_alloc", "a function (i32) -> (i32)"),
    ("weft_init", "a function (i32, i32) -> (i64)"),
    ("weft_batch", "a function (i32, i32) -> (i32)"),
    ("weft_process", "a function (i32) -> ()"),
    ("weft_counters", "a function () -> (i32)"),
];

#[test]
fn a_module_shows_its_manifest_its_digest_and_its_size() {
    let bytes = Guest::new().bytes();
    let module = Module::compile(&HOST, &bytes).unwrap();
    let manifest = module.manifest();
    assert_eq!((&*manifest.name, &*manifest.version), ("guest", "1.2.3"));
    assert_eq!((manifest.window, manifest.writes), (128, true));
    assert_eq!(module.size(), bytes.len());
    assert_eq!(module.digest().len(), "sha256:".len() + 64);
    assert_eq!(module.digest(), Module::compile(&HOST, &bytes).unwrap().digest());
}

#[test]
fn a_missing_export_is_named() {
    for (name, expected) in EXPORTS {
        let mut guest = Guest::new();
        // It is there, but under another name.
        let text = part(&mut guest, name);
        *text = text.replace(&format!("\"{name}\""), "\"other\"");
        let expected = expected.to_owned();
        assert_eq!(refusal(&guest), LoadError::MissingExport { name, expected });
    }
}

#[test]
fn an_export_of_another_type_is_named_with_both_types() {
    for (name, expected) in EXPORTS {
        for (other, found) in [
            ("(func (export \"{}\") (param f32))", "a function (f32) -> ()"),
            ("(func (export \"{}\") (result i64) i64.const 0)", "a function () -> (i64)"),
            ("(global (export \"{}\") i32 (i32.const 0))", "a global"),
            ("(table (export \"{}\") 1 funcref)", "a table"),
        ] {
            let mut guest = Guest::new();
            let text = part(&mut guest, name);
            *text = text.replace(&format!("\"{name}\""), "\"other\"");
            guest.more = other.replace("{}", name);
            let (expected, found) = (expected.to_owned(), found.to_owned());
            assert_eq!(refusal(&guest), LoadError::ExportType { name, expected, found });
        }
    }
}

#[test]
fn counters_are_exported_only_if_the_manifest_names_some() {
    let mut guest = Guest::new();
    guest.counters = String::new();
    guest.manifest = r#"{"name": "quiet", "version": "1"}"#.into();
    assert_eq!(compile(&guest).manifest().counters, [""; 0]);
}

#[test]
fn an_import_that_is_not_there_is_named() {
    for (module, name) in [("env", "log"), ("weft", "time"), ("wasi_snapshot_preview1", "fd_write")]
    {
        let mut guest = Guest::new();
        guest.imports += &format!("(import \"{module}\" \"{name}\" (func (param i32 i32 i32)))");
        let (module, name) = (module.to_owned(), name.to_owned());
        assert_eq!(refusal(&guest), LoadError::UnknownImport { module, name });
    }
}

#[test]
fn an_import_of_another_type_is_named_with_both_types() {
    for (import, found) in [
        ("(func (param i32 i32))", "a function (i32, i32) -> ()"),
        ("(func (param i32 i32 i32) (result i32))", "a function (i32, i32, i32) -> (i32)"),
        ("(global i32)", "a global"),
    ] {
        let mut guest = Guest::new();
        guest.imports += &format!("(import \"weft\" \"log\" {import})");
        let expected = LoadError::ImportType {
            module: "weft".into(),
            name: "log".into(),
            expected: "a function (i32, i32, i32) -> ()".into(),
            found: found.into(),
        };
        assert_eq!(refusal(&guest), expected);
    }
}

#[test]
fn a_memory_of_the_ceiling_is_taken_and_a_larger_one_is_not() {
    const PAGES: u64 = (1 << 30) / 65_536;
    let with = |pages: u64| {
        let mut guest = Guest::new();
        guest.memory = format!("(memory (export \"memory\") {pages})");
        guest
    };
    compile(&with(PAGES));
    for pages in [PAGES + 1, 65_536] {
        let expected = LoadError::Memory { needed: pages * 65_536, limit: 1 << 30 };
        assert_eq!(refusal(&with(pages)), expected);
    }
}

#[test]
fn a_table_of_the_limit_is_taken_and_a_larger_one_is_not() {
    let with = |elements: u64| {
        let mut guest = Guest::new();
        guest.more = format!("(table {elements} funcref)");
        guest
    };
    compile(&with(65_536));
    for elements in [65_537, u64::from(u32::MAX)] {
        let expected = LoadError::Table { needed: elements, limit: 65_536 };
        assert_eq!(refusal(&with(elements)), expected);
    }
}

#[test]
fn what_is_not_webassembly_is_named() {
    let not_wasm = LoadError::NotWasm;
    assert_eq!(refusal_of(b""), not_wasm("empty"));
    assert_eq!(refusal_of(b"\x1f\x8b\x08"), not_wasm("gzip data"));
    assert_eq!(refusal_of(b"PK\x03\x04"), not_wasm("a zip archive"));
    let text = not_wasm("WebAssembly text (wat2wasm translates it)");
    assert_eq!(refusal_of(Guest::new().text().as_bytes()), text);
    let other = not_wasm("WebAssembly of an unknown version, or cut short");
    assert_eq!(refusal_of(b"\0asm\x07\0\0\0"), other);
    assert_eq!(refusal_of(b"#!/bin/sh"), not_wasm("something without its magic number"));
    assert_eq!(refusal_of(b"\x7fELF\x02\x01\x01"), LoadError::Precompiled);
    assert_eq!(refusal_of(&wat::parse_str("(component)").unwrap()), LoadError::Component);
}

#[test]
fn a_module_that_is_cut_anywhere_is_refused() {
    let guest = Guest::new();
    let bytes = guest.bytes();
    // Behind the manifest there are only names, which nobody needs.
    let manifest = guest.manifest.as_bytes();
    let start = bytes.windows(manifest.len()).position(|window| window == manifest).unwrap();
    let whole = &bytes[..start + manifest.len()];
    Module::compile(&HOST, whole).unwrap();
    for length in 0..whole.len() {
        let error = refusal_of(&whole[..length]);
        let expected = matches!(
            error,
            LoadError::Invalid { .. } | LoadError::NotWasm(_) | LoadError::Manifests(0)
        );
        assert!(expected, "cut after {length} bytes: {error:?}");
    }
}

#[test]
fn a_malformed_module_is_refused_with_the_place() {
    let mut guest = Guest::new();
    guest.alloc = answering("weft_alloc", "(param i32) (result i32)", "i64.const 0");
    let LoadError::Invalid { offset, reason } = refusal(&guest) else { panic!("another error") };
    assert!(reason.contains("type mismatch: expected i32, found i64"), "{reason}");
    assert!((1..guest.bytes().len()).contains(&offset));
}

#[test]
fn features_that_a_stage_has_no_use_for_are_refused_and_named() {
    for (feature, what) in [
        ("(memory 1)", "multiple memories"),
        ("(func (i32.atomic.store (i32.const 0) (i32.const 0)))", "threads support"),
        ("(func $f (return_call $f))", "tail calls support"),
        ("(tag)", "exceptions proposal"),
        ("(type (struct))", "without the gc feature"),
        ("(func (param externref))", "gc types"),
        ("(func (param (ref func)))", "function references required"),
        (
            "(func (param v128) (result v128)
               (i8x16.relaxed_swizzle (local.get 0) (local.get 0)))",
            "relaxed SIMD support",
        ),
        (
            "(func (param i64) (result i64 i64) (i64.mul_wide_u (local.get 0) (local.get 0)))",
            "wide arithmetic support",
        ),
    ] {
        let mut guest = Guest::new();
        guest.more = feature.into();
        let LoadError::Invalid { reason, .. } = refusal(&guest) else { panic!("{what}") };
        assert!(reason.contains(what), "{what}: {reason}");
    }
    let mut guest = Guest::new();
    guest.memory = r#"(memory (export "memory") i64 1)"#.into();
    let LoadError::Invalid { reason, .. } = refusal(&guest) else { panic!("another error") };
    assert!(reason.contains("memory64"), "{reason}");
}

#[test]
fn features_that_compilers_emit_are_taken() {
    let mut guest = Guest::new();
    guest.more = "(func (result v128) (i32x4.splat (i32.const 1)))
        (func (result i32 i64) (i32.const 1) (i64.const 1))
        (func (result i32) (i32.extend8_s (i32.trunc_sat_f32_s (f32.const 1))))
        (table 1 funcref)
        (global (mut i32) (i32.add (i32.const 1) (i32.const 2)))"
        .into();
    compile(&guest);
}

#[test]
fn a_module_has_one_manifest_and_a_sound_one() {
    let mut guest = Guest::new();
    guest.more = r#"(@custom "weft.manifest" "{}")"#.into();
    assert_eq!(refusal(&guest), LoadError::Manifests(2));
    assert_eq!(refusal_of(&wat::parse_str("(module)").unwrap()), LoadError::Manifests(0));

    let mut guest = Guest::new();
    guest.manifest = r#"{"name": "old", "version": "1", "abi": 0}"#.into();
    let LoadError::Manifest { offset, source } = refusal(&guest) else { panic!("another error") };
    assert_eq!(source, ManifestError::Abi(0..=0));
    assert!(guest.bytes()[offset..].starts_with(guest.manifest.as_bytes()));
}

#[test]
fn a_module_of_the_largest_size_is_taken_and_a_larger_one_is_not() {
    let bytes = Guest::new().bytes();
    let load = |limit| {
        let options = HostOptions { module_bytes: limit, ..HostOptions::default() };
        Module::compile(&Host::new(options).unwrap(), &bytes).map(|module| module.size())
    };
    let size = bytes.len();
    assert_eq!(load(size), Ok(size));
    assert_eq!(load(size - 1), Err(LoadError::TooLarge { size, limit: size - 1 }));
}
