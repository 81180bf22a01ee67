use serde_json::{Value, json};

use crate::daemon::{Asked, Daemon, Outcome, ok, problem, weft};

fn stats(rx_packets: u64) -> Value {
    let lan = json!({
        "rx_packets": rx_packets, "rx_bytes": 640, "tx_packets": 9, "tx_bytes": 576,
        "copied_packets": 0, "mirrored_packets": 0, "forwarded_packets": rx_packets - 3, "dropped_packets": 3,
        "in_flight_packets": 0, "drops": {"fw:denied-by-rule": 2, "table-miss": 1},
        "device": {"rx_missed": 0, "rx_errors": 0, "rx_nombuf": 0, "tx_errors": 0},
    });
    json!({"revision": 7, "ports": {"lan": lan}, "stages": {}, "workers": [], "rules": []})
}

#[test]
fn stats_say_what_became_of_each_ports_packets() {
    let (outcome, asked) = Daemon::answering([ok(&stats(10))]).weft(&["stats"]);
    assert_eq!(
        outcome,
        Outcome::success(
            "revision 7\n\n\
             PORT  RX PACKETS  RX BYTES  TX PACKETS  TX BYTES  RX MISSED  RX ERRORS  RX NOMBUF  TX ERRORS\n\
             lan           10       640           9       576          0          0          0          0\n\n\
             lan: 10 received + 0 copied = 7 forwarded + 3 dropped + 0 in flight\n  \
             fw:denied-by-rule  2\n  \
             table-miss         1\n"
        )
    );
    assert_eq!(asked, [Asked::plain("GET /v1/stats")]);
}

#[test]
fn watched_stats_come_again_with_rates_until_the_daemon_is_gone() {
    let daemon = Daemon::answering([ok(&stats(10)), ok(&stats(30))]);
    let (outcome, asked) = daemon.weft(&["stats", "--watch", "0.01"]);
    assert_eq!(outcome.code, 5, "{outcome:?}");
    assert_eq!(asked, ["GET /v1/stats"; 2].map(Asked::plain));
    let (first, second) = outcome.stdout.split_once("\n\nrevision 7\n").unwrap();
    assert!(first.contains("lan: 10 received") && !first.contains("RX PACKETS/S"), "{first}");
    assert!(second.contains("lan: 30 received") && second.contains("RX PACKETS/S"), "{second}");
}

#[test]
fn watched_json_is_a_line_for_each_answer() {
    let daemon = Daemon::answering([ok(&stats(10)), ok(&stats(30))]);
    let (outcome, _) = daemon.weft(&["stats", "--watch", "0.01", "--json"]);
    let lines = outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    assert_eq!(lines.collect::<Vec<Value>>(), [stats(10), stats(30)]);
}

#[test]
fn workers_are_listed() {
    let worker = json!({
        "id": 0, "core": 1, "numa_node": null, "ports": ["lan"], "revision": 7, "iterations": 9,
        "busy_iterations": 3, "rx_packets": 10, "busy_cycles": 3, "idle_cycles": 1,
        "exact_hits": 1, "wildcard_hits": 0, "misses": 2, "flows": 1, "flow_limit": 10, "masks": 1,
        "flows_installed": 1, "flows_evicted": 0, "flows_expired": 0, "flows_revised": 0,
        "mask_limit_hits": 0, "programs": 2, "longest_iteration_us": 34,
    });
    let (outcome, asked) = Daemon::answering([ok(&json!([worker]))]).weft(&["worker", "list"]);
    assert!(outcome.stdout.contains("  75.0 %         2  34 us\n"), "{outcome:?}");
    assert!(outcome.stdout.contains("     0  33.3 %  0.0 %     66.6 %      1  "), "{outcome:?}");
    assert_eq!(asked, [Asked::plain("GET /v1/workers")]);
}

#[test]
fn status_succeeds_if_the_daemon_is_ready_and_says_why_if_not() {
    let alive = || (200, "ok".to_owned());
    let ready = ok(&json!({"ready": true, "failing": []}));
    let (outcome, asked) = Daemon::answering([alive(), ready]).weft(&["status"]);
    assert_eq!(outcome, Outcome::success("alive and ready\n"));
    assert_eq!(asked, ["GET /healthz", "GET /readyz"].map(Asked::plain));

    let failing = json!({"ready": false, "failing": ["port lan has no link"]}).to_string();
    let (outcome, _) = Daemon::answering([alive(), (503, failing)]).weft(&["status"]);
    let stdout = "alive, but not ready:\n  port lan has no link\n".to_owned();
    let stderr = "error: the daemon is not ready\n".to_owned();
    assert_eq!(outcome, Outcome { code: 1, stdout, stderr });

    let refusal = problem(503, "unavailable", "the daemon is stopping");
    let (outcome, _) = Daemon::answering([alive(), refusal]).weft(&["status"]);
    let code = "  code: unavailable (HTTP 503 Service Unavailable)\n";
    let stderr = format!("error: the daemon is stopping\n{code}");
    assert_eq!(outcome, Outcome::failure(1, &stderr));
}

#[test]
fn version_tells_both_releases_and_its_own_without_a_daemon() {
    let own = concat!("weft ", env!("CARGO_PKG_VERSION"), "\n");
    let answer = ok(&json!({"version": "0.9.0", "module_abi": 1, "dpdk": "DPDK 22.11.5"}));
    let (outcome, asked) = Daemon::answering([answer]).weft(&["version"]);
    let both = format!("{own}weftd 0.9.0 (DPDK 22.11.5, module ABI 1)\n");
    assert_eq!(outcome, Outcome::success(&both));
    assert_eq!(asked, [Asked::plain("GET /version")]);

    let alone = weft("unix:/nobody/listens", &["version"]);
    assert_eq!((alone.code, alone.stdout.as_str()), (5, own));
}

#[test]
fn any_answer_of_the_api_can_be_had() {
    let daemon = Daemon::answering([(200, "{\"openapi\":\"3.1.0\"}\n".into())]);
    let (outcome, asked) = daemon.weft(&["get", "/openapi.json"]);
    assert_eq!(outcome, Outcome::success("{\"openapi\":\"3.1.0\"}\n"));
    assert_eq!(asked, [Asked::plain("GET /openapi.json")]);
}

#[test]
fn completions_need_no_daemon() {
    for (shell, expected) in
        [("bash", "complete -F _weft"), ("zsh", "#compdef weft"), ("fish", "complete -c weft")]
    {
        let outcome = weft("unix:/nobody/listens", &["completion", shell]);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        assert!(outcome.stdout.contains(expected), "{shell}");
    }
}
