//! The configuration file: what is taken, and what is refused in which words.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use api_model::{Config, ConfigError};
use serde_json::json;

const CHAIN: &str = r#"
[api]
socket = "/run/weft/api.sock"
listen = "127.0.0.1:9177"

[memory]
hugepages = "auto"
size_mb = 512

[workers]
cores = [1]
flow_idle_ms = 5000

[ports.lan]
device = "net_af_packet0,iface=veth-lan"

[ports.wan]
device = "net_af_packet1,iface=veth-wan"
mtu = 1500

[modules."firewall@1.0.0"]
path = "firewall.wasm"

[stages.fw]
module = "firewall@1.0.0"
config = { default = "allow" }

[tables.0]
miss = [{ output = "lan" }]

[tables.0.rules.lan-out]
priority = 10
match = { in_port = "lan" }
actions = [{ stage = "fw" }, "decrement_ttl", { output = "wan" }]
"#;

#[test]
fn a_file_is_read_with_its_defaults_filled_in() {
    let config = Config::from_toml(CHAIN).unwrap();
    let expected = json!({
        "api": {"socket": "/run/weft/api.sock", "listen": "127.0.0.1:9177"},
        "memory": {"hugepages": "auto", "size_mb": 512, "buffers": 16_383},
        "workers": {"cores": [1], "exact_entries": 65_536, "flow_limit": 200_000,
            "flow_idle_ms": 5000, "flow_hard_ms": 0},
        "compiler": {"time_limit_ms": 10_000, "memory_limit_mb": 1024, "function_limit": 20_000},
        "ports": {
            "lan": {"device": "net_af_packet0,iface=veth-lan"},
            "wan": {"device": "net_af_packet1,iface=veth-wan", "mtu": 1500},
        },
        "modules": {"firewall@1.0.0": {"path": "firewall.wasm"}},
        "stages": {"fw": {
            "module": "firewall@1.0.0", "config": {"default": "allow"}, "on_fault": "drop",
            "memory_limit_bytes": 16_777_216, "deadline_us": 10_000,
        }},
        "meters": {}, "groups": {}, "mac_table": {"age_s": 300, "limit": 8192},
        "tables": {"0": {"miss": [{"output": "lan"}], "rules": {"lan-out": {
            "priority": 10, "match": {"in_port": "lan"},
            "actions": [{"stage": "fw"}, "decrement_ttl", {"output": "wan"}],
        }}}},
    });
    assert_eq!(json!(config), expected);
    assert_eq!(serde_json::from_value::<Config>(expected).unwrap(), config);
}

#[test]
fn what_was_read_is_written_and_read_again() {
    let config = Config::from_toml(CHAIN).unwrap();
    assert_eq!(Config::from_toml(&config.to_toml()).unwrap(), config);
}

#[test]
fn an_empty_file_is_a_daemon_that_does_nothing_yet() {
    let config = Config::from_toml("").unwrap();
    assert_eq!(config, Config::default());
    let expected = json!({
        "api": {"socket": "/run/weft/api.sock"},
        "memory": {"hugepages": "auto", "size_mb": 512, "buffers": 16_383},
        "workers": {"exact_entries": 65_536, "flow_limit": 200_000, "flow_idle_ms": 10_000,
            "flow_hard_ms": 0},
        "compiler": {"time_limit_ms": 10_000, "memory_limit_mb": 1024, "function_limit": 20_000},
        "ports": {}, "modules": {}, "stages": {}, "meters": {}, "groups": {}, "tables": {},
        "mac_table": {"age_s": 300, "limit": 8192},
    });
    assert_eq!(json!(config), expected);
}

#[test]
fn an_error_of_shape_has_the_line_and_what_stands_there() {
    for (good, bad, line, expected) in [
        ("mtu = 1500", "mtuu = 1500", 19, "unknown field `mtuu`, expected `device` or `mtu`"),
        ("mtu = 1500", "mtu = \"1500\"", 19, "invalid type: string \"1500\", expected u16"),
        ("mtu = 1500", "mtu = ", 19, "mtu = "),
        ("[ports.lan]", "[ports.\"l/n\"]", 14, "\"l/n\" is not a name: a name is 1 to 63"),
        ("[ports.wan]", "[ports.lan]", 17, "duplicate key"),
        ("[tables.0", "[tables.254", 28, "expected the number of a table, 0 to 253"),
        ("in_port = \"lan\"", "ip_src = \"10.0.0.1/8\"", 33, "write 10.0.0.0/8"),
        ("{ output = \"wan\" }", "\"output\"", 34, "unknown variant `output`"),
        ("\"127.0.0.1:9177\"", "\"localhost\"", 4, "invalid socket address"),
    ] {
        let error = Config::from_toml(&CHAIN.replacen(good, bad, 1)).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, ConfigError::Shape(_)), "{bad}: {text}");
        assert!(text.contains(&format!("line {line}")), "{bad}: {text}");
        assert!(text.contains(expected), "{bad}: {text}");
    }
}

#[test]
fn what_is_not_fit_to_run_is_refused_with_its_place_and_reason() {
    for (good, bad, expected) in [
        ("127.0.0.1:9177", "0.0.0.0:9177", "/api/listen: 0.0.0.0:9177 is not a loopback address"),
        ("/run/weft/api.sock", "", "/api/socket: no path is given"),
        ("size_mb = 512", "size_mb = 0", "/memory/size_mb: there is no memory"),
        ("size_mb = 512", "buffers = 1023", "/memory/buffers: it is less than 1024"),
        ("cores = [1]", "cores = []", "/workers/cores: no core is given"),
        ("cores = [1]", "cores = [1, 2, 1]", "/workers/cores: core 1 is given twice"),
        (
            "cores = [1]",
            "exact_entries = 1000",
            "/workers/exact_entries: 1000 is not a power of two from 1024 to 4194304",
        ),
        ("cores = [1]", "exact_entries = 512", "/workers/exact_entries: 512 is not a power of two"),
        (
            "cores = [1]",
            "exact_entries = 8388608",
            "/workers/exact_entries: 8388608 is not a power of two",
        ),
        ("cores = [1]", "flow_limit = 0", "/workers/flow_limit: 0 is not from 1 to 4194304"),
        ("flow_idle_ms = 5000", "flow_idle_ms = 0", "/workers/flow_idle_ms: no flow would be kept"),
        ("[{ output = \"lan\" }]", "[]", "/tables/0/miss: no action is given"),
        ("output = \"lan\"", "goto = 0", "/tables/0/miss/0/goto: table 0 is not behind table 0"),
        ("output = \"lan\"", "output = \"x\"", "/tables/0/miss/0/output: there is no port x"),
        ("net_af_packet1", "net_af_packet0", "/ports/wan/device: port lan has this device already"),
        ("mtu = 1500", "mtu = 10", "/ports/wan/mtu: 10 is less than IPv4 can do with"),
        (
            "module = \"firewall@1",
            "module = \"nat@1",
            "/stages/fw/module: there is no module nat@1",
        ),
        (
            "in_port = \"lan\"",
            "in_port = \"x\"",
            "/tables/0/rules/lan-out/match/in_port: there is no port x",
        ),
        (
            "output = \"wan\"",
            "output = \"x\"",
            "/tables/0/rules/lan-out/actions/2/output: there is no port x",
        ),
        (
            "stage = \"fw\"",
            "stage = \"x\"",
            "/tables/0/rules/lan-out/actions/0/stage: there is no stage x",
        ),
        ("in_port = \"lan\"", "l4_dst = 80", "/tables/0/rules/lan-out/match/l4_dst: only tcp, udp"),
        (
            "{ output = \"wan\" }",
            "{ goto = 0 }",
            "/tables/0/rules/lan-out/actions/2/goto: table 0 is not",
        ),
    ] {
        let error = Config::from_toml(&CHAIN.replacen(good, bad, 1)).unwrap_err().to_string();
        let (first, rest) = error.split_once('\n').unwrap();
        assert_eq!(first, "the configuration is not fit to run:", "{bad}");
        assert!(rest.trim_start().starts_with(expected) && rest.lines().count() == 1, "{error}");
    }
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let text = CHAIN.replace("size_mb = 512", "size_mb = 0").replace("mtu = 1500", "mtu = 10");
    let ConfigError::Invalid(invalid) = Config::from_toml(&text).unwrap_err() else { panic!() };
    let pointers: Vec<&str> = invalid.iter().map(|invalid| invalid.pointer.as_str()).collect();
    assert_eq!(pointers, ["/memory/size_mb", "/ports/wan/mtu"]);
}

#[test]
fn the_cache_has_the_sizes_that_it_may_have() {
    for entries in [1024, 65_536, 4_194_304] {
        let text =
            format!("[workers]\nexact_entries = {entries}\nflow_limit = 1\nflow_idle_ms = 1\n");
        assert_eq!(Config::from_toml(&text).unwrap().workers.exact_entries, entries);
    }
}

#[test]
fn a_goto_may_name_a_table_without_rules() {
    Config::from_toml(&CHAIN.replace("{ output = \"wan\" }", "{ goto = 253 }")).unwrap();
}

#[test]
fn meters_groups_and_addresses_are_checked_with_the_ports_that_they_name() {
    let refused = |text: &str| match Config::from_toml(text).unwrap_err() {
        ConfigError::Invalid(all) => all.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ConfigError::Shape(error) => panic!("{error}"),
    };
    let text = r#"
        [ports.lan]
        device = "net_null0"
        [meters.gold]
        algorithm = "rfc2697"
        committed_rate = 1000
        committed_burst = 1500
        [groups.up]
        kind = "fast_failover"
        buckets = [
            { watch_port = "lan", actions = [{ output = "lan" }] },
            { watch_port = "wan", actions = [{ output = "lan" }] },
        ]
        [groups.copy]
        kind = "all"
        buckets = [{ actions = [{ output = "wan" }] }]
        [mac_table]
        age_s = 0
        [tables.0.rules.all]
        priority = 1
        actions = [{ mirror = "tap" }, { sample = { rate = 9, output = "tap" } }]
        [tables.0.rules.more]
        priority = 1
        actions = [{ meter = "silver" }, { group = "down" }]
    "#;
    let expected = [
        "/meters/gold/excess_burst: the algorithm needs this field (rfc2697 has excess_burst, \
         rfc2698 peak_rate and peak_burst, rfc4115 excess_rate and excess_burst)",
        "/groups/copy/buckets/0/actions/0/output: there is no port wan",
        "/groups/up/buckets/1/watch_port: there is no port wan",
        "/mac_table/age_s: 0 is not from 1 to 86400",
        "/tables/0/rules/all/actions/0/mirror: there is no port tap",
        "/tables/0/rules/more/actions/0/meter: there is no meter silver",
    ];
    assert_eq!(refused(text), expected);
}
