use serde_json::{Value, json};

use crate::daemon::{Asked, Daemon, Outcome, ok};

fn table(number: u8, miss: Value) -> Value {
    json!({"table": number, "spec": {"miss": miss}, "status": {"rules": 3, "masks": 2}})
}

#[test]
fn tables_are_listed_and_shown() {
    let (drop, next) = (table(0, json!(["drop"])), table(7, json!(["pop_vlan", {"goto": 8}])));
    let head = "TABLE  RULES  MASKS  CLASSIFIER  MISS\n";
    let (outcome, asked) = Daemon::answering([ok(&json!([drop, next]))]).weft(&["table", "list"]);
    let lines =
        "    0      3      2  -           drop\n    7      3      2  -           pop_vlan goto:8\n";
    assert_eq!(outcome, Outcome::success(&format!("{head}{lines}")));
    assert_eq!(asked, [Asked::plain("GET /v1/tables")]);

    let (outcome, asked) = Daemon::answering([ok(&next)]).weft(&["table", "show", "7"]);
    assert_eq!(
        outcome,
        Outcome::success(&format!("{head}    7      3      2  -           pop_vlan goto:8\n"))
    );
    assert_eq!(asked, [Asked::plain("GET /v1/tables/7")]);
}

#[test]
fn a_miss_is_set_and_set_back() {
    let answer = ok(&table(7, json!([{"output": "lan"}, {"goto": 8}])));
    let arguments = ["table", "set", "7", "--miss", "output:lan", "--miss", "goto:8"];
    let (outcome, asked) = Daemon::answering([answer]).weft(&arguments);
    let line = "TABLE  RULES  MASKS  CLASSIFIER  MISS\n    7      3      2  -           output:lan goto:8\n";
    assert_eq!(outcome, Outcome::success(line));
    let body = r#"{"miss":[{"output":"lan"},{"goto":8}]}"#;
    assert_eq!(asked, [Asked::json("PUT /v1/tables/7", body)]);

    let (outcome, asked) = Daemon::answering([(204, String::new())]).weft(&["table", "reset", "7"]);
    assert_eq!(outcome, Outcome::success("reset table 7\n"));
    assert_eq!(asked, [Asked::plain("DELETE /v1/tables/7")]);
}
