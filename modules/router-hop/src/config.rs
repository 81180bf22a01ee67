use serde::Deserialize;
use weft_sdk::{ConfigError, header::Mac};

/// The addresses of the next link.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The router's own address on it.
    pub source_mac: Mac,
    /// The next hop's address.
    pub destination_mac: Mac,
    /// What becomes of packets that are not IP.
    #[serde(default)]
    pub non_ip: NonIp,
}

/// What becomes of packets that are not IP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NonIp {
    /// They go on untouched.
    #[default]
    Pass,
    /// They are dropped.
    Drop,
}

impl Config {
    /// Itself, if the addresses are those of one station each.
    pub(crate) fn checked(self) -> Result<Self, ConfigError> {
        if self.source_mac.is_group() {
            return Err(ConfigError::new(
                "source_mac: it is a group address, which no frame comes from; give the router's own",
            ));
        }
        if self.destination_mac.is_group() {
            return Err(ConfigError::new(
                "destination_mac: it is a group address; give the next hop's own",
            ));
        }
        Ok(self)
    }
}
