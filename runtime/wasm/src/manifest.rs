use std::{collections::HashSet, ops::RangeInclusive};

use weft_abi::{MAX_WINDOW, Manifest, VERSION};

use crate::text::excerpt;

/// The longest name, version or label, in bytes.
const LONGEST: usize = 64;
/// The most drop reasons of one module.
const DROP_REASONS: usize = 32;
/// The most counters of one module.
const COUNTERS: usize = 64;

/// What is wrong with a manifest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// Not JSON, or not of the shape of a manifest.
    #[error("it is not a manifest: {0}")]
    Shape(String),
    /// The module was built for another version of the ABI.
    #[error(
        "it is for versions {} to {} of the ABI and this host has {VERSION}; build the module with \
         the SDK of this release", .0.start(), .0.end()
    )]
    Abi(RangeInclusive<u32>),
    /// A name of something is not of the letters that names are made of.
    #[error(
        "the {what} {name:?} is not a name: use 1 to {LONGEST} lower-case letters, digits and \
         hyphens, and begin with a letter or digit"
    )]
    Name {
        /// What has the name.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The version is not of the letters that versions are made of.
    #[error(
        "the version {0:?} is not one: use 1 to {LONGEST} letters, digits and any of `.-+_~`, and \
         begin with a letter or digit, such as 1.0.0"
    )]
    Version(String),
    /// The window is larger than any frame.
    #[error("it asks for a window of {0} bytes; the largest is {MAX_WINDOW}")]
    Window(u32),
    /// There is too much of something.
    #[error("it names {count} {what}; the most is {limit}")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A name stands twice in a list.
    #[error("it names the {what} {name:?} twice")]
    Twice {
        /// What has the name.
        what: &'static str,
        /// The name.
        name: String,
    },
}

/// Reads a manifest and checks all that its type leaves open.
pub(crate) fn parse(json: &[u8]) -> Result<Manifest, ManifestError> {
    let manifest: Manifest = serde_json::from_slice(json)
        .map_err(|error| ManifestError::Shape(excerpt(&error.to_string())))?;
    if !manifest.abi_range().contains(&VERSION) {
        return Err(ManifestError::Abi(manifest.abi_range()));
    }
    name("module name", &manifest.name)?;
    version(&manifest.version)?;
    if manifest.window > MAX_WINDOW {
        return Err(ManifestError::Window(manifest.window));
    }
    names("drop reason", "drop reasons", &manifest.drop_reasons, DROP_REASONS)?;
    names("counter", "counters", &manifest.counters, COUNTERS)?;
    Ok(manifest)
}

fn names(
    what: &'static str,
    all: &'static str,
    list: &[String],
    limit: usize,
) -> Result<(), ManifestError> {
    if list.len() > limit {
        return Err(ManifestError::TooMany { what: all, count: list.len(), limit });
    }
    let mut seen = HashSet::new();
    for entry in list {
        name(what, entry)?;
        if !seen.insert(entry) {
            return Err(ManifestError::Twice { what, name: entry.clone() });
        }
    }
    Ok(())
}

fn name(what: &'static str, name: &str) -> Result<(), ManifestError> {
    let letter = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    let fits =
        (1..=LONGEST).contains(&name.len()) && !name.starts_with('-') && name.bytes().all(letter);
    if fits { Ok(()) } else { Err(ManifestError::Name { what, name: shown(name) }) }
}

fn version(version: &str) -> Result<(), ManifestError> {
    let letter =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+' | b'_' | b'~');
    let fits = (1..=LONGEST).contains(&version.len())
        && version.starts_with(|first: char| first.is_ascii_alphanumeric())
        && version.bytes().all(letter);
    if fits { Ok(()) } else { Err(ManifestError::Version(shown(version))) }
}

/// The beginning of what was refused, which may be of any length.
fn shown(refused: &str) -> String {
    refused.chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(json: &str) -> Result<Manifest, ManifestError> {
        parse(format!(r#"{{"name": "m", "version": "1.0.0"{json}}}"#).as_bytes())
    }

    fn list(prefix: &str, count: usize) -> String {
        let names: Vec<String> = (0..count).map(|n| format!("\"{prefix}{n}\"")).collect();
        names.join(",")
    }

    #[test]
    fn the_largest_that_is_allowed_is_taken() {
        let json = format!(
            r#", "window": {MAX_WINDOW}, "drop_reasons": [{}], "counters": [{}]"#,
            list("r", DROP_REASONS),
            list("c", COUNTERS)
        );
        assert_eq!(with(&json).map(|manifest| manifest.counters.len()), Ok(COUNTERS));
        assert!(name("module name", &"x".repeat(LONGEST)).is_ok());
        assert!(version("1.0.0-rc.1~2+build_3").is_ok());
    }

    #[test]
    fn one_more_than_is_allowed_is_refused() {
        let too_many = |what, count, limit| Err(ManifestError::TooMany { what, count, limit });
        let json = format!(r#", "drop_reasons": [{}]"#, list("r", DROP_REASONS + 1));
        assert_eq!(with(&json), too_many("drop reasons", DROP_REASONS + 1, DROP_REASONS));
        let json = format!(r#", "counters": [{}]"#, list("c", COUNTERS + 1));
        assert_eq!(with(&json), too_many("counters", COUNTERS + 1, COUNTERS));
        let window = MAX_WINDOW + 1;
        assert_eq!(with(&format!(r#", "window": {window}"#)), Err(ManifestError::Window(window)));
        assert!(name("module name", &"x".repeat(LONGEST + 1)).is_err());
    }

    #[test]
    fn names_that_are_paths_markup_or_hidden_text_are_refused() {
        for bad in ["", "-a", "A", "a b", "../../x", "a/b", "a\0", "\u{202e}a", "<img>", "ü"] {
            let refused = Err(ManifestError::Name { what: "module name", name: bad.into() });
            assert_eq!(name("module name", bad), refused);
            assert_eq!(version(&format!("{bad}/")), Err(ManifestError::Version(format!("{bad}/"))));
        }
    }

    #[test]
    fn what_is_not_a_manifest_is_refused_with_the_place() {
        let shape = |json: &[u8]| parse(json).unwrap_err().to_string();
        assert!(shape(b"{").contains("line 1 column 1"), "{}", shape(b"{"));
        assert!(shape(b"\xff\xff").starts_with("it is not a manifest"));
        assert!(shape(br#"{"name": "m"}"#).contains("missing field `version`"));
        assert!(with(r#", "widow": 3"#).unwrap_err().to_string().contains("unknown field `widow`"));
        assert_eq!(with(r#", "abi": 2"#), Err(ManifestError::Abi(2..=2)));
        assert!(with(r#", "abi": 3, "abi_oldest": 1"#).is_ok());
        let twice = ManifestError::Twice { what: "counter", name: "a".into() };
        assert_eq!(with(r#", "counters": ["a", "a"]"#), Err(twice));
    }
}
