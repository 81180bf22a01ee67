use api_model::{Rule, TableNumber};

use super::table::Table;
use crate::grammar::{action, condition};

/// A line for each rule, with the table that it is in.
pub(crate) fn rules<'a>(rules: impl IntoIterator<Item = (TableNumber, &'a Rule)>) -> String {
    let headings = ["TABLE", "RULE", "PRIORITY", "PACKETS", "BYTES", "MATCH", "ACTIONS"];
    let table = Table::new(headings).rows(rules, |(table, Rule { name, spec, status })| {
        [
            table.get().into(),
            name.into(),
            spec.priority.into(),
            status.packets.into(),
            status.bytes.into(),
            condition::format(&spec.r#match).into(),
            spec.actions.iter().map(action::format).collect::<Vec<_>>().join(" ").into(),
        ]
    });
    table.render()
}

/// One rule of a table.
pub(crate) fn rule(table: TableNumber, rule: &Rule) -> String {
    rules([(table, rule)])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rule_is_a_line_in_the_words_of_the_command_line() {
        let web: Rule = serde_json::from_value(json!({
            "name": "web",
            "spec": {
                "priority": 10,
                "match": {"in_port": "lan", "ip_proto": "tcp", "l4_dst": 443},
                "actions": [{"stage": "fw"}, "decrement_ttl", {"output": "wan"}],
            },
            "status": {"packets": 3, "bytes": 180},
        }))
        .unwrap();
        let all: Rule = serde_json::from_value(json!({
            "name": "all", "spec": {"priority": 0, "actions": ["drop"]},
            "status": {"packets": 0, "bytes": 0},
        }))
        .unwrap();
        let table = |number| TableNumber::new(number).unwrap();
        assert_eq!(
            rules([(table(0), &web), (table(12), &all)]),
            "TABLE  RULE  PRIORITY  PACKETS  BYTES  MATCH                                ACTIONS\n\
             \x20   0  web         10        3    180  in_port=lan,ip_proto=tcp,l4_dst=443  stage:fw decrement_ttl output:wan\n\
             \x20  12  all          0        0      0  any                                  drop"
        );
    }
}
