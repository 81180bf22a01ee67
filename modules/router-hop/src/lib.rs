//! One hop of a router: checks the IPv4 header, takes one from the TTL or hop limit, and writes the
//! MAC addresses of the next link.
#![no_std]
#![forbid(unsafe_code)]

mod config;
#[cfg(test)]
mod tests;

use weft_sdk::{
    ConfigError, Counters, Packet, Stage, Verdict, checksum,
    header::{Mac, ethertype},
    names,
};

pub use crate::config::{Config, NonIp};

names! {
    /// Why a packet is dropped.
    pub enum Reason {
        /// It may take no more hops (RFC 1812, 5.3.1; RFC 8200, 3).
        TtlExpired => "ttl-expired",
        /// Its IPv4 header's checksum is wrong (RFC 1812, 5.2.2).
        BadChecksum => "bad-checksum",
        /// Its IP header is cut or contradicts itself.
        Malformed => "malformed",
        /// It is not IP, and the configuration says to drop that.
        NotIp => "not-ip",
    }
}

names! {
    /// What is counted.
    pub enum Counter {
        /// An IPv4 packet made the hop.
        Ipv4 => "ipv4",
        /// An IPv6 packet made the hop.
        Ipv6 => "ipv6",
        /// A packet passed untouched, since it is not IP.
        NonIp => "non-ip",
    }
}

/// The stage.
#[derive(Debug)]
pub struct RouterHop {
    source: Mac,
    destination: Mac,
    non_ip: NonIp,
}

impl Stage for RouterHop {
    type Config = Config;
    type Reason = Reason;
    type Counter = Counter;

    /// Ethernet, two VLAN tags and the longest IPv4 header take 82 bytes.
    const WINDOW: u32 = 96;
    const WRITES: bool = true;

    fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { source_mac, destination_mac, non_ip } = config.checked()?;
        Ok(Self { source: source_mac, destination: destination_mac, non_ip })
    }

    fn process(
        &mut self,
        packet: &mut Packet<'_>,
        counters: &mut Counters<Counter>,
    ) -> Verdict<Reason> {
        let hop = match packet.ethertype() {
            ethertype::IPV4 => ipv4_hop(packet),
            ethertype::IPV6 => ipv6_hop(packet),
            _ => self.without_ip(),
        };
        match hop {
            Ok(Counter::NonIp) => counters.increment(Counter::NonIp),
            Ok(counter) => {
                self.rewrite_addresses(packet);
                counters.increment(counter);
            }
            Err(reason) => return Verdict::Drop(reason),
        }
        Verdict::Next
    }
}

impl RouterHop {
    fn without_ip(&self) -> Result<Counter, Reason> {
        match self.non_ip {
            NonIp::Pass => Ok(Counter::NonIp),
            NonIp::Drop => Err(Reason::NotIp),
        }
    }

    fn rewrite_addresses(&self, packet: &mut Packet<'_>) {
        if let Some(mut ethernet) = packet.ethernet_mut() {
            ethernet.set_destination(self.destination);
            ethernet.set_source(self.source);
        }
    }
}

fn ipv4_hop(packet: &mut Packet<'_>) -> Result<Counter, Reason> {
    let header = packet.ipv4_with_options().ok_or(Reason::Malformed)?;
    if !checksum::is_right(header) {
        return Err(Reason::BadChecksum);
    }
    let ttl = packet.ipv4().ok_or(Reason::Malformed)?.ttl();
    let ttl = one_less(ttl)?;
    packet.ipv4_mut().ok_or(Reason::Malformed)?.set_ttl(ttl);
    Ok(Counter::Ipv4)
}

fn ipv6_hop(packet: &mut Packet<'_>) -> Result<Counter, Reason> {
    let hop_limit = packet.ipv6().ok_or(Reason::Malformed)?.hop_limit();
    let hop_limit = one_less(hop_limit)?;
    packet.ipv6_mut().ok_or(Reason::Malformed)?.set_hop_limit(hop_limit);
    Ok(Counter::Ipv6)
}

/// The TTL at the next hop.
fn one_less(ttl: u8) -> Result<u8, Reason> {
    if ttl > 1 { Ok(ttl - 1) } else { Err(Reason::TtlExpired) }
}

weft_sdk::export!(RouterHop);
