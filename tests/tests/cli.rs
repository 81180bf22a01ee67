//! The command line does over the API what a user does by hand.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use serde_json::{Value, json};
use weft_tests::{Daemon, Namespaces, binary, module, try_run};

/// Runs `weft`, which succeeds, and returns what it prints.
#[track_caller]
fn done(daemon: &Daemon, arguments: &[&str]) -> String {
    let output = daemon.weft(arguments);
    assert_eq!(output.code, 0, "weft {}: {}", arguments.join(" "), output.stderr);
    assert_eq!(output.stderr, "", "weft {}", arguments.join(" "));
    output.stdout
}

/// Runs `weft --json`, which succeeds, and returns what it prints.
#[track_caller]
fn answer(daemon: &Daemon, arguments: &[&str]) -> Value {
    let text = done(daemon, &[&["--json"][..], arguments].concat());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_firewall_is_deployed_used_swapped_and_taken_away() {
    let namespaces = Namespaces::two();
    let (a, b) = namespaces.pair();
    let daemon = Daemon::start(&json!({}));
    let (old, new) = (module("firewall-1.0.0"), module("firewall-1.1.0"));

    assert!(done(&daemon, &["module", "upload", &old]).contains("firewall@1.0.0"));
    let config = r#"{"default": "deny", "rules": [{"action": "allow", "protocol": "icmp"}]}"#;
    let stage = ["stage", "set", "fw", "--module", "firewall@1.0.0", "--config", config];
    assert_eq!(answer(&daemon, &stage)["spec"]["config"]["default"], "deny");
    done(&daemon, &["port", "add", "a", "--device", &a.af_packet(0)]);
    done(&daemon, &["port", "add", "b", "--device", &b.af_packet(1)]);
    for (name, from, to) in [("there", "in_port=a", "output:b"), ("back", "in_port=b", "output:a")]
    {
        let rule = ["rule", "add", name, "--priority", "10", "--match", from];
        done(&daemon, &[&rule[..], &["--action", "stage:fw", "--action", to]].concat());
    }
    a.run(&["ping", "-q", "-c", "2", "-i", "0.1", "-W", "5", &b.ipv4]);

    done(&daemon, &["module", "upload", &new]);
    let swapped = answer(&daemon, &["stage", "set", "fw", "--module", "firewall@1.1.0"]);
    assert_eq!(swapped["spec"]["config"]["default"], "deny", "what is not given stays");
    assert_eq!(swapped["status"]["generation"], 2);
    a.run(&["ping", "-q", "-c", "2", "-i", "0.1", "-W", "5", &b.ipv4]);

    let stats = answer(&daemon, &["stats"]);
    assert!(stats["ports"]["a"]["forwarded_packets"].as_u64().unwrap() >= 4, "{stats:#}");
    assert!(done(&daemon, &["stats"]).contains("fw"));
    for what in [["rule", "there"], ["rule", "back"], ["stage", "fw"], ["port", "a"], ["port", "b"]]
    {
        done(&daemon, &[what[0], "delete", what[1]]);
    }
    done(&daemon, &["module", "delete", "firewall@1.0.0"]);
    assert_eq!(answer(&daemon, &["module", "list"])[0]["name"], "firewall@1.1.0");
    daemon.finish();
}

#[test]
fn json_is_what_the_api_answers() {
    let daemon = Daemon::start(&json!({"ports": {"null": {"device": "net_null0,no-rx=1"}}}));
    done(&daemon, &["module", "upload", &module("macswap"), "--name", "swap"]);
    done(&daemon, &["stage", "set", "turn", "--module", "swap"]);
    done(&daemon, &["rule", "add", "all", "--action", "stage:turn", "--action", "output:null"]);
    let cases = [
        (&["module", "show", "swap"][..], "/v1/modules/swap"),
        (&["module", "list"], "/v1/modules"),
        (&["version"], "/version"),
    ];
    for (arguments, path) in cases {
        assert_eq!(answer(&daemon, arguments), daemon.api().get(path).expect(200), "{path}");
    }
    let lists = [
        (&["port", "list"][..], "/0/name", "null"),
        (&["stage", "list"], "/0/name", "turn"),
        (&["rule", "list"], "/0/rules/0/name", "all"),
    ];
    for (arguments, pointer, name) in lists {
        let list = answer(&daemon, arguments);
        assert_eq!(list.as_array().unwrap().len(), 1, "{list:#}");
        assert_eq!(list.pointer(pointer), Some(&json!(name)), "{list:#}");
    }
    daemon.finish();
}

#[test]
fn exit_codes_tell_failures_apart() {
    let daemon = Daemon::start(&json!({"ports": {"null": {"device": "net_null0,no-rx=1"}}}));
    done(&daemon, &["rule", "add", "all", "--match", "in_port=null", "--action", "drop"]);
    let failing = |arguments: &[&str], code: i32, says: &str| {
        let output = daemon.weft(arguments);
        assert_eq!(output.code, code, "weft {}: {}", arguments.join(" "), output.stderr);
        assert!(output.stderr.contains(says), "{says:?} is not in {:?}", output.stderr);
        assert_eq!(output.stdout, "");
    };
    failing(&["stage", "set", "fw", "--module", "nobody"], 1, "nobody");
    failing(&["module", "upload", "/no/such/file.wasm"], 1, "/no/such/file.wasm");
    failing(&["port", "remove", "null"], 2, "remove");
    failing(&["rule", "add", "x", "--match", "l5=7", "--action", "drop"], 2, "l5");
    failing(&["port", "show", "nowhere"], 3, "nowhere");
    failing(&["port", "delete", "null"], 4, "all");
    daemon.finish();

    let nobody = try_run(&[&binary("weft"), "--server", "unix:/no/such/socket", "stats"]);
    assert_eq!(nobody.code, 5, "{}", nobody.stderr);
    assert!(nobody.stderr.contains("/no/such/socket"), "{}", nobody.stderr);
}
