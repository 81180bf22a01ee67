//! Rules in the language of `ovs-ofctl`.
//!
//! OpenFlow wants a match to say that the headers are there which the actions need, and Weft drops
//! a packet whose headers an action misses. So a rule becomes a flow for each kind of packet for
//! which its actions mean something else, the more special ones with higher priorities; and as Open
//! vSwitch sends nothing back to where it came from unless told so, a flow for each port.

mod actions;
mod fields;
mod kind;

use super::rule::{PORTS, Rule};
use actions::actions;
use fields::fields;
use kind::kinds;

/// As many kinds of packets can have different priorities within one of a rule.
const LEVELS: u32 = 4;

/// The flows of a rule.
#[must_use]
pub fn flows(rule: &Rule) -> Vec<String> {
    let mut flows = Vec::new();
    let in_ports = rule.conditions.in_port.map_or(PORTS.to_vec(), |port| vec![port]);
    for kind in kinds(rule) {
        let priority = u32::from(rule.priority) * LEVELS + kind.level();
        for fields in fields(&rule.conditions, kind) {
            for &port in &in_ports {
                let actions = actions(&rule.actions, kind, port);
                flows.push(format!(
                    "table={},priority={priority},in_port={}{fields},actions={actions}",
                    rule.table, port.0
                ));
            }
        }
    }
    flows
}

#[cfg(test)]
mod tests {
    use super::{
        super::rule::{Action, Conditions, Field, Port},
        kind::{IPV4, UDP},
        *,
    };

    fn rule(conditions: Conditions, actions: Vec<Action>) -> Vec<String> {
        flows(&Rule { table: 0, priority: 5, conditions, actions })
    }

    #[test]
    fn an_action_that_needs_a_header_makes_a_flow_for_packets_without_it() {
        let conditions = Conditions { in_port: Some(Port(1)), ..Conditions::default() };
        let actions = vec![Action::Output(Port(2)), Action::DecrementTtl, Action::Output(Port(1))];
        assert_eq!(
            rule(conditions, actions),
            [
                "table=0,priority=21,in_port=1,dl_type=0x0800,actions=output:2,dec_ttl,in_port",
                "table=0,priority=21,in_port=1,dl_type=0x86dd,actions=output:2,dec_ttl,in_port",
                "table=0,priority=20,in_port=1,actions=output:2",
            ]
        );
    }

    #[test]
    fn ports_are_those_of_packets_that_have_them() {
        let conditions = Conditions {
            in_port: Some(Port(3)),
            eth_type: Some(IPV4),
            ip_proto: Some(UDP),
            ..Conditions::default()
        };
        let actions = vec![Action::Set(Field::L4Dst(7)), Action::Output(Port(1))];
        assert_eq!(
            rule(conditions, actions),
            [
                "table=0,priority=22,in_port=3,dl_type=0x0800,nw_proto=17,nw_frag=not_later,\
                 actions=set_field:7->udp_dst,output:1",
                "table=0,priority=21,in_port=3,dl_type=0x0800,nw_proto=17,actions=drop",
            ]
        );
    }

    #[test]
    fn a_tag_that_was_pushed_is_there() {
        let conditions = Conditions { in_port: Some(Port(1)), ..Conditions::default() };
        let push = Action::PushVlan { tpid: 0x88a8, vid: 9, pcp: 1 };
        let pushed = rule(conditions.clone(), vec![push, Action::Set(Field::VlanPcp(2))]);
        let actions = "push_vlan:0x88a8,mod_vlan_vid:9,mod_vlan_pcp:1,mod_vlan_pcp:2";
        assert_eq!(pushed, [format!("table=0,priority=20,in_port=1,actions={actions}")]);
        let popped = rule(conditions, vec![Action::PopVlan, Action::Goto(2)]);
        assert_eq!(
            popped,
            [
                "table=0,priority=20,in_port=1,vlan_tci=0x1000/0x1000,actions=pop_vlan,goto_table:2",
                "table=0,priority=20,in_port=1,vlan_tci=0x0000/0x1000,actions=drop",
            ]
        );
    }
}
