use std::{borrow::Borrow, fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a client calls a port, module, stage or rule.
///
/// 1 to 63 letters, digits and `.`, `_`, `@`, `-`, of which the first is a letter or a digit. So it
/// stands unescaped in a URL path and is never a path of its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, pattern = "^[A-Za-z0-9][A-Za-z0-9._@-]{0,62}$", example = "lan")]
pub struct Name(String);

/// Why a text is no [`Name`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{shown:?} is not a name: a name is 1 to 63 letters, digits and '.', '_', '@', '-', and begins \
     with a letter or a digit"
)]
pub struct NameError {
    shown: String,
}

impl Name {
    /// The most characters that it has.
    pub const MAX: usize = 63;

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_name(text: &str) -> bool {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || b"._@-".contains(&byte);
    text.len() <= Name::MAX
        && text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
        && text.bytes().all(inside)
}

impl TryFrom<String> for Name {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        if is_name(&text) {
            return Ok(Self(text));
        }
        Err(NameError { shown: text.chars().take(Self::MAX + 1).collect() })
    }
}

impl From<Name> for String {
    fn from(Name(text): Name) -> Self {
        text
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::try_from(text.to_owned())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_what_the_rule_allows_and_nothing_else() {
        for good in ["a", "0", "lan", "firewall@1.0.0-rc.1", "A_b-c.d@e", &"x".repeat(63)] {
            assert_eq!(good.parse::<Name>().unwrap().as_str(), good);
        }
        for bad in ["", ".", "..", "-a", "@a", "a/b", "../a", "a b", "a\0", "é", &"x".repeat(64)] {
            assert!(bad.parse::<Name>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_error_shows_the_text_escaped_and_cut() {
        let error = "\u{202e}\n".repeat(10_000).parse::<Name>().unwrap_err().to_string();
        assert!(error.starts_with(r#""\u{202e}\n"#), "{error}");
        assert!(error.contains("1 to 63 letters") && error.len() < 1000, "{error}");
    }

    #[test]
    fn it_is_a_string_in_json() {
        let name: Name = serde_json::from_str("\"lan\"").unwrap();
        assert_eq!(serde_json::to_string(&name).unwrap(), "\"lan\"");
        assert!(serde_json::from_str::<Name>("\"a b\"").is_err());
    }
}
