use serde_json::{Value, json};

use crate::daemon::{Asked, Daemon, Outcome, ok};

fn lan(driver: &str) -> Value {
    json!({
        "name": "lan",
        "spec": {"device": "net_af_packet0,iface=veth-lan", "mtu": 1400},
        "status": {
            "id": 3, "driver": driver, "mac": "02:00:00:00:00:01", "numa_node": 0, "mtu": 1400,
            "link": "down", "worker": 1,
            "counters": {
                "rx_packets": 0, "rx_bytes": 0, "tx_packets": 0, "tx_bytes": 0,
                "copied_packets": 0, "mirrored_packets": 0, "forwarded_packets": 0, "dropped_packets": 0,
                "in_flight_packets": 0, "drops": {},
                "device": {"rx_missed": 0, "rx_errors": 0, "rx_nombuf": 0, "tx_errors": 0},
            },
        },
    })
}

const TABLE: &str = "\
PORT  ID  LINK   MTU  WORKER  NODE  MAC                DRIVER         DEVICE
lan    3  down  1400       1     0  02:00:00:00:00:01  net_af_packet  net_af_packet0,iface=veth-lan
";

#[test]
fn an_added_port_is_put_and_shown_as_it_became() {
    let daemon = Daemon::answering([(201, lan("net_af_packet").to_string())]);
    let device = "net_af_packet0,iface=veth-lan";
    let (outcome, asked) =
        daemon.weft(&["port", "add", "lan", "--device", device, "--mtu", "1400"]);
    assert_eq!(outcome, Outcome::success(TABLE));
    let body = r#"{"device":"net_af_packet0,iface=veth-lan","mtu":1400}"#;
    assert_eq!(asked, [Asked::json("PUT /v1/ports/lan", body)]);
}

#[test]
fn an_mtu_that_is_not_given_is_not_sent() {
    let daemon = Daemon::answering([ok(&lan("net_null"))]);
    let (_, asked) = daemon.weft(&["port", "add", "lan", "--device", "net_null0"]);
    assert_eq!(asked, [Asked::json("PUT /v1/ports/lan", r#"{"device":"net_null0"}"#)]);
}

#[test]
fn ports_are_listed_over_loopback_too() {
    let daemon = Daemon::on_loopback([ok(&json!([lan("net_af_packet")]))]);
    let (outcome, asked) = daemon.weft(&["port", "list"]);
    assert_eq!((outcome, asked), (Outcome::success(TABLE), vec![Asked::plain("GET /v1/ports")]));
}

#[test]
fn what_the_daemon_says_cannot_drive_the_terminal() {
    let daemon = Daemon::answering([ok(&lan("\u{1b}]0;x\u{7}\u{9b}2J"))]);
    let (outcome, _) = daemon.weft(&["port", "show", "lan"]);
    assert!(outcome.stdout.contains(r"  \u{1b}]0;x\u{7}\u{9b}2J  "), "{}", outcome.stdout);
    assert!(!outcome.stdout.contains(|c: char| c.is_control() && c != '\n'));
}

#[test]
fn json_is_the_answer_as_it_came() {
    let came = r#"{"b": 1,  "a": [2]}"#;
    for arguments in [&["--json", "port", "show", "lan"], &["port", "show", "lan", "--json"]] {
        let (outcome, asked) = Daemon::answering([(200, came.into())]).weft(arguments);
        assert_eq!(outcome, Outcome::success(&format!("{came}\n")));
        assert_eq!(asked, [Asked::plain("GET /v1/ports/lan")]);
    }
}

#[test]
fn a_deletion_is_told_to_people_and_has_no_json() {
    for (arguments, stdout) in [
        (&["port", "delete", "lan"][..], "deleted port lan\n"),
        (&["port", "delete", "lan", "--json"], ""),
    ] {
        let (outcome, asked) = Daemon::answering([(204, String::new())]).weft(arguments);
        assert_eq!(outcome, Outcome::success(stdout));
        assert_eq!(asked, [Asked::plain("DELETE /v1/ports/lan")]);
    }
}
