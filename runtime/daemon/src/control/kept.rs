use api_model::RuleSpec;

/// A rule as its client asked for it, in little room: there may be a hundred thousand of them, and
/// few are asked for again.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct KeptSpec(Box<str>);

impl KeptSpec {
    pub(super) fn new(spec: &RuleSpec) -> Self {
        let text = serde_json::to_string(spec).expect("a rule is plain JSON");
        Self(text.into_boxed_str())
    }

    pub(super) fn read(&self) -> RuleSpec {
        serde_json::from_str(&self.0).expect("it was written from a rule")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_spec_is_read_as_it_was_kept_and_two_that_differ_do_so_kept() {
        let spec = |port: &str| -> RuleSpec {
            let matching = json!({"in_port": "lan", "ip_proto": "tcp", "l4_dst": port});
            let actions = json!([{"set_field": {"metadata": "0x1/0x3"}}, {"output": "wan"}]);
            let spec = json!({"priority": 7, "match": matching, "actions": actions});
            serde_json::from_value(spec).unwrap()
        };
        assert_eq!(KeptSpec::new(&spec("443")).read(), spec("443"));
        assert_eq!(KeptSpec::new(&spec("443")), KeptSpec::new(&spec("0x1bb")));
        assert_ne!(KeptSpec::new(&spec("443")), KeptSpec::new(&spec("444")));
    }
}
