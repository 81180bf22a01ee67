//! The rules as they are matched: those of one family of addresses, in masks and ranges.

use alloc::vec::Vec;
use core::{
    fmt::Debug,
    net::IpAddr,
    ops::{BitAnd, BitXor},
};

use crate::{
    Reason,
    config::{Action, Config, PortRange, Prefix, Rule},
    facts::{Facts, Ports},
};

/// The bits of an address: `u32` for IPv4, `u128` for IPv6.
pub(crate) trait Address:
    Copy + Debug + Eq + BitAnd<Output = Self> + BitXor<Output = Self>
{
    const ZERO: Self;

    /// A prefix as address and mask; `None` if it is of the other family.
    fn masked(prefix: Prefix) -> Option<(Self, Self)>;
}

impl Address for u32 {
    const ZERO: Self = 0;

    fn masked(prefix: Prefix) -> Option<(Self, Self)> {
        let IpAddr::V4(address) = prefix.address() else { return None };
        let host_bits = Self::BITS - u32::from(prefix.length());
        Some((address.to_bits(), Self::MAX.checked_shl(host_bits).unwrap_or(0)))
    }
}

impl Address for u128 {
    const ZERO: Self = 0;

    fn masked(prefix: Prefix) -> Option<(Self, Self)> {
        let IpAddr::V6(address) = prefix.address() else { return None };
        let host_bits = Self::BITS - u32::from(prefix.length());
        Some((address.to_bits(), Self::MAX.checked_shl(host_bits).unwrap_or(0)))
    }
}

/// The rules that packets with addresses of this family can match, in order.
#[derive(Debug)]
pub(crate) struct Rules<A> {
    rules: Vec<Compiled<A>>,
    default: Action,
}

#[derive(Debug)]
struct Compiled<A> {
    source: Masked<A>,
    destination: Masked<A>,
    protocol: Option<u8>,
    ports: Option<PortRanges>,
    later_fragments: bool,
    action: Action,
}

#[derive(Debug)]
struct Masked<A> {
    address: A,
    mask: A,
}

#[derive(Debug)]
struct PortRanges {
    source: PortRange,
    destination: PortRange,
}

/// How a rule fits a packet, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    No,
    /// What is seen fits, and something else is not seen.
    Maybe,
    Yes,
}

impl<A: Address> Rules<A> {
    pub(crate) fn compile(config: &Config) -> Self {
        let rules = config.rules.iter().filter_map(Compiled::new).collect();
        Self { rules, default: config.default }
    }

    /// Whether the packet may pass, or why not.
    #[inline]
    pub(crate) fn first_match(&self, facts: &Facts<A>) -> Result<(), Reason> {
        for rule in &self.rules {
            match (rule.fit(facts), rule.action) {
                (Fit::No, _) | (Fit::Maybe, Action::Allow) => {}
                (Fit::Yes, Action::Allow) => return Ok(()),
                (Fit::Yes, Action::Deny) => return Err(Reason::DeniedByRule),
                (Fit::Maybe, Action::Deny) => return Err(Reason::DeniedUnseen),
            }
        }
        match self.default {
            Action::Allow => Ok(()),
            Action::Deny => Err(Reason::DeniedByDefault),
        }
    }
}

impl<A: Address> Compiled<A> {
    /// `None` if the rule is about the other family.
    fn new(rule: &Rule) -> Option<Self> {
        let has_ports = rule.source_ports.is_some() || rule.destination_ports.is_some();
        Some(Self {
            source: Masked::new(rule.source)?,
            destination: Masked::new(rule.destination)?,
            protocol: rule.protocol.map(|protocol| protocol.0),
            ports: has_ports.then(|| PortRanges {
                source: rule.source_ports.unwrap_or(PortRange::ALL),
                destination: rule.destination_ports.unwrap_or(PortRange::ALL),
            }),
            later_fragments: rule.later_fragments,
            action: rule.action,
        })
    }

    #[inline]
    fn fit(&self, facts: &Facts<A>) -> Fit {
        let addresses =
            self.source.contains(facts.source) && self.destination.contains(facts.destination);
        if !addresses || self.later_fragments && !facts.is_later_fragment {
            return Fit::No;
        }
        self.fit_protocol(facts).min(self.fit_ports(facts))
    }

    #[inline]
    fn fit_protocol(&self, facts: &Facts<A>) -> Fit {
        match (self.protocol, facts.protocol) {
            (None, _) => Fit::Yes,
            (Some(_), None) => Fit::Maybe,
            (Some(wanted), Some(protocol)) => Fit::from(wanted == protocol),
        }
    }

    #[inline]
    fn fit_ports(&self, facts: &Facts<A>) -> Fit {
        match (&self.ports, facts.ports) {
            (None, _) => Fit::Yes,
            (Some(_), Ports::None) => Fit::No,
            (Some(_), Ports::Unseen) => Fit::Maybe,
            (Some(wanted), Ports::Seen(source, destination)) => Fit::from(
                wanted.source.contains(source) && wanted.destination.contains(destination),
            ),
        }
    }
}

impl From<bool> for Fit {
    #[inline]
    fn from(fits: bool) -> Self {
        if fits { Self::Yes } else { Self::No }
    }
}

impl<A: Address> Masked<A> {
    /// Every address, if there is no prefix; `None` if it is of the other family.
    fn new(prefix: Option<Prefix>) -> Option<Self> {
        let (address, mask) = prefix.map_or(Some((A::ZERO, A::ZERO)), A::masked)?;
        Some(Self { address, mask })
    }

    #[inline]
    fn contains(&self, address: A) -> bool {
        (address ^ self.address) & self.mask == A::ZERO
    }
}
