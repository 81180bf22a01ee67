use serde_json::{Value, json};

use crate::daemon::{Asked, Daemon, Outcome, ok};

fn rule(name: &str) -> Value {
    json!({
        "name": name,
        "spec": {
            "priority": 10, "match": {"in_port": "lan", "ip_proto": "tcp", "l4_dst": 443},
            "actions": [{"stage": "fw"}, {"output": "wan"}],
        },
        "status": {"packets": 2, "bytes": 120},
    })
}

const HEAD: &str =
    "TABLE  RULE  PRIORITY  PACKETS  BYTES  MATCH                                ACTIONS\n";
const REST: &str =
    "      10        2    120  in_port=lan,ip_proto=tcp,l4_dst=443  stage:fw output:wan\n";

#[test]
fn a_rule_is_put_into_its_table_as_it_was_said() {
    let daemon = Daemon::answering([(201, rule("web").to_string())]);
    let (outcome, asked) = daemon.weft(&[
        "rule",
        "add",
        "web",
        "--table",
        "1",
        "--priority",
        "10",
        "--match",
        "in_port=lan,ip_proto=tcp",
        "--match",
        "l4_dst=443",
        "--action",
        "stage:fw",
        "--action",
        "output:wan",
    ]);
    assert_eq!(outcome, Outcome::success(&format!("{HEAD}    1  web   {REST}")));
    let body = r#"{"priority":10,"match":{"in_port":"lan","ip_proto":"tcp","l4_dst":443},"actions":[{"stage":"fw"},{"output":"wan"}]}"#;
    assert_eq!(asked, [Asked::json("PUT /v1/tables/1/rules/web", body)]);
}

#[test]
fn a_rule_is_of_table_0_and_every_packet_unless_said_otherwise() {
    let daemon = Daemon::answering([ok(&rule("all"))]);
    let (_, asked) = daemon.weft(&["rule", "add", "all", "--action", "drop"]);
    let body = r#"{"priority":0,"match":{},"actions":["drop"]}"#;
    assert_eq!(asked, [Asked::json("PUT /v1/tables/0/rules/all", body)]);
}

#[test]
fn rules_are_listed_of_one_table_or_all() {
    let (outcome, asked) =
        Daemon::answering([ok(&json!([rule("web")]))]).weft(&["rule", "list", "--table", "7"]);
    assert_eq!(outcome, Outcome::success(&format!("{HEAD}    7  web   {REST}")));
    assert_eq!(asked, [Asked::plain("GET /v1/tables/7/rules?limit=5000")]);

    let (outcome, asked) = all_tables().weft(&["rule", "list"]);
    assert_eq!(outcome, Outcome::success(&format!("{HEAD}    0  web   {REST}    9  ssh   {REST}")));
    assert_eq!(
        asked,
        [
            "GET /v1/tables",
            "GET /v1/tables/0/rules?limit=5000",
            "GET /v1/tables/9/rules?limit=5000"
        ]
        .map(Asked::plain)
    );
}

#[test]
fn the_json_of_all_tables_has_each_ones_rules() {
    let (outcome, _) = all_tables().weft(&["rule", "list", "--json"]);
    let tables: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(
        tables,
        json!([{"table": 0, "rules": [rule("web")]}, {"table": 9, "rules": [rule("ssh")]}])
    );
}

fn table(number: u8) -> Value {
    json!({"table": number, "spec": {"miss": ["drop"]}, "status": {"rules": 1, "masks": 1}})
}

#[test]
fn many_rules_are_asked_for_a_page_at_a_time() {
    let page = |from: usize, count: usize| {
        let rules: Vec<Value> =
            (from..from + count).map(|number| rule(&format!("r{number:05}"))).collect();
        ok(&json!(rules))
    };
    let pages = || Daemon::answering([page(0, 5000), page(5000, 5000), page(10_000, 0)]);
    let expected = ["", "&cursor=r04999", "&cursor=r09999"]
        .map(|more| Asked::plain(&format!("GET /v1/tables/0/rules?limit=5000{more}")));
    let (outcome, asked) = pages().weft(&["rule", "list", "--table", "0"]);
    assert_eq!((outcome.code, &asked[..]), (0, &expected[..]));
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    let last = "    0  r09999        10        2    120  in_port=lan,ip_proto=tcp,l4_dst=443  \
        stage:fw output:wan";
    assert_eq!((lines.len(), lines[10_000]), (10_001, last));

    let (outcome, asked) = pages().weft(&["rule", "list", "--table", "0", "--json"]);
    assert_eq!((outcome.code, &asked[..]), (0, &expected[..]));
    let rules: Vec<Value> = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((rules.len(), &rules[7500]), (10_000, &rule("r07500")));
}

fn all_tables() -> Daemon {
    Daemon::answering([
        ok(&json!([table(0), table(9)])),
        ok(&json!([rule("web")])),
        ok(&json!([rule("ssh")])),
    ])
}

#[test]
fn a_rule_is_shown_and_deleted() {
    let (outcome, asked) = Daemon::answering([ok(&rule("web"))]).weft(&["rule", "show", "web"]);
    assert_eq!(outcome, Outcome::success(&format!("{HEAD}    0  web   {REST}")));
    assert_eq!(asked, [Asked::plain("GET /v1/tables/0/rules/web")]);

    let (outcome, asked) =
        Daemon::answering([(204, String::new())]).weft(&["rule", "delete", "web", "--table", "3"]);
    assert_eq!(outcome, Outcome::success("deleted rule web of table 3\n"));
    assert_eq!(asked, [Asked::plain("DELETE /v1/tables/3/rules/web")]);
}
