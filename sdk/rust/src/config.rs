use alloc::{format, string::String};
use core::fmt;

use serde::{Deserialize, de::DeserializeOwned};

/// Why a configuration was refused, for whoever wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(String);

impl ConfigError {
    /// Says what is wrong, where, and what would be right.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// The message.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for ConfigError {}

/// The configuration of a module that has none: any key is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoConfig {}

/// Reads a configuration from JSON.
pub(crate) fn read<C: DeserializeOwned>(json: &[u8]) -> Result<C, ConfigError> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let config = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| ConfigError(format!("{error}")))?;
    reader.end().map_err(|error| ConfigError(format!("{error}")))?;
    Ok(config)
}
