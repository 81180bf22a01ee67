use api_model::{CacheLevel, Flow, RuleKey};

use super::{
    actions, listed,
    table::{Pages, Table},
};

/// A line for each flow, on a page of a list.
pub(crate) fn flows_page(flows: &[Flow], pages: &mut Pages) -> String {
    let headings = [
        "WORKER", "TABLE", "CACHE", "PACKETS", "BYTES", "AGE", "IDLE", "MATCH", "RULES", "ACTIONS",
    ];
    let page = Table::page(headings, pages).rows(flows, |flow| {
        let rules: Vec<String> =
            flow.rules.iter().map(|RuleKey { table, name }| format!("{table}:{name}")).collect();
        [
            flow.worker.into(),
            flow.start_table.get().into(),
            level(flow.cache).into(),
            flow.packets.into(),
            flow.bytes.into(),
            seconds(flow.age_ms).into(),
            seconds(flow.idle_ms).into(),
            flow.r#match.to_string().into(),
            listed(&rules).into(),
            actions(&flow.actions).into(),
        ]
    });
    page.render_page(pages)
}

fn level(level: CacheLevel) -> &'static str {
    match level {
        CacheLevel::Exact => "exact",
        CacheLevel::Wildcard => "wildcard",
    }
}

fn seconds(milliseconds: u64) -> String {
    format!("{}.{:03} s", milliseconds / 1000, milliseconds % 1000)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_flow_is_a_line_in_the_words_of_the_command_line() {
        let flows: Vec<Flow> = serde_json::from_value(json!([
            {
                "worker": 0, "match": {"in_port": "lan", "ip_dst": "10.0.0.0/8", "l4_dst": "443"},
                "start_table": 0, "packets": 1000, "bytes": 64_000, "age_ms": 61_007,
                "idle_ms": 3, "cache": "exact",
                "rules": [{"table": 0, "name": "web"}, {"table": 7, "name": "out"}],
                "actions": ["decrement_ttl", {"output": "wan"}],
            },
            {
                "worker": 12, "match": {}, "start_table": 0, "packets": 1, "bytes": 60,
                "age_ms": 0, "idle_ms": 0, "cache": "wildcard", "rules": [], "actions": ["drop"],
            },
        ]))
        .unwrap();
        assert_eq!(
            flows_page(&flows, &mut Pages::default()),
            "WORKER  TABLE  CACHE     PACKETS  BYTES  AGE       IDLE     MATCH                                     RULES        ACTIONS\n\
             \x20    0      0  exact        1000  64000  61.007 s  0.003 s  in_port=lan,ip_dst=10.0.0.0/8,l4_dst=443  0:web,7:out  decrement_ttl output:wan\n\
             \x20   12      0  wildcard        1     60  0.000 s   0.000 s  any                                       none         drop"
        );
    }
}
