use std::{fs, future::pending, path::Path, sync::Arc, thread};

use api_model::ApiConfig;
use api_server::{Limits, Listeners, router, serve};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    control::Stages,
    daemon::{Outcome, weft},
};

/// The real API before a control that is a map, on both kinds of socket.
struct Api {
    /// How to reach it by the Unix socket.
    unix: String,
    /// How to reach it by loopback.
    loopback: String,
    folder: TempDir,
}

impl Api {
    /// Listens until the test ends.
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("api.sock");
        let config: ApiConfig =
            serde_json::from_value(json!({"socket": socket, "listen": "127.0.0.1:0"})).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let listeners = runtime.block_on(Listeners::open(&config)).unwrap();
        let loopback = format!("http://{}", listeners.address().unwrap());
        let limits = Limits { module_bytes: 1 << 20, ..Limits::default() };
        let router = router(Arc::new(Stages::default()), limits);
        thread::spawn(move || runtime.block_on(serve(listeners, router, limits, pending())));
        Self { unix: format!("unix:{}", socket.display()), loopback, folder }
    }

    fn weft(&self, arguments: &[&str]) -> Outcome {
        weft(&self.unix, arguments)
    }

    /// A file of zeros.
    fn file(&self, name: &str, length: usize) -> String {
        let path: &Path = &self.folder.path().join(name);
        fs::write(path, vec![0; length]).unwrap();
        path.display().to_string()
    }
}

#[test]
fn a_stage_is_made_swapped_listed_and_deleted() {
    let api = Api::start();
    let head = "STAGE  MODULE          GENERATION  ON FAULT  PACKETS  DROPPED  FAULTS\n";
    let made =
        api.weft(&["stage", "set", "fw", "--module", "firewall@1.0.0", "--config", "{\"a\": 1}"]);
    let line = "fw     firewall@1.0.0           1  drop            0        0       0\n";
    assert_eq!(made, Outcome::success(&format!("{head}{line}")));

    let swapped = api.weft(&["stage", "set", "fw", "--on-fault", "bypass"]);
    let line = "fw     firewall@1.0.0           2  bypass          0        0       0\n";
    assert_eq!(swapped, Outcome::success(&format!("{head}{line}")));
    assert_eq!(api.weft(&["stage", "list"]), swapped);

    let shown = weft(&api.loopback, &["stage", "show", "fw", "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(
        shown["spec"],
        json!({"module": "firewall@1.0.0", "config": {"a": 1}, "on_fault": "bypass",
            "memory_limit_bytes": 16_777_216, "deadline_us": 10_000})
    );

    let deleted = Outcome::success("deleted stage fw\n");
    assert_eq!(api.weft(&["stage", "delete", "fw"]), deleted);
    let again = api.weft(&["stage", "delete", "fw"]);
    let stderr = "error: there is no stage fw\n  code: stage-not-found (HTTP 404 Not Found)\n";
    assert_eq!(again, Outcome::failure(3, stderr));
}

#[test]
fn the_apis_refusals_are_told_with_their_exit_codes() {
    let api = Api::start();
    for (arguments, code, stderr) in [
        (
            &["port", "delete", "lan"][..],
            4,
            "\
            error: a rule sends packets to port lan\n  code: port-in-use (HTTP 409 Conflict)\n",
        ),
        (
            &["port", "add", "lan", "--device", "net_xyz0"],
            1,
            "\
            error: no driver takes net_xyz0\n  at /device\n  hint: look at its spelling\n  \
            code: device-not-found (HTTP 422 Unprocessable Entity)\n",
        ),
        (
            &["rule", "add", "r", "--match", "l4_dst=80", "--action", "drop"],
            1,
            "\
            error: only tcp, udp or sctp has this field\n  at /match/l4_dst\n  \
            hint: add ip_proto with tcp, udp or sctp\n  \
            code: rule-invalid (HTTP 422 Unprocessable Entity)\n",
        ),
        (
            &["get", "/v2"],
            3,
            "\
            error: there is nothing at /v2\n  hint: /openapi.json lists what there is\n  \
            code: route-not-found (HTTP 404 Not Found)\n",
        ),
        (
            &["module", "show", "m"],
            3,
            "\
            error: there is no module m\n  code: module-not-found (HTTP 404 Not Found)\n",
        ),
    ] {
        assert_eq!(api.weft(arguments), Outcome::failure(code, stderr), "{arguments:?}");
    }
}

#[test]
fn a_module_that_is_too_large_is_refused_in_the_apis_words() {
    let api = Api::start();
    let fits = api.weft(&["module", "upload", &api.file("fits.wasm", 1 << 20)]);
    let stderr = "error: 1048576 bytes are no module\n  \
        code: module-invalid (HTTP 422 Unprocessable Entity)\n";
    assert_eq!(fits, Outcome::failure(1, stderr));

    let stderr = "error: the body is larger than 1048576 bytes\n  \
        code: body-too-large (HTTP 413 Payload Too Large)\n";
    for server in [&api.unix, &api.loopback] {
        let file = api.file("large.wasm", 30 << 20);
        let large = weft(server, &["module", "upload", &file]);
        assert_eq!(large, Outcome::failure(1, stderr));
    }
}

#[test]
fn a_file_of_rules_is_loaded_or_refused_at_its_place() {
    let api = Api::start();
    let file = |name: &str, text: &str| {
        let path = api.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let rules = |condition: &str| {
        let rule = |n: u32| {
            format!(
                "[tables.3.rules.r{n}]\npriority = 1\nmatch = {{ {condition} }}\nactions = [\"drop\"]\n"
            )
        };
        (0..2000).map(rule).collect::<String>()
    };
    let good = file("good.toml", &rules("ip_proto = \"tcp\", l4_dst = 80"));
    let loaded = "revision 2, rules: 2000 created, 0 replaced, 0 unchanged, 0 deleted\n";
    assert_eq!(api.weft(&["rule", "load", &good]), Outcome::success(loaded));

    let unfit = file("unfit.toml", &rules("l4_dst = 80"));
    let stderr = "error: only tcp, udp or sctp has this field\n  at /tables/3/rules/r0/match/l4_dst\n  \
        hint: add ip_proto with tcp, udp or sctp\n  \
        code: rule-invalid (HTTP 422 Unprocessable Entity)\n";
    assert_eq!(api.weft(&["rule", "load", &unfit]), Outcome::failure(1, stderr));

    let unknown = file("unknown.toml", &rules("in_port = \"lan\""));
    let stderr = "error: there are no ports\n  at /tables/3/rules/r0/match/in_port\n  \
        hint: add the port first\n  code: rule-invalid (HTTP 422 Unprocessable Entity)\n";
    assert_eq!(api.weft(&["rule", "load", &unknown]), Outcome::failure(1, stderr));
}

#[test]
fn the_apis_state_is_told() {
    let api = Api::start();
    let stdout = "alive, but not ready:\n  there are no ports\n".to_owned();
    let stderr = "error: the daemon is not ready\n".to_owned();
    assert_eq!(api.weft(&["status"]), Outcome { code: 1, stdout, stderr });
    let version = weft(&api.loopback, &["version"]);
    assert!(version.stdout.ends_with("\nweftd 0.9.0 (none, module ABI 1)\n"), "{version:?}");
    for noun in ["port", "module", "stage", "rule", "table", "worker"] {
        assert_eq!(api.weft(&[noun, "list", "--json"]), Outcome::success("[]\n"), "{noun}");
    }
}

#[test]
fn meters_groups_and_addresses_are_set_and_shown() {
    let api = Api::start();
    let spec = "algorithm=rfc2697,unit=bits,committed_rate=8000,committed_burst=1500,excess_burst=0,\
                yellow=pass,red=drop";
    let meter = api.weft(&["meter", "set", "gold", spec]);
    let line = format!("METER  GREEN  YELLOW  RED  SPEC\ngold       0       0    0  {spec}\n");
    assert_eq!(meter, Outcome::success(&line));
    let bucket = "weight:2 watch_port:a output:a";
    let group = api.weft(&["group", "set", "up", "select", "--bucket", bucket]);
    let line = "GROUP  KIND    BUCKETS\nup     select        1\n";
    assert_eq!(group, Outcome::success(line));
    let mac = api.weft(&["mac", "set", "age_s=60"]);
    assert!(mac.stdout.contains("0 known of 8192, forgotten after 60 s"), "{}", mac.stdout);
    assert_eq!(api.weft(&["mac", "flush"]), Outcome::success("flushed the addresses\n"));

    let bad =
        api.weft(&["meter", "set", "gold", "algorithm=rfc2697,committed_rate=1,committed_burst=1"]);
    assert!(
        bad.stderr.contains("error: the algorithm needs this field\n  at /excess_burst\n"),
        "{}",
        bad.stderr
    );
}
