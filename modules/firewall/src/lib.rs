//! A stateless firewall for IPv4 and IPv6: the first rule that matches a packet decides.
//!
//! What a rule names may be out of sight: a later fragment has no ports, for one. An *allow* rule
//! matches only what is seen to match; a *deny* rule matches also what may match.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod compiled;
pub mod config;
mod facts;
#[cfg(test)]
mod tests;

use weft_sdk::{
    ConfigError, Counters, Packet, Stage, Verdict,
    header::ethertype::{IPV4, IPV6},
    names,
};

use crate::{
    compiled::Rules,
    config::{Action, Config},
    facts::Facts,
};

names! {
    /// Why a packet is dropped.
    pub enum Reason {
        /// A deny rule matched.
        DeniedByRule => "denied-by-rule",
        /// A deny rule may match: what it names cannot be seen in the packet.
        DeniedUnseen => "denied-unseen",
        /// No rule matched.
        DeniedByDefault => "denied-by-default",
        /// It is not IP.
        DeniedNonIp => "denied-non-ip",
        /// Its IP header is cut or contradicts itself.
        Malformed => "malformed",
    }
}

names! {
    /// What is counted. Of each packet, one of the first four.
    pub enum Counter {
        /// An IP packet was let through.
        Allowed => "allowed",
        /// An IP packet was dropped by a rule or by default.
        Denied => "denied",
        /// A packet was not IP.
        NonIp => "non-ip",
        /// An IP header was cut or contradicted itself.
        Malformed => "malformed",
        /// An IP packet's protocol or ports could not be seen.
        Unseen => "unseen",
    }
}

/// The stage.
#[derive(Debug)]
pub struct Firewall {
    ipv4: Rules<u32>,
    ipv6: Rules<u128>,
    non_ip: Action,
}

impl Stage for Firewall {
    type Config = Config;
    type Reason = Reason;
    type Counter = Counter;

    fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            ipv4: Rules::compile(&config),
            ipv6: Rules::compile(&config),
            non_ip: config.non_ip,
        })
    }

    fn process(
        &mut self,
        packet: &mut Packet<'_>,
        counters: &mut Counters<Counter>,
    ) -> Verdict<Reason> {
        let decision = match packet.ethertype() {
            IPV4 => Facts::of_ipv4(packet).map(|facts| decide(&self.ipv4, &facts, counters)),
            IPV6 => Facts::of_ipv6(packet).map(|facts| decide(&self.ipv6, &facts, counters)),
            _ => Some(self.without_ip(counters)),
        };
        decision.unwrap_or_else(|| {
            counters.increment(Counter::Malformed);
            Verdict::Drop(Reason::Malformed)
        })
    }
}

impl Firewall {
    fn without_ip(&self, counters: &mut Counters<Counter>) -> Verdict<Reason> {
        counters.increment(Counter::NonIp);
        match self.non_ip {
            Action::Allow => Verdict::Next,
            Action::Deny => Verdict::Drop(Reason::DeniedNonIp),
        }
    }
}

fn decide<A: compiled::Address>(
    rules: &Rules<A>,
    facts: &Facts<A>,
    counters: &mut Counters<Counter>,
) -> Verdict<Reason> {
    if facts.is_partly_unseen() {
        counters.increment(Counter::Unseen);
    }
    match rules.first_match(facts) {
        Ok(()) => {
            counters.increment(Counter::Allowed);
            Verdict::Next
        }
        Err(reason) => {
            counters.increment(Counter::Denied);
            Verdict::Drop(reason)
        }
    }
}

weft_sdk::export!(Firewall);
