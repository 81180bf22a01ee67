use std::fs;

use serde_json::{Value, json};

use crate::daemon::{Asked, Daemon, Outcome, ok, problem};

fn fw(spec: Value, generation: u64) -> Value {
    json!({
        "name": "fw", "spec": spec,
        "status": {
            "module_digest": "sha256:00", "generation": generation, "counters": {}, "packets": 0,
            "batches": 0, "verdicts": {"next": 0, "drop": 0, "output": 0, "goto": 0},
            "faults": {"trap": 0, "deadline": 0, "bad_verdict": 0}, "unavailable_packets": 0,
            "log_lines_lost": 0,
        },
    })
}

fn present() -> Value {
    json!({"module": "firewall@1.0.0", "config": {"default": "deny"}, "on_fault": "bypass",
        "memory_limit_bytes": 65_536, "deadline_us": 50})
}

/// Runs `weft stage set fw` over a present stage: the body that it puts.
fn set(arguments: &[&str]) -> String {
    let answers = [ok(&fw(present(), 1)), ok(&fw(present(), 2))];
    let arguments = [&["stage", "set", "fw"], arguments].concat();
    let (outcome, mut asked) = Daemon::answering(answers).weft(&arguments);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    let put = asked.pop().unwrap();
    assert_eq!(asked, [Asked::plain("GET /v1/stages/fw")]);
    assert_eq!((put.line.as_str(), put.kind.as_str()), ("PUT /v1/stages/fw", "application/json"));
    put.body
}

#[test]
fn a_new_stage_takes_what_is_given_and_the_defaults() {
    let spec = json!({"module": "firewall@1.0.0", "config": {}, "on_fault": "drop",
        "memory_limit_bytes": 16_777_216, "deadline_us": 10_000});
    let answers = [problem(404, "stage-not-found", "there is no stage fw"), ok(&fw(spec, 1))];
    let (outcome, asked) =
        Daemon::answering(answers).weft(&["stage", "set", "fw", "--module", "firewall@1.0.0"]);
    assert_eq!(
        outcome,
        Outcome::success(
            "STAGE  MODULE          GENERATION  ON FAULT  PACKETS  DROPPED  FAULTS\n\
             fw     firewall@1.0.0           1  drop            0        0       0\n"
        )
    );
    let body = r#"{"module":"firewall@1.0.0","config":{},"on_fault":"drop","memory_limit_bytes":16777216,"deadline_us":10000}"#;
    assert_eq!(asked, [Asked::plain("GET /v1/stages/fw"), Asked::json("PUT /v1/stages/fw", body)]);
}

#[test]
fn what_is_not_given_stays_as_it_is() {
    assert_eq!(
        set(&["--module", "firewall@1.0.1"]),
        r#"{"module":"firewall@1.0.1","config":{"default":"deny"},"on_fault":"bypass","memory_limit_bytes":65536,"deadline_us":50}"#
    );
    assert_eq!(
        set(&["--config", r#"{"rules": []}"#]),
        r#"{"module":"firewall@1.0.0","config":{"rules":[]},"on_fault":"bypass","memory_limit_bytes":65536,"deadline_us":50}"#
    );
    assert_eq!(
        set(&["--on-fault", "drop", "--memory-limit", "16M", "--deadline-us", "7"]),
        r#"{"module":"firewall@1.0.0","config":{"default":"deny"},"on_fault":"drop","memory_limit_bytes":16777216,"deadline_us":7}"#
    );
}

#[test]
fn a_configuration_comes_from_a_file_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fw.toml");
    fs::write(&file, "[[rules]]\naction = \"deny\"\n").unwrap();
    assert_eq!(
        set(&["--config-file", file.to_str().unwrap()]),
        r#"{"module":"firewall@1.0.0","config":{"rules":[{"action":"deny"}]},"on_fault":"bypass","memory_limit_bytes":65536,"deadline_us":50}"#
    );
}

#[test]
fn a_new_stage_without_a_module_is_wrong_usage() {
    let daemon = Daemon::answering([problem(404, "stage-not-found", "there is no stage fw")]);
    let (outcome, asked) = daemon.weft(&["stage", "set", "fw", "--on-fault", "bypass"]);
    assert_eq!(
        outcome,
        Outcome::failure(
            2,
            "error: there is no stage fw yet, so it needs a module\n  \
             hint: add --module; `weft module list` shows what there is\n"
        )
    );
    assert_eq!(asked, [Asked::plain("GET /v1/stages/fw")]);
}

#[test]
fn stages_are_listed_shown_and_deleted() {
    let all = ok(&json!([fw(present(), 4)]));
    let (outcome, asked) = Daemon::answering([all]).weft(&["stage", "list"]);
    assert!(
        outcome
            .stdout
            .ends_with("\nfw     firewall@1.0.0           4  bypass          0        0       0\n"),
        "{outcome:?}"
    );
    assert_eq!(asked, [Asked::plain("GET /v1/stages")]);

    let one = ok(&fw(present(), 4));
    let (outcome, asked) = Daemon::answering([one]).weft(&["stage", "show", "fw"]);
    assert!(outcome.stdout.contains("\nconfig          {\"default\":\"deny\"}\n"), "{outcome:?}");
    assert_eq!(asked, [Asked::plain("GET /v1/stages/fw")]);

    let (outcome, asked) =
        Daemon::answering([(204, String::new())]).weft(&["stage", "delete", "fw"]);
    assert_eq!(outcome, Outcome::success("deleted stage fw\n"));
    assert_eq!(asked, [Asked::plain("DELETE /v1/stages/fw")]);
}
