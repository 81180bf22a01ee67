//! What can go wrong, and how it is told: a message, where, what to do, and an exit code.

use std::{
    io::{self, Write},
    path::PathBuf,
    time::Duration,
};

use hyper::StatusCode;
use serde::Deserialize;

use crate::{client::nobody_listens, render::text::escaped, server::Server};

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// No connection to the daemon.
    #[error("cannot reach the daemon at {server}: {source}")]
    Unreachable {
        /// Where it was sought.
        server: Server,
        /// What the kernel said.
        source: io::Error,
    },
    /// The daemon took too long.
    #[error("no answer from the daemon at {server} within {} s", limit.as_secs_f64())]
    Timeout {
        /// Where it was asked.
        server: Server,
        /// How long it had.
        limit: Duration,
    },
    /// The connection ended before the answer did, or what came is not HTTP.
    #[error("the connection to {server} failed: {}", innermost(source))]
    Broken {
        /// Where it led.
        server: Server,
        /// What failed.
        source: hyper::Error,
    },
    /// The daemon refused.
    #[error("{}", .0.detail)]
    Refused(Box<Refusal>),
    /// An answer of another shape than this program knows.
    #[error("the answer to {request} is not what weft {} expects: {source}", env!("CARGO_PKG_VERSION"))]
    Answer {
        /// What was asked.
        request: String,
        /// Where it differs.
        source: serde_json::Error,
    },
    /// A file that cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A file that does not hold what it should.
    #[error("{}: {reason}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and where.
        reason: String,
    },
    /// A command that needs more than it was given.
    #[error("{message}")]
    Usage {
        /// What is missing.
        message: String,
        /// What to add.
        hint: &'static str,
    },
    /// The daemon answers but is not ready.
    #[error("the daemon is not ready")]
    NotReady,
    /// Standard output does not take what is written.
    #[error("cannot write: {0}")]
    Output(#[from] io::Error),
}

/// A problem that the daemon reported (RFC 9457).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The status of the answer.
    pub(crate) status: StatusCode,
    /// What happened.
    pub(crate) detail: String,
    /// What programs may match on.
    pub(crate) code: Option<String>,
    /// Where in the body the trouble is.
    pub(crate) pointer: Option<String>,
    /// What to do.
    pub(crate) hint: Option<String>,
}

/// The members of a problem that are shown; all may be absent.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Problem {
    title: Option<String>,
    detail: Option<String>,
    code: Option<String>,
    pointer: Option<String>,
    hint: Option<String>,
}

impl Error {
    /// The error in an answer that is no success, whether or not its body is a problem.
    pub(crate) fn refused(request: String, status: StatusCode, body: &[u8]) -> Self {
        let problem = serde_json::from_slice(body).unwrap_or_else(|_| Problem {
            detail: std::str::from_utf8(body).ok().map(|text| text.trim().to_owned()),
            ..Problem::default()
        });
        let detail = problem.detail.filter(|detail| !detail.is_empty()).or(problem.title);
        Self::Refused(Box::new(Refusal {
            status,
            detail: detail.unwrap_or_else(|| format!("{request} was answered {status}")),
            code: problem.code,
            pointer: problem.pointer,
            hint: problem.hint,
        }))
    }

    /// The exit code that tells programs what kind of failure this is.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage { .. } => 2,
            Self::Refused(refusal) => match refusal.status {
                StatusCode::NOT_FOUND => 3,
                StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => 4,
                _ => 1,
            },
            Self::Unreachable { .. } | Self::Timeout { .. } | Self::Broken { .. } => 5,
            _ => 1,
        }
    }

    /// Writes the message, where the trouble is, what to do and the code, a line each.
    ///
    /// # Errors
    ///
    /// Fails if `to` does.
    pub(crate) fn report(&self, to: &mut dyn Write) -> io::Result<()> {
        writeln!(to, "error: {}", escaped(&self.to_string()))?;
        let refusal = if let Self::Refused(refusal) = self { Some(refusal) } else { None };
        if let Some(pointer) = refusal.and_then(|refusal| refusal.pointer.as_deref()) {
            writeln!(to, "  at {}", escaped(pointer))?;
        }
        if let Some(hint) = self.hint() {
            writeln!(to, "  hint: {}", escaped(hint))?;
        }
        if let Some(refusal) = refusal {
            let code = refusal.code.as_deref().unwrap_or("none");
            writeln!(to, "  code: {} (HTTP {})", escaped(code), refusal.status)?;
        }
        Ok(())
    }

    fn hint(&self) -> Option<&str> {
        match self {
            Self::Unreachable { source, .. } if nobody_listens(source) => Some(
                "start it by `weftd --config weft.toml`, or name its socket or address by \
                 --server or WEFT_SERVER",
            ),
            Self::Unreachable { source, .. }
                if source.kind() == io::ErrorKind::PermissionDenied =>
            {
                Some("run weft as root, or as a user whom the socket's permissions let in")
            }
            Self::Unreachable { .. } => {
                Some("name its socket or address by --server or WEFT_SERVER")
            }
            Self::Timeout { .. } => Some(
                "a change may have been made all the same: look before you repeat it, and allow \
                 more time by --timeout",
            ),
            Self::Broken { .. } => Some("see the daemon's log, and that --server names a weftd"),
            Self::Refused(refusal) => refusal.hint.as_deref(),
            Self::Answer { .. } => {
                Some("`weft version` compares the releases; --json shows the answer as it came")
            }
            Self::Usage { hint, .. } => Some(hint),
            _ => None,
        }
    }
}

/// The message of the error at the bottom, which names the cause.
fn innermost(error: &dyn std::error::Error) -> String {
    std::iter::successors(Some(error), |error| error.source())
        .last()
        .map_or_else(String::new, ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(error: &Error) -> String {
        let mut out = Vec::new();
        error.report(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn refused(status: u16, body: &str) -> Error {
        let status = StatusCode::from_u16(status).unwrap();
        Error::refused("PUT /v1/stages/fw".into(), status, body.as_bytes())
    }

    #[test]
    fn a_problem_is_told_with_its_place_hint_and_code() {
        let error = refused(
            422,
            r#"{"type": "about:blank", "title": "Refused", "status": 422,
                "detail": "no module named `x\u001b[2J`", "code": "no-such-module",
                "pointer": "/module", "hint": "upload it first"}"#,
        );
        assert_eq!(
            told(&error),
            "error: no module named `x\\u{1b}[2J`\n  at /module\n  hint: upload it first\n  \
             code: no-such-module (HTTP 422 Unprocessable Entity)\n"
        );
    }

    #[test]
    fn a_refusal_without_a_problem_is_told_by_its_text_or_status() {
        let code = "  code: none (HTTP 413 Payload Too Large)\n";
        assert_eq!(told(&refused(413, "too large\n")), format!("error: too large\n{code}"));
        assert_eq!(told(&refused(413, r#"{"title": "T"}"#)), format!("error: T\n{code}"));
        assert_eq!(told(&refused(413, "")), {
            format!("error: PUT /v1/stages/fw was answered 413 Payload Too Large\n{code}")
        });
    }

    #[test]
    fn the_exit_code_tells_the_kind() {
        for (status, code) in [(400, 1), (404, 3), (409, 4), (412, 4), (422, 1), (503, 1)] {
            assert_eq!(refused(status, "").exit_code(), code, "{status}");
        }
        let server: Server = "unix:/run/a.sock".parse().unwrap();
        let limit = Duration::from_millis(1500);
        let timeout = Error::Timeout { server: server.clone(), limit };
        assert_eq!(
            timeout.to_string(),
            "no answer from the daemon at unix:/run/a.sock within 1.5 s"
        );
        assert_eq!(timeout.exit_code(), 5);
        assert_eq!(Error::NotReady.exit_code(), 1);
        assert_eq!(Error::Usage { message: String::new(), hint: "" }.exit_code(), 2);
    }

    #[test]
    fn an_unreachable_daemon_is_told_with_the_way_in() {
        let hint = |kind: io::ErrorKind| {
            let server = "unix:/run/a.sock".parse().unwrap();
            told(&Error::Unreachable { server, source: kind.into() })
        };
        assert!(hint(io::ErrorKind::NotFound).contains("hint: start it by `weftd"));
        assert!(hint(io::ErrorKind::ConnectionRefused).contains("hint: start it by `weftd"));
        assert!(hint(io::ErrorKind::PermissionDenied).contains("hint: run weft as root"));
        assert!(hint(io::ErrorKind::TimedOut).contains("hint: name its socket"));
    }
}
