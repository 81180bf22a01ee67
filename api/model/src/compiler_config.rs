use std::{ops::RangeInclusive, path::PathBuf};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Invalid;

/// How modules are compiled, each by a process of its own that is killed when it takes too much.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CompilerConfig {
    /// A folder where compiled modules are kept, so that the next start is quick. Without it they
    /// are compiled at each start. It is made if it is not there, and must be the daemon's own:
    /// what lies in it is run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "/var/cache/weft")]
    pub cache: Option<PathBuf>,
    /// How long a module may take, in milliseconds.
    #[schema(minimum = 1, maximum = 30_000)]
    pub time_limit_ms: u32,
    /// How much memory it may take, in MiB.
    #[schema(minimum = 16, maximum = 65_536)]
    pub memory_limit_mb: u32,
    /// The most functions that a module may have.
    #[schema(minimum = 1, maximum = 1_000_000)]
    pub function_limit: u32,
}

impl Default for CompilerConfig {
    fn default() -> Self {
        Self { cache: None, time_limit_ms: 10_000, memory_limit_mb: 1024, function_limit: 20_000 }
    }
}

impl CompilerConfig {
    /// The times that there can be, which end before the API gives a module up.
    pub const TIME_LIMITS_MS: RangeInclusive<u32> = 1..=30_000;
    /// The memory that there can be.
    pub const MEMORY_LIMITS_MB: RangeInclusive<u32> = 16..=65_536;
    /// The numbers of functions that there can be: WebAssembly has no more.
    pub const FUNCTION_LIMITS: RangeInclusive<u32> = 1..=1_000_000;

    pub(crate) fn invalid(&self) -> impl Iterator<Item = Invalid> {
        let limits = [
            ("time_limit_ms", self.time_limit_ms, Self::TIME_LIMITS_MS),
            ("memory_limit_mb", self.memory_limit_mb, Self::MEMORY_LIMITS_MB),
            ("function_limit", self.function_limit, Self::FUNCTION_LIMITS),
        ];
        let outside = limits.into_iter().filter(|(_, value, range)| !range.contains(value));
        let outside = outside.map(|(field, value, range)| {
            let reason = format!("{value} is not from {} to {}", range.start(), range.end());
            Invalid::at(&["compiler", field], reason)
        });
        let relative = self.cache.as_deref().is_some_and(|folder| !folder.is_absolute());
        let relative = relative.then(|| {
            Invalid::at(&["compiler", "cache"], "it is not an absolute path")
                .hint("begin it with a slash, as in /var/cache/weft")
        });
        outside.chain(relative)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_end_where_they_say_and_the_folder_is_absolute() {
        let defaults = CompilerConfig::default();
        let invalid = |config: CompilerConfig| -> Vec<String> {
            config.invalid().map(|invalid| invalid.pointer).collect()
        };
        assert_eq!(invalid(defaults.clone()), [""; 0]);
        for (time, memory, functions) in [(1, 16, 1), (30_000, 65_536, 1_000_000)] {
            let config = CompilerConfig {
                cache: Some("/x".into()),
                time_limit_ms: time,
                memory_limit_mb: memory,
                function_limit: functions,
            };
            assert_eq!(invalid(config), [""; 0]);
        }
        for (time, memory, functions) in [(0, 15, 0), (30_001, 65_537, 1_000_001)] {
            let config = CompilerConfig {
                cache: Some("x".into()),
                time_limit_ms: time,
                memory_limit_mb: memory,
                function_limit: functions,
            };
            let all = ["time_limit_ms", "memory_limit_mb", "function_limit", "cache"];
            assert_eq!(invalid(config), all.map(|field| format!("/compiler/{field}")));
        }
    }
}
