use std::{io, os::unix::net::UnixListener};

use serde_json::json;

use crate::daemon::{Daemon, Outcome, command, ok, outcome, problem, weft};

#[test]
fn a_refusal_has_its_own_exit_code_and_is_told_on_standard_error() {
    for (status, phrase, code, exit) in [
        (404, "404 Not Found", "port-not-found", 3),
        (409, "409 Conflict", "port-in-use", 4),
        (422, "422 Unprocessable Entity", "port-invalid", 1),
        (503, "503 Service Unavailable", "unavailable", 1),
    ] {
        for arguments in [&["port", "delete", "lan"][..], &["port", "delete", "lan", "--json"]] {
            let daemon = Daemon::answering([problem(status, code, "it is so")]);
            let (outcome, _) = daemon.weft(arguments);
            let stderr = format!("error: it is so\n  code: {code} (HTTP {phrase})\n");
            assert_eq!(outcome, Outcome::failure(exit, &stderr));
        }
    }
}

#[test]
fn a_refusal_is_told_with_its_place_and_what_to_do() {
    let body = json!({
        "type": "urn:weft:problem:stage-invalid", "title": "Stage invalid", "status": 422,
        "detail": "0 is not from 1 to 10000000", "code": "stage-invalid",
        "pointer": "/deadline_us", "hint": "write 1 or more",
    });
    let (outcome, _) = Daemon::answering([(422, body.to_string())]).weft(&["stage", "list"]);
    assert_eq!(
        outcome,
        Outcome::failure(
            1,
            "error: 0 is not from 1 to 10000000\n  at /deadline_us\n  hint: write 1 or more\n  \
             code: stage-invalid (HTTP 422 Unprocessable Entity)\n"
        )
    );
}

#[test]
fn a_daemon_that_is_not_there_is_named_with_the_way_to_start_it() {
    let outcome = weft("unix:/nobody/listens", &["port", "list"]);
    assert_eq!(
        outcome,
        Outcome::failure(
            5,
            "error: cannot reach the daemon at unix:/nobody/listens: No such file or directory (os \
             error 2)\n  hint: start it by `weftd --config weft.toml`, or name its socket or \
             address by --server or WEFT_SERVER\n"
        )
    );
}

#[test]
fn the_option_wins_over_the_environment() {
    let outcome = weft("unix:/from/environment", &["--server", "unix:/from/option", "stats"]);
    assert!(outcome.stderr.contains("at unix:/from/option:"), "{outcome:?}");
}

#[test]
fn a_daemon_that_does_not_answer_in_time_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("api.sock");
    let _deaf = UnixListener::bind(&path).unwrap();
    let server = format!("unix:{}", path.display());
    let outcome = weft(&server, &["stats", "--timeout", "0.05"]);
    assert_eq!(outcome.code, 5);
    let message = format!("error: no answer from the daemon at {server} within 0.05 s\n  hint: ");
    assert!(outcome.stderr.starts_with(&message), "{outcome:?}");
}

#[test]
fn what_speaks_no_http_is_told_so() {
    let daemon = Daemon::answering([(0, String::new())]);
    let (outcome, _) = daemon.weft(&["stats"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (5, ""));
    assert!(outcome.stderr.starts_with("error: the connection to unix:/"), "{outcome:?}");
}

#[test]
fn an_answer_of_another_shape_is_told_with_the_request() {
    let (outcome, _) = Daemon::answering([ok(&json!({"ports": []}))]).weft(&["port", "list"]);
    assert_eq!(outcome.code, 1);
    let message = format!(
        "error: the answer to GET /v1/ports is not what weft {} expects: invalid type: map",
        env!("CARGO_PKG_VERSION")
    );
    assert!(outcome.stderr.starts_with(&message), "{outcome:?}");
}

#[test]
fn wrong_usage_asks_nothing_and_says_what_is_wrong() {
    for (arguments, message) in [
        (&[][..], "Usage: weft"),
        (&["prot", "list"], "a similar subcommand exists: 'port'"),
        (&["port", "add", "lan"], "--device <DEVARGS>"),
        (&["port", "show", "../stats"], "is not a name"),
        (&["rule", "add", "r"], "--action <ACTION>"),
        (&["rule", "add", "r", "--action", "dorp"], "expected one of output:PORT"),
        (&["rule", "add", "r", "--action", "drop", "--match", "tos=1"], {
            "error: --match: unknown field `tos`"
        }),
        (&["rule", "list", "--table", "254"], "a table is a number from 0 to 253"),
        (&["stage", "set", "s", "--config", "[]"], "expected a map"),
        (&["stage", "set", "s", "--config", "{}", "--config-file", "f"], "cannot be used with"),
        (&["stage", "set", "s", "--memory-limit", "1.5M"], "expected bytes such as"),
        (&["--timeout", "0", "stats"], "expected seconds such as"),
        (&["--server", "localhost", "stats"], "expected unix:/path/of/the/socket"),
        (&["get", "v1/stats"], "expected the path of a resource"),
    ] {
        let outcome = weft("unix:/nobody/listens", arguments);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{arguments:?}: {outcome:?}");
        assert!(outcome.stderr.contains(message), "{arguments:?}: {}", outcome.stderr);
    }
}

#[test]
fn nobody_reading_on_is_no_failure() {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    let daemon = Daemon::answering([ok(&json!([]))]);
    let output = command(&daemon.server, &["port", "list"]).stdout(writer).output().unwrap();
    assert_eq!(outcome(output), Outcome::success(""));
}
