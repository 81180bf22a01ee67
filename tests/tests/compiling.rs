//! Modules are compiled out of the daemon's way, and once.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use weft_tests::{Canary, Daemon, Guest, overlay};

/// A function that takes the compiler long.
fn heavy() -> String {
    let line = "(local.set 0 (i64.xor (i64.mul (local.get 0) (local.get 1))
        (i64.rotl (local.get 1) (local.get 0))))
        (i64.store (i32.wrap_i64 (local.get 0)) (local.get 1))";
    format!("(func (param i64 i64) (result i64) {} (local.get 0))", line.repeat(2000))
}

/// A module of this version, so that it differs from others.
fn version(number: usize) -> Vec<u8> {
    Guest { init: format!("(drop (i32.const {number}))"), ..Guest::default() }.wasm()
}

#[test]
fn a_compile_bomb_is_refused_while_packets_flow() {
    let canary = Canary::hatch();
    let mut config = canary.config();
    overlay(&mut config, &json!({"compiler": {"time_limit_ms": 3000}}));
    let daemon = Daemon::start(&config);
    let song = canary.sing();
    let bomb = Guest::default().wasm_with(&heavy().repeat(120));
    let start = Instant::now();
    let answer = daemon.api().upload("PUT", "/v1/modules/bomb", &bomb);
    let (status, code, text) = answer.problem();
    eprintln!("{} bytes, refused after {:?}: {text}", bomb.len(), start.elapsed());
    assert_eq!((status, code), (422, "compile-limit"), "{text}");
    assert!(text.contains("the compiler was not done after 3s"), "{text}");
    assert!(start.elapsed() < Duration::from_secs(30));
    daemon.api().upload("PUT", "/v1/modules/next", &version(1)).expect(201);
    song.end_flawless();
    daemon.finish();
}

#[test]
fn native_code_is_never_taken() {
    let daemon = Daemon::start(&json!({}));
    let native = [b"\x7fELF\x02\x01\x01".to_vec(), vec![0; 4096]].concat();
    for body in [native, fs::read("/proc/self/exe").unwrap()[..1 << 20].to_vec()] {
        let answer = daemon.api().upload("PUT", "/v1/modules/native", &body);
        let (status, code, text) = answer.problem();
        assert_eq!((status, code), (422, "module-invalid"), "{text}");
        assert!(text.contains("native code"), "{text}");
    }
    daemon.finish();
}

#[test]
fn uploads_at_once_are_each_kept_under_its_own_name() {
    let daemon = Daemon::start(&json!({}));
    let api = daemon.api();
    let digest = |answer: &Value| answer["digest"].as_str().unwrap().to_owned();
    let start = Instant::now();
    let answers: Vec<Value> = thread::scope(|scope| {
        let upload = |number: usize| {
            let path = format!("/v1/modules/m{number}");
            // Each is sent under four names.
            move || api.upload("PUT", &path, &version(number / 4)).expect(201)
        };
        let uploads: Vec<_> = (0..32).map(|number| scope.spawn(upload(number))).collect();
        uploads.into_iter().map(|upload| upload.join().unwrap()).collect()
    });
    eprintln!("32 uploads, 8 of them different: {:?}", start.elapsed());
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!(answer["name"], format!("m{number}"));
        assert_eq!(digest(answer), digest(&answers[number / 4 * 4]), "m{number}");
        let other = &answers[(number + 4) % 32];
        assert_ne!(digest(answer), digest(other), "m{number}");
    }
    daemon.finish();
}

#[test]
fn a_start_with_fifty_modules_is_quick_from_the_cache_and_right_without() {
    let folder = TempDir::new().unwrap();
    let mut modules = json!({});
    for number in 0..50 {
        let path = folder.path().join(format!("{number}.wasm"));
        fs::write(&path, version(number)).unwrap();
        modules[format!("m{number}")] = json!({"path": path});
    }
    let cache = folder.path().join("cache");
    let config = json!({"compiler": {"cache": cache}, "modules": modules});
    let start = |expected: Option<&'static str>| {
        let before = Instant::now();
        let mut daemon = Daemon::start_in(folder.path(), &config);
        let took = before.elapsed();
        let listed = daemon.api().get("/v1/modules").expect(200);
        assert_eq!(listed.as_array().unwrap().len(), 50);
        if let Some(expected) = expected {
            daemon.expect_in_log(expected);
        }
        daemon.finish();
        took
    };
    let (compiled, cached) = (start(None), start(None));
    eprintln!("ready with 50 modules: {compiled:?} compiled, {cached:?} from the cache");
    assert!(cached < Duration::from_secs(2), "{cached:?}");

    for entry in fs::read_dir(&cache).unwrap().take(3) {
        let path = entry.unwrap().path();
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, bytes).unwrap();
    }
    start(Some("was changed or cut short since it was written"));
}
