use std::{io, path::PathBuf, process::ExitStatus};

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A file or a folder cannot be used.
    #[error("cannot {what} {}: {source}", path.display())]
    File {
        /// What was to be done with it.
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// A program does not start.
    #[error("cannot run {}: {source}; {hint}", path.display())]
    Run {
        path: PathBuf,
        source: io::Error,
        /// How it comes to be there.
        hint: &'static str,
    },
    /// The kernel gives no hugepages to this user.
    #[error(
        "cannot reserve hugepages: {source}; run this as root, or measure without them by --no-huge"
    )]
    NotRoot { source: io::Error },
    /// The kernel has not enough memory in one piece.
    #[error(
        "only {reserved} of {wanted} hugepages of 2 MB could be reserved; free memory, measure fewer \
         flows, or measure without hugepages by --no-huge"
    )]
    Hugepages { wanted: u64, reserved: u64 },
    /// The daemon ended or was not ready in time.
    #[error("weftd {how}; the end of its log:\n{log}")]
    Daemon { how: String, log: String },
    /// The API could not be asked, or refused.
    #[error("{request} of weftd's API failed: {why}")]
    Api { request: String, why: String },
    /// A peer's script failed.
    #[error("{} ended with {status}; what it said:\n{said}", script.display())]
    Peer { script: PathBuf, status: ExitStatus, said: String },
    /// The results cannot be shown.
    #[error("cannot print: {0}")]
    Print(#[from] io::Error),
}

impl Error {
    /// For `map_err` on what is done with a file.
    pub(crate) fn file(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }
}
