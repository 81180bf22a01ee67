use std::{fmt, net::Ipv4Addr};

use serde_json::{Map, Value, json};

#[cfg(test)]
use super::Header;
use super::Protocol;

/// The addresses that agree in their first bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Prefix {
    address: u32,
    length: u8,
}

impl Prefix {
    /// Every address.
    pub(crate) const ANY: Self = Self { address: 0, length: 0 };

    /// The first `length` bits, up to 32, of an address.
    pub(crate) fn of(address: Ipv4Addr, length: u8) -> Self {
        Self { address: address.to_bits() & Self::mask(length), length }
    }

    fn mask(length: u8) -> u32 {
        u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0)
    }

    #[cfg(test)]
    fn holds(self, address: Ipv4Addr) -> bool {
        address.to_bits() & Self::mask(self.length) == self.address
    }

    /// The address in it whose other bits are those of `rest`.
    pub(crate) fn address(self, rest: u32) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.address | rest & !Self::mask(self.length))
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", Ipv4Addr::from_bits(self.address), self.length)
    }
}

/// Ports by their bits or by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Ports {
    /// Those that agree with a value where a mask has ones.
    Masked { value: u16, mask: u16 },
    /// Those from one to another.
    Range { first: u16, last: u16 },
}

impl Ports {
    /// Every port.
    pub(crate) const ANY: Self = Self::Masked { value: 0, mask: 0 };

    /// Those that agree with `port` under `mask`.
    pub(crate) fn of(port: u16, mask: u16) -> Self {
        Self::Masked { value: port & mask, mask }
    }

    #[cfg(test)]
    fn holds(self, port: u16) -> bool {
        match self {
            Self::Masked { value, mask } => port & mask == value,
            Self::Range { first, last } => (first..=last).contains(&port),
        }
    }

    /// A port among them, by a random number.
    pub(crate) fn port(self, random: u16) -> u16 {
        match self {
            Self::Masked { value, mask } => value | random & !mask,
            Self::Range { first, last } => {
                first
                    + u16::try_from(u32::from(random) % (u32::from(last - first) + 1))
                        .expect("it is less than the size of the range")
            }
        }
    }

    /// As the API takes them; none for all of them.
    fn to_match(self) -> Option<Value> {
        match self {
            Self::ANY => None,
            Self::Masked { value, mask: u16::MAX } => Some(json!(value)),
            Self::Masked { value, mask } => Some(json!(format!("{value}/{mask:#06x}"))),
            Self::Range { first, last } => Some(json!(format!("{first}-{last}"))),
        }
    }
}

/// Which packets a rule is about, in the form that the daemon takes. What becomes of them is for the
/// whole set to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Rule {
    pub(crate) priority: u16,
    pub(crate) source: Prefix,
    pub(crate) destination: Prefix,
    pub(crate) protocol: Option<Protocol>,
    /// Any, unless the protocol has ports.
    pub(crate) source_ports: Ports,
    pub(crate) destination_ports: Ports,
}

impl Rule {
    /// Whatever comes in.
    pub(crate) const ANY: Self = Self {
        priority: 1,
        source: Prefix::ANY,
        destination: Prefix::ANY,
        protocol: None,
        source_ports: Ports::ANY,
        destination_ports: Ports::ANY,
    };

    /// Whether it is about the packets of a flow, as tests judge the generators by.
    #[cfg(test)]
    pub(crate) fn matches(&self, header: &Header) -> bool {
        self.source.holds(header.source)
            && self.destination.holds(header.destination)
            && self.protocol.is_none_or(|protocol| protocol == header.protocol)
            && self.source_ports.holds(header.source_port)
            && self.destination_ports.holds(header.destination_port)
    }

    /// The match as the API takes it, of packets that came by `in_port`.
    pub(crate) fn to_match(self, in_port: &str) -> Value {
        let mut written = Map::from_iter([("in_port".to_owned(), json!(in_port))]);
        let mut add = |field: &str, value: Value| written.insert(field.to_owned(), value);
        for (field, prefix) in [("ip_src", self.source), ("ip_dst", self.destination)] {
            if prefix != Prefix::ANY {
                add(field, json!(prefix.to_string()));
            }
        }
        if let Some(protocol) = self.protocol {
            add("eth_type", json!("ipv4"));
            add("ip_proto", json!(protocol.name()));
        }
        for (field, ports) in [("l4_src", self.source_ports), ("l4_dst", self.destination_ports)] {
            if let Some(ports) = ports.to_match() {
                add(field, ports);
            }
        }
        Value::Object(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header {
        source: Ipv4Addr::new(10, 1, 2, 3),
        destination: Ipv4Addr::new(11, 0, 0, 1),
        protocol: Protocol::Udp,
        source_port: 0x1234,
        destination_port: 53,
    };

    #[test]
    fn a_rule_is_about_its_own_bits_alone() {
        let yes = Rule {
            source: Prefix::of(HEADER.source, 24),
            destination: Prefix::of(HEADER.destination, 32),
            protocol: Some(Protocol::Udp),
            source_ports: Ports::of(0x1200, 0xff00),
            destination_ports: Ports::of(53, u16::MAX),
            ..Rule::ANY
        };
        assert!(yes.matches(&HEADER) && Rule::ANY.matches(&HEADER));
        for no in [
            Rule { source: Prefix::of(Ipv4Addr::new(10, 1, 3, 3), 24), ..yes },
            Rule { destination: Prefix::of(Ipv4Addr::new(11, 0, 0, 0), 32), ..yes },
            Rule { protocol: Some(Protocol::Tcp), ..yes },
            Rule { source_ports: Ports::of(0x1300, 0xff00), ..yes },
            Rule { destination_ports: Ports::of(52, u16::MAX), ..yes },
            Rule { destination_ports: Ports::Range { first: 54, last: 60 }, ..yes },
        ] {
            assert!(!no.matches(&HEADER), "{no:?}");
        }
    }

    #[test]
    fn only_what_it_looks_at_is_written() {
        assert_eq!(Rule::ANY.to_match("in"), json!({"in_port": "in"}));
        let rule = Rule {
            source: Prefix::of(HEADER.source, 24),
            protocol: Some(Protocol::Udp),
            source_ports: Ports::of(0x1234, 0xff00),
            destination_ports: Ports::of(53, u16::MAX),
            ..Rule::ANY
        };
        let written = json!({
            "in_port": "in", "ip_src": "10.1.2.0/24", "eth_type": "ipv4", "ip_proto": "udp",
            "l4_src": "4608/0xff00", "l4_dst": 53,
        });
        assert_eq!(rule.to_match("in"), written);
    }

    #[test]
    fn a_port_made_from_a_range_is_in_it() {
        let range = Ports::Range { first: 1024, last: u16::MAX };
        assert_eq!(range.to_match(), Some(json!("1024-65535")));
        for random in 0..=u16::MAX {
            assert!(range.holds(range.port(random)), "{random}");
            assert_eq!(Ports::Range { first: 0, last: u16::MAX }.port(random), random);
        }
    }

    #[test]
    fn an_address_made_from_a_prefix_is_in_it() {
        for length in 0..=32 {
            let prefix = Prefix::of(HEADER.source, length);
            assert!(prefix.holds(prefix.address(0xdead_beef)), "{prefix}");
        }
    }
}
