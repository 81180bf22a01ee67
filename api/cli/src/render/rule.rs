use api_model::{Rule, TableNumber};

use super::{
    actions,
    table::{Pages, Table},
};
use crate::grammar::condition;

/// A line for each rule of a table, on a page of a list that may be of several tables.
pub(crate) fn rules_page(table: TableNumber, rules: &[Rule], pages: &mut Pages) -> String {
    let headings = ["TABLE", "RULE", "PRIORITY", "PACKETS", "BYTES", "MATCH", "ACTIONS"];
    let page = Table::page(headings, pages).rows(rules, |Rule { name, spec, status }| {
        [
            table.get().into(),
            name.into(),
            spec.priority.into(),
            status.packets.into(),
            status.bytes.into(),
            condition::format(&spec.r#match).into(),
            actions(&spec.actions).into(),
        ]
    });
    page.render_page(pages)
}

/// One rule of a table.
pub(crate) fn rule(table: TableNumber, rule: &Rule) -> String {
    rules_page(table, std::slice::from_ref(rule), &mut Pages::default())
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
        let mut pages = Pages::default();
        let lines =
            [rules_page(table(0), &[web], &mut pages), rules_page(table(12), &[all], &mut pages)];
        assert_eq!(
            lines.join("\n"),
            "TABLE  RULE  PRIORITY  PACKETS  BYTES  MATCH                                ACTIONS\n\
             \x20   0  web         10        3    180  in_port=lan,ip_proto=tcp,l4_dst=443  stage:fw decrement_ttl output:wan\n\
             \x20  12  all          0        0      0  any                                  drop"
        );
    }
}
