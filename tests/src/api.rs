//! The management API, asked by curl: a client that is not part of the project.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Stats, tool};

/// The API behind a Unix socket.
#[derive(Debug, Clone)]
pub struct Api {
    socket: PathBuf,
}

/// What the API answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The content type; empty if there is no content.
    pub content_type: String,
    /// The body; null if it is not JSON.
    pub body: Value,
}

impl Api {
    /// The API that listens on `socket`.
    #[must_use]
    pub fn new(socket: impl AsRef<Path>) -> Self {
        Self { socket: socket.as_ref().to_owned() }
    }

    /// Where it listens.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Asks for a resource.
    #[track_caller]
    #[must_use]
    pub fn get(&self, path: &str) -> Answer {
        self.send(&["--request", "GET"], path, b"")
    }

    /// Puts a specification.
    #[track_caller]
    pub fn put(&self, path: &str, spec: &Value) -> Answer {
        self.send(&with_body("PUT", "application/json"), path, spec.to_string().as_bytes())
    }

    /// Posts a request that is not about one resource.
    #[track_caller]
    pub fn post(&self, path: &str, request: &Value) -> Answer {
        self.send(&with_body("POST", "application/json"), path, request.to_string().as_bytes())
    }

    /// Puts a module under a name, or posts it to be named by its manifest.
    #[track_caller]
    pub fn upload(&self, method: &str, path: &str, wasm: &[u8]) -> Answer {
        self.send(&with_body(method, "application/wasm"), path, wasm)
    }

    /// Deletes a resource.
    #[track_caller]
    pub fn delete(&self, path: &str) -> Answer {
        self.send(&["--request", "DELETE"], path, b"")
    }

    /// All counters, taken at one moment.
    ///
    /// # Panics
    ///
    /// Panics if the answer is not what the API promises.
    #[track_caller]
    #[must_use]
    pub fn stats(&self) -> Stats {
        let answer = self.get("/v1/stats").expect(200);
        Stats::deserialize(&answer)
    }

    /// Whether it answers at all, and is ready.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        let socket = self.socket.to_string_lossy();
        let answer =
            tool::try_run(&["curl", "-sf", "--unix-socket", &socket, "http://weft/readyz"]);
        answer.code == 0
    }

    #[track_caller]
    fn send(&self, options: &[impl AsRef<str>], path: &str, body: &[u8]) -> Answer {
        let socket = self.socket.to_str().expect("the path is UTF-8");
        let url = format!("http://weft{path}");
        let mut command = vec!["curl", "--silent", "--show-error", "--max-time", "30"];
        command.extend(["--write-out", "\n%{http_code} %{content_type}", "--unix-socket", socket]);
        command.extend(options.iter().map(AsRef::as_ref));
        command.push(&url);
        let text = tool::run_with_input(&command, body);
        let (body, outcome) = text.rsplit_once('\n').expect("curl writes the status last");
        let (status, content_type) = outcome.split_once(' ').expect("curl writes two words");
        Answer {
            status: status.parse().expect("a status is a number"),
            content_type: content_type.to_owned(),
            body: serde_json::from_str(body).unwrap_or_default(),
        }
    }
}

fn with_body(method: &str, content_type: &str) -> [String; 6] {
    let header = format!("content-type: {content_type}");
    ["--request", method, "--header", &header, "--data-binary", "@-"].map(str::to_owned)
}

impl Answer {
    /// The body of an answer that has this status.
    ///
    /// # Panics
    ///
    /// Panics if it has another.
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        self.body
    }

    /// The status, code and text of a problem, with its hint.
    ///
    /// # Panics
    ///
    /// Panics if this is no problem document, or its own status is another.
    #[track_caller]
    #[must_use]
    pub fn problem(&self) -> (u16, &str, String) {
        assert_eq!(self.content_type, "application/problem+json", "{self:?}");
        assert_eq!(self.body["status"], self.status, "{self:?}");
        let text = |key: &str| self.body[key].as_str().unwrap_or_default();
        for key in ["type", "title", "detail", "code"] {
            assert_ne!(text(key), "", "{key} of {self:?}");
        }
        (self.status, text("code"), format!("{} {}", text("detail"), text("hint")))
    }
}
