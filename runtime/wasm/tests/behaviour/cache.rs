//! Compiled modules are kept, and taken only as they were written.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use wasm::{Host, HostError, HostOptions, Module, Origin};

use crate::{
    guest::{Act, Guest},
    harness::{act, deployment},
};

fn open(folder: &Path) -> Result<Host, HostError> {
    Host::new(HostOptions { cache: Some(folder.to_owned()), ..HostOptions::default() })
}

fn load(folder: &Path) -> Arc<Module> {
    Module::compile(&open(folder).unwrap(), &Guest::new().bytes()).unwrap()
}

const COMPILED: Origin = Origin::Compiled { peak_bytes: 0 };

fn the_file(folder: &Path) -> PathBuf {
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_was_compiled_once_is_found_by_the_next_host_and_runs() {
    let folder = TempDir::new().unwrap();
    let within = folder.path().join("made/on/the/way");
    assert_eq!(load(&within).origin(), COMPILED);
    let host = open(&within).unwrap();
    let module = Module::compile(&host, &Guest::new().bytes()).unwrap();
    assert_eq!((module.origin(), module.cache_trouble()), (Origin::Cached, None));
    let mut deployed = deployment(module).deploy(&host, 1).unwrap();
    act(&mut deployed.stages[0], &[Act::Pass, Act::Unreachable, Act::Rewrite]);
    let totals = deployed.stats.totals();
    assert_eq!((totals.verdicts.next, totals.faults.trap), (2, 1));
}

#[test]
fn a_file_that_was_changed_is_not_run_but_made_anew() {
    let folder = TempDir::new().unwrap();
    load(folder.path());
    let file = the_file(folder.path());
    let whole = fs::read(&file).unwrap();
    for place in [0, 20, 50, 100, whole.len() / 2, whole.len() - 1] {
        let mut changed = whole.clone();
        changed[place] ^= 1;
        fs::write(&file, changed).unwrap();
        let module = load(folder.path());
        assert_eq!(module.origin(), COMPILED, "at {place}");
        let trouble = module.cache_trouble().unwrap();
        assert!(trouble.contains("was changed or cut short"), "{trouble}");
        assert_eq!(load(folder.path()).origin(), Origin::Cached, "it was written anew");
    }
    for length in [0, 79, 80, whole.len() - 1] {
        fs::write(&file, &whole[..length]).unwrap();
        assert_eq!(load(folder.path()).origin(), COMPILED, "of {length} bytes");
    }
}

#[test]
fn code_of_another_module_under_this_ones_name_is_not_run() {
    let folder = TempDir::new().unwrap();
    load(folder.path());
    let mine = the_file(folder.path());
    let host = open(folder.path()).unwrap();
    let other = Guest { manifest: r#"{"name": "other", "version": "1"}"#.into(), ..Guest::new() };
    Module::compile(&host, &other.bytes()).unwrap();
    let mut files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let its = files.find(|path| *path != mine).unwrap();
    fs::copy(its, &mine).unwrap();
    assert_eq!(load(folder.path()).origin(), COMPILED);
}

#[test]
fn a_folder_or_file_that_others_may_write_to_is_refused() {
    let folder = TempDir::new().unwrap();
    for mode in [0o777, 0o770, 0o707] {
        set_mode(folder.path(), mode);
        let refused = open(folder.path()).err().unwrap().to_string();
        assert!(refused.contains(&format!("writable for others (mode {mode:o})")), "{refused}");
    }
    set_mode(folder.path(), 0o755);
    load(folder.path());
    set_mode(&the_file(folder.path()), 0o666);
    let module = load(folder.path());
    assert_eq!(module.origin(), COMPILED);
    assert!(module.cache_trouble().unwrap().contains("writable for others (mode 666)"));

    let link = folder.path().join("link");
    symlink(folder.path(), &link).unwrap();
    let refused = open(&link).err().unwrap().to_string();
    assert!(refused.contains("is no folder"), "{refused}");
}

#[test]
fn a_link_in_place_of_a_file_is_not_followed() {
    let folder = TempDir::new().unwrap();
    let elsewhere = TempDir::new().unwrap();
    load(folder.path());
    let file = the_file(folder.path());
    let target = elsewhere.path().join("code");
    fs::rename(&file, &target).unwrap();
    symlink(&target, &file).unwrap();
    assert_eq!(load(folder.path()).origin(), COMPILED);
    assert!(fs::symlink_metadata(&file).unwrap().is_file(), "the link was replaced");
}

#[test]
fn fifty_modules_are_loaded_from_the_cache_in_two_seconds() {
    let folder = TempDir::new().unwrap();
    let modules: Vec<_> = (0..50)
        .map(|number| {
            let manifest = Guest::MANIFEST.replace("1.2.3", &number.to_string());
            Guest { manifest, ..Guest::new() }.bytes()
        })
        .collect();
    for expected in [COMPILED, Origin::Cached] {
        let start = Instant::now();
        let host = open(folder.path()).unwrap();
        for wasm in &modules {
            assert_eq!(Module::compile(&host, wasm).unwrap().origin(), expected);
        }
        let took = start.elapsed();
        eprintln!("50 modules, {expected:?}: {took:?}");
        assert!(expected == COMPILED || took < Duration::from_secs(2), "{took:?}");
    }
}
