use api_model::{ExplainStep, Explanation};

use super::{actions, sections, table::Table, text::escaped};

/// What a packet is, what each table says of it, and the whole in words, of which the last say how
/// it ends.
pub(crate) fn explanation(explanation: &Explanation) -> String {
    let Explanation { key, steps, decision: _, text } = explanation;
    let headings = ["TABLE", "RULE", "PRIORITY", "LOOKED AT", "ACTIONS"];
    let table = Table::new(headings).rows(steps, |step| {
        let ExplainStep { table, rule, priority, actions: done, looked_at } = step;
        [
            table.get().into(),
            rule.as_ref().map_or_else(|| "none".into(), Into::into),
            priority.map_or_else(|| "-".into(), Into::into),
            looked_at.to_string().into(),
            actions(done).into(),
        ]
    });
    let packet = format!("packet: {}", escaped(&key.to_string()));
    let lines: Vec<_> = text.lines().map(escaped).collect();
    sections([packet, table.render(), lines.join("\n")])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_followed_through_its_tables() {
        let told: Explanation = serde_json::from_str(
            r#"{
                "key": {"in_port": "lan", "eth_type": "ipv4", "ip_dst": "10.0.0.1"},
                "steps": [
                    {"table": 0, "rule": "web", "priority": 10, "actions": [{"goto": 12}],
                        "looked_at": {"in_port": "exact", "ip_dst": "255.0.0.0"}},
                    {"table": 12, "rule": null, "priority": null, "actions": ["drop"],
                        "looked_at": {}}
                ],
                "decision": "drop", "text": "table 0: goto 12\nit is dropped: table-miss\u0007"
            }"#,
        )
        .unwrap();
        assert_eq!(
            explanation(&told),
            "packet: in_port=lan,eth_type=ipv4,ip_dst=10.0.0.1\n\n\
             TABLE  RULE  PRIORITY  LOOKED AT                       ACTIONS\n\
             \x20   0  web         10  in_port=exact,ip_dst=255.0.0.0  goto:12\n\
             \x20  12  none         -  any                             drop\n\n\
             table 0: goto 12\n\
             it is dropped: table-miss\\u{7}"
        );
    }
}
