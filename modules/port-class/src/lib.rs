//! Says which application a packet is of, by its protocol and destination port.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

use alloc::{collections::BTreeMap, format, vec::Vec};

use serde::Deserialize;
use weft_sdk::{Classifier, ConfigError, View, header::protocol};

/// The classes, by protocol and port.
#[derive(Debug)]
pub struct PortClass {
    classes: BTreeMap<(u8, u16), u64>,
}

/// What is of which class. All else is of class 0.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    classes: Vec<Class>,
}

/// One class, or a part of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Class {
    metadata: u64,
    protocol: Transport,
    ports: Vec<u16>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Transport {
    Tcp,
    Udp,
}

impl Classifier for PortClass {
    type Config = Config;

    fn new(config: Config) -> Result<Self, ConfigError> {
        let mut classes = BTreeMap::new();
        for Class { metadata, protocol, ports } in config.classes {
            let number = match protocol {
                Transport::Tcp => protocol::TCP,
                Transport::Udp => protocol::UDP,
            };
            for port in ports {
                if classes.insert((number, port), metadata).is_some() {
                    return Err(ConfigError::new(format!(
                        "classes: {protocol:?} port {port} is there twice"
                    )));
                }
            }
        }
        Ok(Self { classes })
    }

    fn classify(&mut self, packet: &mut View<'_>) -> u64 {
        let protocol = packet.protocol();
        if !matches!(protocol, protocol::TCP | protocol::UDP) {
            return 0;
        }
        self.classes.get(&(protocol, packet.destination_port())).copied().unwrap_or(0)
    }
}

weft_sdk::export!(classifier PortClass);

#[cfg(test)]
mod tests {
    use weft_sdk::abi::{Key, looked_at};

    use super::*;

    fn dns() -> Result<PortClass, ConfigError> {
        PortClass::new(
            serde_json::from_str(
                r#"{"classes": [{"metadata": 7, "protocol": "udp", "ports": [53, 5353]}]}"#,
            )
            .unwrap(),
        )
    }

    fn ask(protocol: u8, port: u16) -> (u64, u32) {
        let key = Key { protocol, l4_dst: port, ..Key::default() };
        let mut view = View::new(&key, &[]);
        (dns().unwrap().classify(&mut view), view.looked_at())
    }

    #[test]
    fn a_port_of_a_protocol_is_of_its_class_and_all_else_of_none() {
        let both = looked_at::PROTOCOL | looked_at::L4_DST;
        assert_eq!(ask(protocol::UDP, 53), (7, both));
        assert_eq!(ask(protocol::UDP, 54), (0, both));
        assert_eq!(ask(protocol::TCP, 53), (0, both));
        assert_eq!(ask(1, 53), (0, looked_at::PROTOCOL), "no port was looked at");
    }

    #[test]
    fn a_port_of_two_classes_is_refused() {
        let twice = r#"{"classes": [
            {"metadata": 1, "protocol": "tcp", "ports": [80]},
            {"metadata": 2, "protocol": "tcp", "ports": [443, 80]}]}"#;
        let refused = PortClass::new(serde_json::from_str(twice).unwrap()).unwrap_err();
        assert_eq!(refused.message(), "classes: Tcp port 80 is there twice");
    }
}
