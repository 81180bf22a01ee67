//! `weft rule`: which packets meet which actions.

mod list;
mod load;

use api_model::{Action, Name, RuleSpec, TableNumber};
use clap::{Args, Subcommand};

use crate::{
    client::Payload,
    error::Error,
    grammar::{action, condition},
    path::ApiPath,
    render,
    session::Session,
};

const GRAMMAR: &str = "\
Match fields: in_port, eth_src, eth_dst, eth_type, vlan_vid, vlan_pcp, inner_vlan_vid,
inner_vlan_pcp, mpls_label, mpls_tc, mpls_bos, arp_op, arp_spa, arp_tpa, arp_sha, arp_tha, ip_src,
ip_dst, ip_proto, ip_dscp, ip_ecn, ip_ttl, ip_frag, ipv6_label, l4_src, l4_dst, tcp_flags,
icmp_type, icmp_code, metadata. Ports may be a range, as in l4_dst=1000-1999.
Actions: output:PORT, stage:STAGE, goto:TABLE, set_field:FIELD=VALUE,
copy_field:from=FIELD,to=FIELD, push_vlan:vid=VID[,pcp=PCP][,tpid=TPID], pop_vlan,
push_mpls:label=LABEL[,tc=TC][,ttl=TTL][,eth_type=TYPE], pop_mpls:ETH_TYPE, decrement_ttl,
decrement_mpls_ttl, meter:METER, group:GROUP, normal, flood, mirror:PORT,
sample:rate=N,output=PORT, drop.

Example: weft rule add web --priority 10 --match in_port=lan,ip_proto=tcp,l4_dst=443
           --action stage:fw --action output:wan";

/// What is done with rules.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add a rule, or replace the one of that name
    #[command(after_help = GRAMMAR)]
    Add(Add),
    /// Add the rules of a file, or replace those of their names: all of them or none
    Load(load::Load),
    /// List the rules of all tables
    List {
        /// Only those of this table
        #[arg(long)]
        table: Option<TableNumber>,
    },
    /// Show a rule with its counters
    Show(Which),
    /// Delete a rule
    Delete(Which),
}

/// A rule in a table.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// The rule
    name: Name,
    /// The table that it is in
    #[arg(long, default_value = "0")]
    table: TableNumber,
}

/// A rule to add.
#[derive(Debug, Args)]
pub(crate) struct Add {
    #[command(flatten)]
    which: Which,
    /// Of the rules that match a packet, the one with the largest number decides
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    priority: u16,
    /// A field and what it must be, such as ip_proto=tcp; every packet, if none is given
    #[arg(long = "match", value_name = "FIELD=VALUE[,FIELD=VALUE]")]
    condition: Vec<String>,
    /// What is done with the packets, in this order
    #[arg(long = "action", value_name = "ACTION", value_parser = action::parse, required = true)]
    actions: Vec<Action>,
}

impl Command {
    /// Does it.
    pub(crate) async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        match self {
            Self::Add(add) => add.run(session).await,
            Self::Load(load) => load.run(session).await,
            Self::List { table: Some(table) } => list::of_table(session, table).await,
            Self::List { table: None } => list::of_all(session).await,
            Self::Show(which) => {
                session.show(which.path(), |rule| render::rule(which.table, rule)).await
            }
            Self::Delete(which) => {
                let what = format!("rule {} of table {}", which.name, which.table);
                session.delete(which.path(), &what).await
            }
        }
    }
}

impl Which {
    fn path(&self) -> ApiPath {
        ApiPath::v1(["tables", &self.table.to_string(), "rules", self.name.as_str()])
    }
}

impl Add {
    async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        let condition = condition::parse(&self.condition).map_err(|reason| Error::Usage {
            message: format!("--match: {reason}"),
            hint: "`weft rule add --help` shows the fields",
        })?;
        let spec = RuleSpec { priority: self.priority, r#match: condition, actions: self.actions };
        let answer = session.client.put(&self.which.path(), Payload::json(&spec)).await?;
        session.output.show(&answer, |rule| render::rule(self.which.table, rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_field_and_every_action() {
        let unknown = condition::parse(&["?=?".to_owned()]).unwrap_err();
        let fields: Vec<&str> = unknown.split('`').skip(3).step_by(2).collect();
        assert_eq!(fields.len(), 30, "{unknown}");
        for word in fields.iter().chain(&action::FORMS) {
            assert!(GRAMMAR.contains(word), "{word}");
        }
    }
}
