//! Ports come and go while others carry traffic.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use serde_json::{Value, json};
use weft_tests::{Canary, Daemon, Link, Namespaces};

const ROUNDS: usize = 20;

fn rule(from: &str, to: &str) -> Value {
    json!({"priority": 10, "match": {"in_port": from}, "actions": [{"output": to}]})
}

fn attach(daemon: &Daemon, name: &str, link: &Link, number: u8) {
    let spec = json!({"device": link.af_packet(number)});
    let answer = daemon.api().put(&format!("/v1/ports/{name}"), &spec).expect(201);
    assert_eq!(answer["name"], name);
    assert_eq!(answer["spec"], spec);
    assert_eq!(answer["status"]["driver"], "net_af_packet");
    assert_eq!(answer["status"]["link"], "up");
}

#[test]
fn ports_come_and_go_twenty_times_and_other_traffic_does_not_notice() {
    let (canary, namespaces) = (Canary::hatch(), Namespaces::two());
    let (x, y) = namespaces.pair();
    let daemon = Daemon::start(&canary.config());
    let song = canary.sing();
    for _ in 0..ROUNDS {
        attach(&daemon, "x", x, 0);
        attach(&daemon, "y", y, 1);
        daemon.api().put("/v1/tables/0/rules/there", &rule("x", "y")).expect(201);
        daemon.api().put("/v1/tables/0/rules/back", &rule("y", "x")).expect(201);
        x.run(&["ping", "-q", "-c", "1", "-W", "5", &y.ipv4]);
        daemon.api().stats().assert_conserved();
        for rule in ["there", "back"] {
            daemon.api().delete(&format!("/v1/tables/0/rules/{rule}")).expect(204);
        }
        for port in ["x", "y"] {
            daemon.api().delete(&format!("/v1/ports/{port}")).expect(204);
        }
    }
    let ports = daemon.api().get("/v1/ports").expect(200);
    let names: Vec<&str> =
        ports.as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["canary-a", "canary-b"]);
    song.end_flawless();
    daemon.finish_with_deleted_ports();
}

#[test]
fn a_port_that_a_rule_uses_cannot_be_deleted() {
    let canary = Canary::hatch();
    let daemon = Daemon::start(&canary.config());
    let song = canary.sing();
    let answer = daemon.api().delete("/v1/ports/canary-a");
    let (status, code, text) = answer.problem();
    assert_eq!((status, code), (409, "port-in-use"));
    assert!(text.contains("canary-a") && text.contains("canary-there"), "{text}");
    song.end_flawless();

    for rule in ["canary-there", "canary-back"] {
        daemon.api().delete(&format!("/v1/tables/0/rules/{rule}")).expect(204);
    }
    daemon.api().delete("/v1/ports/canary-a").expect(204);
    let gone = daemon.api().delete("/v1/ports/canary-a");
    assert_eq!((gone.problem().0, gone.problem().1), (404, "port-not-found"));
    daemon.finish_with_deleted_ports();
}

#[test]
fn a_port_put_twice_is_the_same_port() {
    let namespaces = Namespaces::two();
    let (x, _) = namespaces.pair();
    let daemon = Daemon::start(&json!({}));
    attach(&daemon, "x", x, 0);
    let spec = json!({"device": x.af_packet(0)});
    let first = daemon.api().get("/v1/ports/x").expect(200);
    let again = daemon.api().put("/v1/ports/x", &spec).expect(200);
    assert_eq!(again["status"]["id"], first["status"]["id"]);
    daemon.finish();
}
