use serde_json::{Value, json};
use weft_tests::{Capture, Daemon, frames};

use crate::{rule, sink, source};

/// How many datagrams go to each port.
const TO: [(u16, u64); 4] = [(80, 40), (443, 25), (53, 7), (9, 1)];

fn traffic() -> Capture {
    let to = |port: u16| frames::udp_between(frames::SOURCE, frames::TARGET, (1000, port), 64);
    let mut frames: Vec<Vec<u8>> = Vec::new();
    for round in 0..40 {
        frames.extend(TO.iter().filter(|(_, count)| round < *count).map(|(port, _)| to(*port)));
    }
    frames.push(frames::kind("arp"));
    Capture::new(frames)
}

fn config() -> Value {
    let udp = |port: u16| json!({"ip_proto": "udp", "l4_dst": port});
    json!({
        "workers": {"flow_idle_ms": 600_000},
        "ports": {"in": source(), "out": sink(0)},
        "tables": {
            "0": {"rules": {
                "web": rule(10, &udp(80), &json!(["decrement_ttl", {"output": "out"}])),
                "secure": rule(10, &udp(443), &json!([{"goto": 1}])),
                "names": rule(10, &udp(53), &json!([{"set_field": {"metadata": "0x1/0x1"}}, {"goto": 1}])),
            }},
            "1": {"miss": [{"output": "out"}], "rules": {
                "marked": rule(5, &json!({"metadata": "0x1/0x1"}), &json!(["drop"])),
            }},
        },
    })
}

fn number(flow: &Value, field: &str) -> u64 {
    flow[field].as_u64().unwrap_or_else(|| panic!("{field} of {flow:#}"))
}

/// All flows, a page of `limit` at a time.
fn paged(daemon: &Daemon, limit: usize) -> Vec<Value> {
    let mut flows = Vec::new();
    let mut query = format!("/v1/flows?limit={limit}");
    loop {
        let page = daemon.api().get(&query).expect(200);
        let found = page["flows"].as_array().unwrap();
        assert!(found.len() <= limit, "{page:#}");
        flows.extend(found.iter().cloned());
        let Some(next) = page["next"].as_str() else { return flows };
        query = format!("/v1/flows?limit={limit}&cursor={next}");
    }
}

/// A flow without what time and the draw of cache places decide.
fn timeless(mut flow: Value) -> Value {
    assert!(["exact", "wildcard"].contains(&flow["cache"].as_str().unwrap()), "{flow:#}");
    assert!(number(&flow, "age_ms") >= number(&flow, "idle_ms"), "{flow:#}");
    assert!(number(&flow, "age_ms") < 60_000, "{flow:#}");
    for field in ["cache", "age_ms", "idle_ms", "bytes"] {
        flow.as_object_mut().unwrap().remove(field);
    }
    flow
}

#[test]
fn the_flows_of_what_was_received_are_listed_and_add_up_and_are_forgotten_when_told() {
    let folder = tempfile::tempdir().unwrap();
    let traffic = traffic();
    traffic.write(folder.path().join("in.pcap"));
    let daemon = Daemon::start_in(folder.path(), &config());
    let stats = daemon.await_packets("in", traffic.frames.len());

    let flows = paged(&daemon, 1);
    assert_eq!(flows.len(), 5, "{flows:#?}");
    assert_eq!(paged(&daemon, 10_000).len(), 5);
    let first = flows.iter().filter(|flow| flow["start_table"] == 0);
    let sum = |field| first.clone().map(|flow| number(flow, field)).sum::<u64>();
    let received = stats.port("in");
    assert_eq!((sum("packets"), sum("bytes")), (received.rx_packets, received.rx_bytes));
    assert_eq!(number(&stats.workers[0], "flows"), 5);

    let of = |rules: Value| {
        let found: Vec<&Value> = flows.iter().filter(|flow| flow["rules"] == rules).collect();
        found.into_iter().cloned().map(timeless).collect::<Vec<_>>()
    };
    let udp = |port: u16| {
        json!({
            "has_ip": "yes", "ip_proto": "udp", "has_transport": "yes", "l4_dst": port.to_string(),
        })
    };
    let web = json!([{"table": 0, "name": "web"}]);
    assert_eq!(
        of(web.clone()),
        [json!({
            "worker": 0, "match": udp(80), "start_table": 0, "packets": 40, "rules": web,
            "actions": ["decrement_ttl", {"output": "out"}],
        })]
    );
    let marked = json!([{"table": 1, "name": "marked"}]);
    assert_eq!(
        of(marked.clone()),
        [json!({
            "worker": 0, "match": {"metadata": "0x1/0x1"}, "start_table": 1, "packets": 7,
            "rules": marked, "actions": ["drop"],
        })]
    );
    let missed: Vec<Value> = of(json!([]));
    // What differs from all rules in the first bits of the port is alike: ARP has none.
    let alike = json!({"l4_dst": "0x0/0xfff0"});
    assert_eq!(
        missed,
        [json!({
            "worker": 0, "match": alike, "start_table": 0, "packets": 2, "rules": [],
            "actions": ["drop"],
        })]
    );
    let listed = daemon.weft(&["flow", "list"]);
    assert_eq!((listed.code, listed.stdout.lines().count()), (0, 6), "{listed:?}");

    daemon.api().delete("/v1/flows").expect(204);
    assert_eq!(daemon.api().get("/v1/flows").expect(200), json!({"flows": [], "next": null}));
    assert_eq!(number(&daemon.api().stats().workers[0], "flows"), 0);
    assert_eq!(daemon.api().stats().revision, stats.revision, "no rule was changed");
    daemon.finish();
}

#[test]
fn a_list_of_flows_that_cannot_be_is_refused() {
    let daemon = Daemon::start(&json!({}));
    for (query, field) in [
        ("worker=7", "/worker"),
        ("cursor=7.0", "/cursor"),
        ("limit=0", "/limit"),
        ("limit=10001", "/limit"),
    ] {
        let answer = daemon.api().get(&format!("/v1/flows?{query}"));
        let (status, code, _) = answer.problem();
        assert_eq!((status, code), (422, "query-invalid"), "{query}");
        assert_eq!(answer.body["pointer"], field, "{query}");
    }
    let behind = daemon.api().get("/v1/flows?cursor=0.99999999").expect(200);
    assert_eq!(behind, json!({"flows": [], "next": null}));
    daemon.finish();
}
