use std::{fmt, str::FromStr};

use hyper::http::uri::PathAndQuery;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What a segment must escape: all but RFC 3986's `pchar`.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

/// What a value in a query must escape.
const VALUE: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'@');

/// The path of a resource, such as `/v1/ports/lan`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiPath(PathAndQuery);

/// Why a text is no path.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the path of a resource, such as /v1/stats")]
pub(crate) struct Invalid;

impl ApiPath {
    /// The path of these segments below `/v1`, each escaped.
    pub(crate) fn v1<const N: usize>(segments: [&str; N]) -> Self {
        let path = segments.iter().fold("/v1".to_owned(), |path, segment| {
            path + "/" + &utf8_percent_encode(segment, SEGMENT).to_string()
        });
        Self(path.parse().expect("escaped segments make a path"))
    }

    /// The path with parameters behind it, of which those that are not given are left out.
    pub(crate) fn query<const N: usize>(self, parameters: [(&str, Option<String>); N]) -> Self {
        let given = parameters.into_iter().filter_map(|(name, value)| {
            Some(format!("{name}={}", utf8_percent_encode(&value?, VALUE)))
        });
        let query = given.collect::<Vec<_>>().join("&");
        let question = if query.is_empty() { "" } else { "?" };
        let text = format!("{self}{question}{query}");
        Self(text.parse().expect("a path and an escaped query make a target"))
    }

    /// A path that is known to be one.
    pub(crate) fn fixed(path: &'static str) -> Self {
        Self(PathAndQuery::from_static(path))
    }

    /// The path as the target of a request.
    pub(crate) fn as_uri(&self) -> &str {
        self.0.as_str()
    }
}

impl FromStr for ApiPath {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if !text.starts_with('/') {
            return Err(Invalid);
        }
        text.parse().map(Self).map_err(|_| Invalid)
    }
}

impl fmt::Display for ApiPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_segment() {
        assert_eq!(
            ApiPath::v1(["modules", "firewall@1.0.0"]).as_uri(),
            "/v1/modules/firewall@1.0.0"
        );
        assert_eq!(ApiPath::v1(["ports", "a/b?c#d e\u{e9}%"]).as_uri(), {
            "/v1/ports/a%2Fb%3Fc%23d%20e%C3%A9%25"
        });
    }

    #[test]
    fn a_query_has_what_is_given_escaped() {
        let with = |parameters| ApiPath::fixed("/v1/flows").query::<2>(parameters);
        assert_eq!(with([("worker", None), ("limit", None)]).as_uri(), "/v1/flows");
        let both = with([("cursor", Some("a&b=c".into())), ("limit", Some("7".into()))]);
        assert_eq!(both.as_uri(), "/v1/flows?cursor=a%26b%3Dc&limit=7");
    }

    #[test]
    fn a_path_begins_with_a_slash() {
        assert_eq!("/v1/stats?x=1".parse::<ApiPath>().unwrap().as_uri(), "/v1/stats?x=1");
        for text in ["", "v1/stats", "http://host/v1", "/a b"] {
            assert_eq!(text.parse::<ApiPath>(), Err(Invalid), "{text}");
        }
    }
}
