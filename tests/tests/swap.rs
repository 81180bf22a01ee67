//! A module is exchanged for another version while packets flow.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::fs;

use serde_json::{Value, json};
use weft_tests::{Daemon, Guest, Namespaces, Song, deny_tcp, firewalled, module};

const SWAPS: u64 = 40;
/// Datagrams a second.
const RATE: u32 = 2000;

fn stage(module: &str) -> Value {
    json!({"module": module, "config": deny_tcp(7001)})
}

fn upload(daemon: &Daemon, name: &str, wasm: &[u8]) {
    daemon.api().upload("PUT", &format!("/v1/modules/{name}"), wasm).expect(201);
}

#[test]
fn swaps_under_load_lose_duplicate_and_reorder_nothing() {
    let namespaces = Namespaces::two();
    let (a, b) = namespaces.pair();
    let daemon = Daemon::start(&firewalled(&namespaces, &deny_tcp(7001)));
    upload(&daemon, "firewall@1.1.0", &fs::read(module("firewall-1.1.0")).unwrap());
    let digest = |name: &str| {
        let answer = daemon.api().get(&format!("/v1/modules/{name}")).expect(200);
        answer["digest"].as_str().unwrap().to_owned()
    };
    let digests = ["firewall@1.0.0", "firewall@1.1.0"].map(|name| (name, digest(name)));
    assert_ne!(digests[0].1, digests[1].1);

    let song = Song::start(a, b, RATE);
    for (generation, (name, digest)) in (2..=SWAPS + 1).zip(digests.iter().rev().cycle()) {
        let answer = daemon.api().put("/v1/stages/fw", &stage(name)).expect(200);
        assert_eq!(answer["spec"]["module"], *name);
        assert_eq!(answer["status"]["module_digest"], *digest);
        assert_eq!(answer["status"]["generation"], generation);
    }
    let report = song.end_flawless();
    eprintln!("{SWAPS} swaps: {report:?}");

    let stats = daemon.finish();
    assert_eq!(stats.stages["fw"]["generation"], SWAPS + 1);
    assert_eq!(stats.stages["fw"]["unavailable_packets"], 0);
    assert_eq!(stats.port("a").dropped_packets, 0);
    assert_eq!(stats.stages["fw"]["packets"], stats.rule("a-to-b") + stats.rule("b-to-a"));
}

#[test]
fn a_swap_that_fails_leaves_the_old_version_at_work() {
    let namespaces = Namespaces::two();
    let (a, b) = namespaces.pair();
    let daemon = Daemon::start(&firewalled(&namespaces, &deny_tcp(7001)));
    let broken = Guest { init: "unreachable".into(), ..Guest::default() };
    upload(&daemon, "broken", &broken.wasm());

    let song = Song::start(a, b, RATE);
    let before = daemon.api().get("/v1/stages/fw").expect(200);
    let answer = daemon.api().put("/v1/stages/fw", &stage("broken"));
    let (status, code, text) = answer.problem();
    assert_eq!((status, code), (422, "stage-init-failed"), "{text}");
    assert!(text.contains("weft_init"), "{text}");
    let after = daemon.api().get("/v1/stages/fw").expect(200);
    assert_eq!(after["spec"], before["spec"]);
    assert_eq!(after["status"]["generation"], 1);
    song.end_flawless();

    let refused = daemon.api().put(
        "/v1/stages/fw",
        &json!({"module": "firewall@1.0.0", "config": {"default": "perhaps"}}),
    );
    let (status, code, text) = refused.problem();
    assert_eq!((status, code), (422, "stage-init-failed"), "{text}");
    assert!(text.contains("perhaps"), "the module's own words: {text}");
    daemon.finish();
}

#[test]
fn a_new_configuration_takes_effect_at_once() {
    let namespaces = Namespaces::two();
    let (a, b) = namespaces.pair();
    let daemon = Daemon::start(&firewalled(&namespaces, &json!({"default": "allow"})));
    let ping = || a.try_run(&["ping", "-q", "-c", "1", "-W", "1", &b.ipv4]).code;
    assert_eq!(ping(), 0);
    let deny = json!({"module": "firewall@1.0.0", "config": {"default": "deny"}});
    daemon.api().put("/v1/stages/fw", &deny).expect(200);
    assert_eq!(ping(), 1);
    let allow = json!({"module": "firewall@1.0.0", "config": {"default": "allow"}});
    daemon.api().put("/v1/stages/fw", &allow).expect(200);
    assert_eq!(ping(), 0);
    let stats = daemon.finish();
    assert!(stats.port("a").drops["fw:denied-by-default"] >= 1, "{:?}", stats.port("a"));
}
