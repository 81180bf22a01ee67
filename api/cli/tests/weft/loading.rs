use std::{fmt::Write, fs};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::daemon::{Asked, Daemon, Outcome, ok, problem};

const TOML: &str = r#"
[tables.0.rules.web]
priority = 10
match = { in_port = "lan", ip_proto = "tcp", l4_dst = 443 }
actions = [{ goto = 7 }]

[tables.7]
miss = [{ output = "wan" }]

[tables.7.rules.none]
priority = 0
actions = ["drop"]
"#;

const BATCH: &str = r#"{"operations":[{"put":{"table":0,"name":"web","spec":{"priority":10,"match":{"in_port":"lan","ip_proto":"tcp","l4_dst":443},"actions":[{"goto":7}]}}},{"put":{"table":7,"name":"none","spec":{"priority":0,"match":{},"actions":["drop"]}}}]}"#;

fn changed() -> (u16, String) {
    ok(&json!({"revision": 8, "created": 1, "replaced": 0, "unchanged": 1, "deleted": 0}))
}

const CHANGED: &str = "revision 8, rules: 1 created, 0 replaced, 1 unchanged, 0 deleted\n";

fn written(name: &str, text: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    let path = path.display().to_string();
    (folder, path)
}

#[test]
fn tables_of_a_file_become_one_batch_and_their_misses() {
    let (_folder, file) = written("rules.toml", TOML);
    let daemon = Daemon::answering([changed(), ok(&json!({}))]);
    let (outcome, asked) = daemon.weft(&["rule", "load", &file]);
    assert_eq!(outcome, Outcome::success(&format!("{CHANGED}set table 7\n")));
    let miss = Asked::json("PUT /v1/tables/7", r#"{"miss":[{"output":"wan"}]}"#);
    assert_eq!(asked, [Asked::json("POST /v1/rules:batch", BATCH), miss]);
}

#[test]
fn operations_of_a_file_are_the_batch() {
    let batch = r#"{"operations":[{"delete":{"table":0,"name":"web"}}]}"#;
    let (_folder, file) = written("rules.json", batch);
    let (outcome, asked) = Daemon::answering([changed()]).weft(&["rule", "load", &file, "--json"]);
    assert_eq!(outcome, Outcome::success(&format!("{}\n", changed().1)));
    assert_eq!(asked, [Asked::json("POST /v1/rules:batch", batch)]);
}

#[test]
fn what_the_daemon_refuses_is_told_by_its_place_in_the_file() {
    let (_folder, file) = written("rules.toml", TOML);
    let mut refused: Value =
        serde_json::from_str(&problem(422, "rule-invalid", "there is no port lan").1).unwrap();
    refused["pointer"] = "/operations/0/put/spec/match/in_port".into();
    let answers = [(422, refused.to_string())];
    let (outcome, asked) = Daemon::answering(answers).weft(&["rule", "load", &file]);
    let stderr = "error: there is no port lan\n  at /tables/0/rules/web/match/in_port\n  \
        code: rule-invalid (HTTP 422 Unprocessable Entity)\n";
    assert_eq!(outcome, Outcome::failure(1, stderr));
    assert_eq!(asked, [Asked::json("POST /v1/rules:batch", BATCH)]);
}

#[test]
fn a_file_that_holds_no_rules_is_refused_with_the_place() {
    for (name, text, expected) in [
        ("a.toml", TOML.replace("priority = 10", "priority = true").as_str(), "line 3, column 12"),
        ("a.toml", &format!("{TOML}[ports]\n"), "unknown field `ports`"),
        ("a.json", r#"{"tables": {"254": {}}}"#, "expected the number of a table, 0 to 253"),
        ("a.json", "{}", "it has either `tables` or `operations`"),
        ("a.json", r#"{"tables": {}, "operations": []}"#, "it has either `tables` or `operations`"),
        ("a.yaml", "", "its name ends neither with .json nor with .toml"),
    ] {
        let (_folder, file) = written(name, text);
        let (outcome, asked) = Daemon::answering([changed()]).weft(&["rule", "load", &file]);
        assert_eq!((outcome.code, asked), (1, vec![]), "{text}");
        assert!(outcome.stderr.starts_with(&format!("error: {file}: ")), "{}", outcome.stderr);
        assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    }
}

#[test]
fn a_large_file_is_one_request() {
    let mut text = String::new();
    for number in 0..10_000 {
        writeln!(text, "[tables.0.rules.r{number}]\npriority = 1\nactions = [\"drop\"]").unwrap();
    }
    let (_folder, file) = written("rules.toml", &text);
    let (outcome, asked) = Daemon::answering([changed()]).weft(&["rule", "load", &file]);
    assert_eq!(outcome, Outcome::success(CHANGED));
    let [Asked { body, .. }] = asked.as_slice() else { panic!("{} requests", asked.len()) };
    let batch: Value = serde_json::from_str(body).unwrap();
    assert_eq!(batch["operations"].as_array().unwrap().len(), 10_000);
}
