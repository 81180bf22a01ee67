//! The configuration, as parsed and checked.

mod port_range;
mod prefix;
mod protocol;
mod written;

use alloc::{format, string::String, vec::Vec};

pub use port_range::PortRange;
pub use prefix::Prefix;
pub use protocol::Protocol;
use serde::Deserialize;
use weft_sdk::{ConfigError, header::protocol::has_ports};

/// The rules, in order, and what holds where none matches.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The first that matches decides.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// What becomes of an IP packet that no rule matches.
    pub default: Action,
    /// What becomes of ARP and of all else that is not IP.
    #[serde(default = "allow")]
    pub non_ip: Action,
}

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It goes on.
    Allow,
    /// It is dropped.
    Deny,
}

/// One rule. What it does not name may be anything.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// For the reader, and for messages.
    pub name: Option<String>,
    /// What becomes of the packets that it matches.
    pub action: Action,
    /// Where they come from.
    pub source: Option<Prefix>,
    /// Where they go.
    pub destination: Option<Prefix>,
    /// Their protocol, behind IPv6 extension headers.
    pub protocol: Option<Protocol>,
    /// The ports that they come from; those of TCP, UDP and SCTP if no protocol is named.
    pub source_ports: Option<PortRange>,
    /// The ports that they go to, likewise.
    pub destination_ports: Option<PortRange>,
    /// Whether they are fragments that are not the first.
    #[serde(default)]
    pub later_fragments: bool,
}

impl Config {
    /// Finds what the shape alone does not forbid.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        for (place, rule) in self.rules.iter().enumerate() {
            rule.contradiction().map_or(Ok(()), |what| {
                let name = rule.name.as_ref().map_or(String::new(), |name| format!(" ({name})"));
                Err(ConfigError::new(format!("rules[{place}]{name}: {what}")))
            })?;
        }
        Ok(())
    }
}

impl Rule {
    /// Why no packet could ever match.
    fn contradiction(&self) -> Option<String> {
        let names_ports = self.source_ports.is_some() || self.destination_ports.is_some();
        if let (Some(source), Some(destination)) = (self.source, self.destination)
            && source.address().is_ipv4() != destination.address().is_ipv4()
        {
            return Some(format!(
                "no packet goes from {source} to {destination}: one is IPv4, one IPv6"
            ));
        }
        match self.protocol {
            Some(protocol) if names_ports && !has_ports(protocol.0) => Some(format!(
                "{protocol} has no ports that this firewall knows: name tcp, udp or sctp, or leave \
                 the ports out"
            )),
            _ if names_ports && self.later_fragments => {
                Some("later fragments have no ports: leave either out".into())
            }
            _ => None,
        }
    }
}

fn allow() -> Action {
    Action::Allow
}
