use api_model::{FlowTable, Name};

use super::{actions, table::Table};

/// A line for each table of rules.
pub(crate) fn tables(tables: &[FlowTable]) -> String {
    let lines =
        Table::new(["TABLE", "RULES", "MASKS", "CLASSIFIER", "MISS"]).rows(tables, |table| {
            let FlowTable { table, spec, status } = table;
            [
                table.get().into(),
                count(status.rules),
                count(status.masks),
                spec.classifier.as_ref().map_or("-", Name::as_str).into(),
                actions(&spec.miss).into(),
            ]
        });
    lines.render()
}

fn count(count: usize) -> super::table::Value {
    u64::try_from(count).unwrap_or(u64::MAX).into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_is_a_line_with_its_miss() {
        let table = |number: u8, miss| {
            let status = json!({"rules": 1000, "masks": 12});
            json!({"table": number, "spec": {"miss": miss}, "status": status})
        };
        let mut listed =
            json!([table(0, json!(["drop"])), table(12, json!(["pop_vlan", {"goto": 13}]))]);
        listed[0]["spec"]["classifier"] = json!("apps");
        let listed: Vec<FlowTable> = serde_json::from_value(listed).unwrap();
        assert_eq!(
            tables(&listed),
            "TABLE  RULES  MASKS  CLASSIFIER  MISS\n\
             \x20   0   1000     12  apps        drop\n\
             \x20  12   1000     12  -           pop_vlan goto:13"
        );
    }
}
