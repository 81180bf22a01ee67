use api_model::Action;
use serde_json::Value;

/// Actions in a line that a person reads: as the API has them, without the braces.
pub(crate) fn words(actions: &[Action]) -> String {
    actions.iter().map(word).collect::<Vec<_>>().join(", ")
}

fn word(action: &Action) -> String {
    match serde_json::to_value(action) {
        Ok(value) => flat(&value),
        Err(error) => unreachable!("an action is plain JSON: {error}"),
    }
}

fn flat(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| format!("{name} {}", flat(value));
            fields.iter().map(field).collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn actions_are_read_from_left_to_right() {
        let actions = json!([
            "decrement_ttl", {"set_field": {"eth_src": "02:00:00:00:00:01"}},
            {"push_vlan": {"vid": 10}}, {"output": "wan"}, {"goto": 12},
        ]);
        let actions: Vec<Action> = serde_json::from_value(actions).unwrap();
        assert_eq!(
            words(&actions),
            "decrement_ttl, set_field eth_src 02:00:00:00:00:01, push_vlan pcp 0 tpid 0x8100 vid \
             10, output wan, goto 12"
        );
    }
}
