use std::fmt;

/// Why a value that parses is not fit to run, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// The field, as a JSON pointer (RFC 6901); empty for the whole.
    pub pointer: String,
    /// What is wrong with it.
    pub reason: String,
    /// What to write instead.
    pub hint: Option<String>,
}

impl Invalid {
    /// Of the field that `path` leads to.
    #[must_use]
    pub fn at(path: &[&str], reason: impl Into<String>) -> Self {
        let whole = Self { pointer: String::new(), reason: reason.into(), hint: None };
        path.iter().rev().fold(whole, |invalid, segment| invalid.under(segment))
    }

    /// The same, with what to do about it.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same, of a value that is itself the field `segment` of another.
    #[must_use]
    pub fn under(self, segment: &str) -> Self {
        let escaped = segment.replace('~', "~0").replace('/', "~1");
        Self { pointer: format!("/{escaped}{}", self.pointer), ..self }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pointer, reason, hint } = self;
        if !pointer.is_empty() {
            write!(f, "{pointer}: ")?;
        }
        f.write_str(reason)?;
        hint.iter().try_for_each(|hint| write!(f, " ({hint})"))
    }
}

impl std::error::Error for Invalid {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_escaped_as_rfc_6901_asks() {
        let invalid = Invalid::at(&["config", "a/b~c"], "is null").under("fw");
        assert_eq!(invalid.pointer, "/fw/config/a~1b~0c");
    }

    #[test]
    fn it_reads_as_field_reason_and_hint() {
        let invalid = Invalid::at(&["mtu"], "9 is too small").hint("write 68 or more");
        assert_eq!(invalid.to_string(), "/mtu: 9 is too small (write 68 or more)");
        assert_eq!(Invalid::at(&[], "is empty").to_string(), "is empty");
    }
}
