//! What must be refused, or hurt nobody but its author. A canary sings throughout.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{collections::BTreeMap, fs, thread, time::Duration};

use serde_json::{Value, json};
use weft_tests::{
    Answer, Canary, Daemon, Guest, Link, Namespaces, Song, module, overlay, wait_until,
};

/// Starts a daemon, does something to it while the canary sings, and ends both without a flaw.
fn with_canary(test: impl FnOnce(&mut Daemon)) {
    let canary = Canary::hatch();
    let mut daemon = Daemon::start(&canary.config());
    let song = canary.sing();
    test(&mut daemon);
    song.end_flawless();
    daemon.finish();
}

#[track_caller]
fn assert_problem(answer: &Answer, status: u16, code: &str, says: &[&str]) {
    let (found, name, text) = answer.problem();
    assert_eq!((found, name), (status, code), "{text}");
    for words in says {
        assert!(text.contains(words), "{words:?} is not in {text:?}");
    }
}

#[test]
fn what_is_no_module_is_refused_with_the_reason() {
    with_canary(|daemon| {
        let without = |export| Guest { without: vec![export], ..Guest::default() }.wasm();
        let import = r#"(import "env" "no_such_function" (func))"#;
        let importing = Guest { imports: import.into(), ..Guest::default() }.wasm();
        let huge = Guest { pages: 65_536, ..Guest::default() }.wasm();
        let whole = Guest::default().wasm();
        let cut = whole[..whole.len() - 3].to_vec();
        let cases: [(Vec<u8>, &[&str]); 7] = [
            (b"#!/bin/sh\necho I am no module\n".to_vec(), &["not a WebAssembly module"]),
            (Vec::new(), &["not a WebAssembly module"]),
            (cut, &["not valid", "offset"]),
            (without("weft_process"), &["does not export `weft_process`"]),
            (without("weft_init"), &["does not export `weft_init`"]),
            (importing, &["`env.no_such_function`", "wasm32-unknown-unknown"]),
            (huge, &["4294967296 bytes", "limit"]),
        ];
        for (wasm, says) in cases {
            let answer = daemon.api().upload("PUT", "/v1/modules/bad", &wasm);
            assert_problem(&answer, 422, "module-invalid", says);
        }
        assert_problem(&daemon.api().get("/v1/modules/bad"), 404, "module-not-found", &["bad"]);
    });
}

#[test]
fn a_module_that_fails_before_its_first_packet_makes_no_stage() {
    with_canary(|daemon| {
        let cases: [(&str, &str, &[&str]); 2] = [
            ("trapping", "unreachable", &["trapped in weft_init", "unreachable"]),
            ("endless", "(loop $for_ever (br $for_ever))", &["not ready", "weft_init"]),
        ];
        for (name, init, says) in cases {
            let wasm = Guest { init: init.into(), ..Guest::default() }.wasm();
            daemon.api().upload("PUT", &format!("/v1/modules/{name}"), &wasm).expect(201);
            let answer = daemon.api().put("/v1/stages/subject", &json!({"module": name}));
            assert_problem(&answer, 422, "stage-init-failed", says);
        }
        let gone = daemon.api().get("/v1/stages/subject");
        assert_problem(&gone, 404, "stage-not-found", &["subject"]);
    });
}

#[test]
fn what_names_something_that_is_not_there_is_refused() {
    with_canary(|daemon| {
        let put = |path: &str, spec: Value| daemon.api().put(path, &spec);
        let answer = put("/v1/stages/s", json!({"module": "nobody"}));
        assert_problem(&answer, 422, "stage-invalid", &["no module nobody", "upload"]);
        let answer = put("/v1/ports/p", json!({"device": "net_af_packet7,iface=no-such-link"}));
        assert_problem(&answer, 422, "device-not-found", &["no-such-link"]);
        let answer = put("/v1/ports/p", json!({"device": "net_no_such_driver0"}));
        assert_problem(&answer, 422, "device-not-found", &["net_no_such_driver0"]);
        let answer =
            put("/v1/tables/0/rules/r", json!({"priority": 1, "actions": [{"output": "nowhere"}]}));
        assert_problem(&answer, 422, "rule-invalid", &["no port nowhere", "add the port"]);
        let answer =
            put("/v1/tables/0/rules/r", json!({"priority": 1, "actions": [{"stage": "nothing"}]}));
        assert_problem(&answer, 422, "rule-invalid", &["no stage nothing"]);
        let answer = put("/v1/ports/p", json!({"device": "net_null0", "mtoo": 9000}));
        assert_problem(&answer, 422, "body-invalid", &["mtoo"]);
        let answer = daemon.api().get("/v1/no-such-thing");
        assert_problem(&answer, 404, "route-not-found", &[]);
    });
}

#[test]
fn what_is_there_already_or_in_use_is_refused() {
    with_canary(|daemon| {
        let device = daemon.api().get("/v1/ports/canary-a").expect(200)["spec"]["device"].clone();
        let answer = daemon.api().put("/v1/ports/twice", &json!({"device": device}));
        assert_problem(&answer, 409, "device-in-use", &["net_af_packet90"]);
        let answer = daemon.api().delete("/v1/modules/canary");
        assert_problem(&answer, 409, "module-in-use", &["canary"]);
        let answer = daemon.api().delete("/v1/stages/canary");
        assert_problem(&answer, 409, "stage-in-use", &["canary-there"]);
        let other = fs::read(module("firewall-1.1.0")).unwrap();
        let answer = daemon.api().upload("PUT", "/v1/modules/canary", &other);
        assert_problem(&answer, 409, "module-exists", &["canary"]);
    });
}

/// A subject between two namespaces, beside the canary.
struct Subject {
    namespaces: Namespaces,
    canary: Canary,
}

impl Subject {
    fn new() -> Self {
        Self { namespaces: Namespaces::two(), canary: Canary::hatch() }
    }

    fn links(&self) -> (&Link, &Link) {
        self.namespaces.pair()
    }

    /// Starts a daemon whose stage `subject` sees all that goes from `a` to `b`, and the canary.
    fn start(&self, guest: &Guest, options: &Value) -> (Daemon, Song) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("subject.wasm");
        fs::write(&path, guest.wasm()).unwrap();
        let (a, b) = self.links();
        let mut config = json!({
            "ports": {"a": {"device": a.af_packet(0)}, "b": {"device": b.af_packet(1)}},
            "modules": {"subject": {"path": path}},
            "stages": {"subject": {"module": "subject"}},
            "tables": {"0": {"rules": {
                "there": {"priority": 10, "match": {"in_port": "a"}, "actions": [{"stage": "subject"}, {"output": "b"}]},
                "back": {"priority": 10, "match": {"in_port": "b"}, "actions": [{"output": "a"}]},
            }}},
        });
        overlay(&mut config["stages"]["subject"], options);
        overlay(&mut config, &self.canary.config());
        let daemon = Daemon::start(&config);
        let song = self.canary.sing();
        a.run(&["ping", "-q", "-c", "1", "-W", "5", &b.ipv4]);
        (daemon, song)
    }

    /// Sends one datagram whose frame has the length that guests look at.
    fn provoke(&self) {
        let (a, b) = self.links();
        let bytes = PROVOKING - 14 - 20 - 8;
        let script = format!("head -c {bytes} /dev/zero > /dev/udp/{}/9", b.ipv4);
        a.run(&["bash", "-c", &script]);
    }

    /// Waits until the stage lets packets pass again.
    fn await_recovery(&self) {
        let (a, b) = self.links();
        wait_until("the stage to recover", || {
            a.try_run(&["ping", "-q", "-c", "1", "-W", "1", &b.ipv4]).code == 0
        });
    }
}

/// The length of a frame that makes guests misbehave.
const PROVOKING: u32 = 666;

/// A guest that does something with a frame of that length.
fn provoked(deed: &str) -> Guest {
    let each = format!(
        "(if (i32.eq (i32.load offset=16 (local.get $d)) (i32.const {PROVOKING})) (then {deed}))"
    );
    Guest { each, ..Guest::default() }
}

/// Waits until these are the drops of port `a`.
#[track_caller]
fn await_drops(daemon: &Daemon, expected: &[(&str, u64)]) {
    let expected = expected.iter().map(|(reason, count)| ((*reason).to_owned(), *count)).collect();
    let mut found = BTreeMap::new();
    for _ in 0..500 {
        found = drops(daemon);
        if found == expected {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(found, expected);
}

/// Drops of port `a` but for those that a stage without an instance, for a moment, makes.
fn drops(daemon: &Daemon) -> BTreeMap<String, u64> {
    let mut drops = daemon.api().stats().port("a").drops.clone();
    drops.remove("stage-unavailable");
    drops
}

#[test]
fn a_trap_on_a_packet_costs_that_packet_and_the_stage_recovers() {
    let subject = Subject::new();
    let (mut daemon, song) = subject.start(&provoked("unreachable"), &json!({}));
    for traps in 1..=3 {
        subject.provoke();
        await_drops(&daemon, &[("stage-trap", traps)]);
        subject.await_recovery();
    }
    let stage = daemon.api().get("/v1/stages/subject").expect(200);
    assert_eq!(stage["status"]["faults"], json!({"trap": 3, "deadline": 0, "bad_verdict": 0}));
    song.end_flawless();
    daemon.expect_in_log("trap");
    daemon.finish();
}

#[test]
fn an_endless_loop_on_a_packet_ends_at_the_deadline() {
    let subject = Subject::new();
    let endless = provoked("(loop $for_ever (br $for_ever))");
    let (mut daemon, song) = subject.start(&endless, &json!({"deadline_us": 5000}));
    subject.provoke();
    await_drops(&daemon, &[("stage-deadline", 1)]);
    subject.await_recovery();
    let stage = daemon.api().get("/v1/stages/subject").expect(200);
    assert_eq!(stage["status"]["faults"], json!({"trap": 0, "deadline": 1, "bad_verdict": 0}));
    song.end_flawless();
    daemon.expect_in_log("deadline");
    daemon.finish();
}

#[test]
fn a_stage_that_is_told_to_bypass_lets_packets_pass_when_it_fails() {
    let subject = Subject::new();
    let (a, b) = subject.links();
    let always = Guest { each: "unreachable".into(), ..Guest::default() };
    let (mut daemon, song) = subject.start(&always, &json!({"on_fault": "bypass"}));
    let ping = a.run(&["ping", "-c", "20", "-i", "0.02", "-W", "5", &b.ipv4]);
    assert!(ping.contains("20 received"), "{ping}");
    assert_eq!(daemon.api().stats().port("a").dropped_packets, 0);
    song.end_flawless();
    daemon.expect_in_log("trap");
    daemon.finish();
}

#[test]
fn memory_that_is_grown_past_the_limit_is_refused_to_the_module() {
    let subject = Subject::new();
    // Dropped with its own reason if the memory did not grow; a trap if it did.
    let growing = provoked(
        "(if (i32.ne (memory.grow (i32.const 60000)) (i32.const -1)) (then unreachable))
         (i32.store offset=36 (local.get $d) (i32.const 1))
         (i32.store offset=40 (local.get $d) (i32.const 0))",
    );
    let (daemon, song) = subject.start(&growing, &json!({}));
    subject.provoke();
    await_drops(&daemon, &[("subject:disliked", 1)]);
    song.end_flawless();
    daemon.finish();
}

#[test]
fn a_verdict_that_means_nothing_is_a_counted_drop() {
    let subject = Subject::new();
    let lying = provoked("(i32.store offset=36 (local.get $d) (i32.const 77))");
    let (mut daemon, song) = subject.start(&lying, &json!({}));
    subject.provoke();
    await_drops(&daemon, &[("bad-verdict", 1)]);
    subject.await_recovery();
    song.end_flawless();
    daemon.expect_in_log("verdict");
    daemon.finish();
}

/// What weftd says of a configuration that it refuses, at its end.
fn refusal(config: &Value) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = Daemon::run_to_end(folder.path(), config, &[]);
    assert_ne!(output.code, 0, "it started: {}", output.stderr);
    assert_ne!(output.code, 124, "it runs still: {}", output.stderr);
    output.stderr + &output.stdout
}

#[test]
fn a_configuration_file_that_is_wrong_is_refused_at_start_with_what_and_where() {
    let firewall = json!({"firewall": {"path": module("firewall-1.0.0")}});
    let stage = |config: Value| json!({"modules": firewall, "stages": {"fw": {"module": "firewall", "config": config}}});
    let cases: [(Value, &[&str]); 9] = [
        (json!({"prots": {}}), &["unknown field `prots`", "ports"]),
        (json!({"ports": {"a": {"device": "net_null0", "mtoo": 9}}}), &["mtoo", "line"]),
        (json!({"stages": {"fw": {"module": "nobody"}}}), &["stages", "fw", "no module nobody"]),
        (
            json!({"ports": {"a": {"device": "net_null0"}, "b": {"device": "net_null0"}}}),
            &["ports", "b", "port a has this device already"],
        ),
        (
            json!({"ports": {"a": {"device": "net_af_packet0,iface=no-such-link"}}}),
            &["no-such-link"],
        ),
        (json!({"modules": {"m": {"path": "no-such-file.wasm"}}}), &["no-such-file.wasm"]),
        (
            json!({"modules": {"m": {"path": "weft.toml"}}}),
            &["weft.toml", "not a WebAssembly module"],
        ),
        (stage(json!({"default": "perhaps"})), &["fw", "perhaps"]),
        (stage(json!({"default": "allow", "ruels": []})), &["fw", "ruels"]),
    ];
    for (config, says) in cases {
        let text = refusal(&config);
        for words in says {
            assert!(text.contains(words), "{words:?} is not in {text:?}");
        }
        assert!(!text.contains("panicked"), "{text}");
    }
}
