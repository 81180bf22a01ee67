use std::{fmt, path::PathBuf, str::FromStr};

use hyper::Uri;

/// Where the daemon listens unless its configuration says otherwise.
pub(crate) const DEFAULT: &str = "unix:/run/weft/api.sock";

/// Where the daemon is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Server {
    /// A Unix socket.
    Unix(PathBuf),
    /// A host and port that speak plain HTTP.
    Tcp {
        /// A name or an address; an IPv6 address without its brackets.
        host: String,
        /// The port.
        port: u16,
    },
}

/// Why a text names no server.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Invalid {
    /// Neither of the two forms.
    #[error("expected unix:/path/of/the/socket or http://127.0.0.1:9177")]
    Form,
    /// TLS, which the daemon does not speak.
    #[error("the daemon does not speak TLS: write http:// in place of https://")]
    Tls,
    /// A URL with more than a host and a port.
    #[error("`{0}` does not belong here: only a host and a port are taken")]
    Path(String),
}

impl FromStr for Server {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if let Some(path) = text.strip_prefix("unix:") {
            return if path.is_empty() { Err(Invalid::Form) } else { Ok(Self::Unix(path.into())) };
        }
        let uri: Uri = text.parse().map_err(|_| Invalid::Form)?;
        match uri.scheme_str() {
            Some("http") => (),
            Some("https") => return Err(Invalid::Tls),
            _ => return Err(Invalid::Form),
        }
        if let Some(path) = uri.path_and_query().filter(|path| path.as_str() != "/") {
            return Err(Invalid::Path(path.to_string()));
        }
        let host = uri.host().filter(|host| !host.is_empty()).ok_or(Invalid::Form)?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Ok(Self::Tcp { host, port: uri.port_u16().unwrap_or(80) })
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Tcp { host, port } if host.contains(':') => write!(f, "http://[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "http://{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(host: &str, port: u16) -> Result<Server, Invalid> {
        Ok(Server::Tcp { host: host.into(), port })
    }

    #[test]
    fn a_server_is_a_socket_or_a_host_and_port() {
        assert_eq!("unix:/run/a.sock".parse(), Ok(Server::Unix("/run/a.sock".into())));
        assert_eq!("http://127.0.0.1:9177".parse(), tcp("127.0.0.1", 9177));
        assert_eq!("http://localhost:9177/".parse(), tcp("localhost", 9177));
        assert_eq!("http://[::1]:9177".parse(), tcp("::1", 9177));
        assert_eq!("http://localhost".parse(), tcp("localhost", 80));
    }

    #[test]
    fn a_server_is_shown_as_it_is_given() {
        for text in [DEFAULT, "http://127.0.0.1:9177", "http://[::1]:9177"] {
            assert_eq!(text.parse::<Server>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_server_is_refused_with_the_reason() {
        for (text, reason) in [
            ("", Invalid::Form),
            ("unix:", Invalid::Form),
            ("/run/weft/api.sock", Invalid::Form),
            ("127.0.0.1:9177", Invalid::Form),
            ("ftp://127.0.0.1", Invalid::Form),
            ("https://127.0.0.1:9177", Invalid::Tls),
            ("http://127.0.0.1:9177/v1", Invalid::Path("/v1".into())),
        ] {
            assert_eq!(text.parse::<Server>(), Err(reason), "{text}");
        }
    }
}
