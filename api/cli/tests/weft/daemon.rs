//! A daemon that answers from a list, and the program under test.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpListener,
    os::unix::net::UnixListener,
    process::{Command, Output, Stdio},
    sync::mpsc::{self, Receiver, Sender},
    thread,
};

use serde_json::Value;
use tempfile::TempDir;

/// What the program asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The method and the target, such as `GET /v1/ports`.
    pub(crate) line: String,
    /// The `Content-Type`; empty if there is none.
    pub(crate) kind: String,
    /// The body.
    pub(crate) body: String,
}

impl Asked {
    /// A request without a body.
    pub(crate) fn plain(line: &str) -> Self {
        Self { line: line.into(), kind: String::new(), body: String::new() }
    }

    /// A request with a resource in its body, written in this order.
    pub(crate) fn json(line: &str, body: &str) -> Self {
        Self { line: line.into(), kind: "application/json".into(), body: body.into() }
    }
}

/// What the program did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Its exit code.
    pub(crate) code: i32,
    /// What it wrote to standard output.
    pub(crate) stdout: String,
    /// What it wrote to standard error.
    pub(crate) stderr: String,
}

impl Outcome {
    /// It succeeded, and wrote this.
    pub(crate) fn success(stdout: &str) -> Self {
        Self { code: 0, stdout: stdout.into(), stderr: String::new() }
    }

    /// It failed, and wrote this.
    pub(crate) fn failure(code: i32, stderr: &str) -> Self {
        Self { code, stdout: String::new(), stderr: stderr.into() }
    }
}

/// A daemon that gives each of some answers once, in their order, and then is gone.
pub(crate) struct Daemon {
    /// The value of `--server`.
    pub(crate) server: String,
    asked: Receiver<Asked>,
    _folder: Option<TempDir>,
}

impl Daemon {
    /// A daemon on a Unix socket.
    pub(crate) fn answering<const N: usize>(answers: [(u16, String); N]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("api.sock");
        let listener = UnixListener::bind(&path).unwrap();
        let (tell, asked) = mpsc::channel();
        thread::spawn(move || serve(|| Ok(listener.accept()?.0), answers, tell));
        Self { server: format!("unix:{}", path.display()), asked, _folder: Some(folder) }
    }

    /// A daemon on loopback.
    pub(crate) fn on_loopback<const N: usize>(answers: [(u16, String); N]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = format!("http://{}", listener.local_addr().unwrap());
        let (tell, asked) = mpsc::channel();
        thread::spawn(move || serve(|| Ok(listener.accept()?.0), answers, tell));
        Self { server, asked, _folder: None }
    }

    /// Runs the program: what it did, and what it asked.
    pub(crate) fn weft(self, arguments: &[&str]) -> (Outcome, Vec<Asked>) {
        let outcome = weft(&self.server, arguments);
        // Each request is told before it is answered, so all are here once the program has ended.
        (outcome, self.asked.try_iter().collect())
    }
}

/// An answer with a resource.
pub(crate) fn ok(body: &Value) -> (u16, String) {
    (200, body.to_string())
}

/// A refusal.
pub(crate) fn problem(status: u16, code: &str, detail: &str) -> (u16, String) {
    let problem = serde_json::json!({
        "type": format!("urn:weft:problem:{code}"), "title": "T", "status": status,
        "detail": detail, "code": code,
    });
    (status, problem.to_string())
}

/// Runs the program against the daemon at `server`.
pub(crate) fn weft(server: &str, arguments: &[&str]) -> Outcome {
    outcome(command(server, arguments).output().unwrap())
}

/// The program, as it is to be run.
pub(crate) fn command(server: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(arguments).env_clear().env("WEFT_SERVER", server).stdin(Stdio::null());
    command
}

/// What a run of the program was.
pub(crate) fn outcome(output: Output) -> Outcome {
    Outcome {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn serve<S: Read + Write, const N: usize>(
    accept: impl Fn() -> io::Result<S>,
    answers: [(u16, String); N],
    tell: Sender<Asked>,
) {
    for (status, body) in answers {
        let mut stream = accept().unwrap();
        let asked = read(&mut stream);
        // A test that needs no requests has dropped the other end.
        let _untold = tell.send(asked);
        let head = format!("HTTP/1.1 {status} Any\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all((head + &body).as_bytes()).unwrap();
    }
}

/// Reads one request.
fn read(stream: impl Read) -> Asked {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let mut asked = Asked::plain(line.trim_end().trim_end_matches(" HTTP/1.1"));
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap(),
            "content-type" => asked.kind = value.into(),
            _ => (),
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    asked.body = String::from_utf8_lossy(&body).into_owned();
    asked
}
