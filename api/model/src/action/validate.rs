use super::Action;
use crate::{Invalid, RuleSpec, TableNumber, matching::Family};

/// Checks the actions of a rule in `table` whose packets are of `family`, if that is known.
pub(crate) fn validate(
    actions: &[Action],
    table: TableNumber,
    family: Option<Family>,
) -> Result<(), Invalid> {
    if actions.is_empty() {
        return Err(
            Invalid::at(&[], "no action is given").hint("to drop the packets, write \"drop\"")
        );
    }
    if actions.len() > RuleSpec::MAX_ACTIONS {
        let most = RuleSpec::MAX_ACTIONS;
        return Err(Invalid::at(&[], format!("{} actions are more than {most}", actions.len())));
    }
    let mut family = family;
    for (index, action) in actions.iter().enumerate() {
        let is_last = index + 1 == actions.len();
        action
            .validate(is_last, table, family)
            .map_err(|invalid| invalid.under(&index.to_string()))?;
        family = action.family_after(family);
    }
    Ok(())
}

/// Checks the actions of a group's bucket.
pub(crate) fn validate_bucket(actions: &[Action]) -> Result<(), Invalid> {
    let refused = |action: &Action| {
        matches!(
            action,
            Action::Goto(_)
                | Action::Stage(_)
                | Action::Group(_)
                | Action::Meter(_)
                | Action::Normal
                | Action::Flood
                | Action::Mirror(_)
                | Action::Sample(_)
        )
    };
    if let Some(place) = actions.iter().position(refused) {
        let reason = "a bucket cannot do this";
        return Err(Invalid::at(&[&place.to_string()], reason)
            .hint("a bucket changes the packet, outputs it or drops it; do the rest in the rule"));
    }
    validate(actions, TableNumber::default(), None)
}

impl Action {
    fn validate(
        &self,
        is_last: bool,
        table: TableNumber,
        family: Option<Family>,
    ) -> Result<(), Invalid> {
        match self {
            Self::Drop if !is_last => {
                Err(Invalid::at(&[], "nothing can follow drop")
                    .hint("put it last, or leave it out"))
            }
            Self::Goto(_) if !is_last => Err(Invalid::at(&["goto"], "nothing can follow goto")
                .hint("put it last; what follows belongs into rules of that table")),
            Self::Goto(target) if *target <= table => {
                // OpenFlow 1.3.5, 5.4: lookups only move on, so that they end.
                let reason = format!("table {target} is not behind table {table}");
                Err(Invalid::at(&["goto"], reason).hint("go to a table with a larger number"))
            }
            Self::DecrementTtl => are(family, Family::is_ip, "not IP"),
            Self::DecrementMplsTtl => are(family, |it| it == Family::Mpls, "without a label"),
            Self::PopMpls(_) => are(family, |it| it == Family::Mpls, "without a label")
                .map_err(|invalid| invalid.under("pop_mpls")),
            Self::Sample(sample) => sample.validate().map_err(|invalid| invalid.under("sample")),
            Self::CopyField(copy) => {
                copy.validate(family).map_err(|invalid| invalid.under("copy_field"))
            }
            Self::SetField(field) => {
                field.validate(family).map_err(|invalid| invalid.under("set_field"))
            }
            _ => Ok(()),
        }
    }

    /// What packets are known to be after it.
    fn family_after(&self, family: Option<Family>) -> Option<Family> {
        match self {
            Self::PushMpls(_) => Some(Family::Mpls),
            // There may be another label, and a stage may do as it likes.
            Self::PopMpls(_) | Self::Stage(_) => None,
            _ => family,
        }
    }
}

/// Checks that packets, if it is known what they are, are fit for an action.
fn are(
    family: Option<Family>,
    fit: impl FnOnce(Family) -> bool,
    otherwise: &str,
) -> Result<(), Invalid> {
    match family {
        Some(family) if !fit(family) => {
            let reason = format!("the packets that the rule matches are {otherwise}");
            Err(Invalid::at(&[], reason))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn validate_in_table_1(actions: Value, family: Option<Family>) -> Result<(), String> {
        let actions: Vec<Action> = serde_json::from_value(actions).unwrap();
        let table = TableNumber::new(1).unwrap();
        validate(&actions, table, family).map_err(|invalid| invalid.to_string())
    }

    #[test]
    fn drop_and_goto_are_last_and_goto_goes_on() {
        let check = |actions| validate_in_table_1(actions, None);
        assert_eq!(check(json!([{"stage": "fw"}, "drop"])), Ok(()));
        assert_eq!(check(json!(["decrement_ttl", {"goto": 2}])), Ok(()));
        for (actions, expected) in [
            (json!([]), "no action is given"),
            (json!(["drop", {"output": "a"}]), "/0: nothing can follow drop"),
            (json!([{"goto": 2}, "pop_vlan"]), "/0/goto: nothing can follow goto"),
            (json!([{"goto": 1}]), "/0/goto: table 1 is not behind table 1"),
            (json!([{"goto": 0}]), "/0/goto: table 0 is not behind table 1"),
        ] {
            let refused = check(actions.clone()).unwrap_err();
            assert!(refused.starts_with(expected), "{actions}: {refused}");
        }
    }

    #[test]
    fn a_rule_has_at_most_64_actions() {
        let actions = |count| json!(vec![json!("pop_vlan"); count]);
        assert_eq!(validate_in_table_1(actions(64), None), Ok(()));
        let refused = validate_in_table_1(actions(65), None).unwrap_err();
        assert_eq!(refused, "65 actions are more than 64");
    }

    #[test]
    fn a_field_is_set_only_where_the_packets_can_have_it() {
        let set = |field: Value| json!([{"output": "a"}, {"set_field": field}]);
        let v4 = set(json!({"ip_src": "10.0.0.1"}));
        assert_eq!(validate_in_table_1(v4.clone(), None), Ok(()));
        assert_eq!(validate_in_table_1(v4.clone(), Some(Family::V4)), Ok(()));
        let refused = validate_in_table_1(v4, Some(Family::V6)).unwrap_err();
        assert_eq!(refused, "/1/set_field/ip_src: the packets that the rule matches are IPv6");
        let not_ip = |actions| validate_in_table_1(actions, Some(Family::Other)).unwrap_err();
        let ttl = not_ip(set(json!({"ip_ttl": 1})));
        assert_eq!(ttl, "/1/set_field/ip_ttl: the packets that the rule matches are not IP");
        let ttl = not_ip(json!(["decrement_ttl"]));
        assert_eq!(ttl, "/0: the packets that the rule matches are not IP");
    }

    #[test]
    fn what_packets_are_changes_with_their_labels() {
        let v4 = |actions| validate_in_table_1(actions, Some(Family::V4));
        let push = json!({"push_mpls": {"label": 16}});
        assert_eq!(v4(json!([push, "decrement_mpls_ttl", {"set_field": {"mpls_tc": 1}}])), Ok(()));
        assert_eq!(v4(json!([push, {"pop_mpls": "ipv4"}, "decrement_ttl"])), Ok(()));
        for (actions, expected) in [
            (json!(["decrement_mpls_ttl"]), "/0: the packets that the rule matches are without"),
            (json!([{"pop_mpls": "ipv4"}]), "/0/pop_mpls: the packets that the rule matches are"),
            (json!([push, "decrement_ttl"]), "/1: the packets that the rule matches are not IP"),
            (
                json!([push, {"set_field": {"ip_ttl": 1}}]),
                "/1/set_field/ip_ttl: the packets that the rule matches are MPLS",
            ),
            (
                json!([{"set_field": {"arp_op": "reply"}}]),
                "/0/set_field/arp_op: the packets that the rule matches are IPv4",
            ),
            (
                json!([{"set_field": {"ipv6_label": 1}}]),
                "/0/set_field/ipv6_label: the packets that the rule matches are IPv4",
            ),
        ] {
            let refused = v4(actions.clone()).unwrap_err();
            assert!(refused.starts_with(expected), "{actions}: {refused}");
        }
    }

    #[test]
    fn a_sample_of_none_is_refused() {
        let action = json!([{"sample": {"rate": 0, "output": "tap"}}]);
        let refused = validate_in_table_1(action, None).unwrap_err();
        assert!(refused.starts_with("/0/sample/rate: one packet in none"), "{refused}");
    }

    #[test]
    fn the_addresses_of_arp_are_ipv4s() {
        let action = json!([{"set_field": {"arp_tpa": "::1"}}]);
        let refused = validate_in_table_1(action, None).unwrap_err();
        assert_eq!(refused, "/0/set_field/arp_tpa: the addresses of ARP are IPv4's");
    }
}
