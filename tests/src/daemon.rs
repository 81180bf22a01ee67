//! weftd, as a process of its own.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Api, Output, Stats, artefact::binary, tool};

/// How long it may take to stop.
const STOP_WITHIN: Duration = Duration::from_secs(5);

/// A running weftd, stopped when this is dropped.
///
/// It polls a core without pause, so there is one at a time on the machine, whatever runs the tests.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
    api: Api,
    folder: PathBuf,
    expected: Vec<&'static str>,
    _machine: Machine,
    _owned: Option<TempDir>,
}

impl Daemon {
    /// Starts it in a folder of its own and waits until it is ready.
    ///
    /// # Panics
    ///
    /// Panics if it does not become ready.
    #[track_caller]
    #[must_use]
    pub fn start(config: &Value) -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let mut daemon = Self::start_in(folder.path(), config);
        daemon._owned = Some(folder);
        daemon
    }

    /// Starts it with a working directory that outlives it, and waits until it is ready.
    ///
    /// # Panics
    ///
    /// Panics if it does not become ready.
    #[track_caller]
    #[must_use]
    pub fn start_in(folder: &Path, config: &Value) -> Self {
        let machine = Machine::acquire();
        write_config(folder, config);
        let log = File::create(folder.join("weftd.log")).expect("the folder is writable");
        let child = Command::new(binary("weftd"))
            .args(["--config", "weft.toml"])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a file has a second handle"))
            .stderr(log)
            .spawn()
            .expect("weftd can be started");
        let mut daemon = Self {
            child,
            api: Api::new(folder.join("api.sock")),
            folder: folder.to_owned(),
            expected: Vec::new(),
            _machine: machine,
            _owned: None,
        };
        daemon.await_ready();
        daemon
    }

    /// Runs it with a configuration, and more arguments, until it ends by itself.
    #[track_caller]
    #[must_use]
    pub fn run_to_end(folder: &Path, config: &Value, arguments: &[&str]) -> Output {
        write_config(folder, config);
        Self::run_file(&folder.join("weft.toml"), arguments)
    }

    /// Runs it with a configuration file, from the file's folder, until it ends by itself.
    #[track_caller]
    #[must_use]
    pub fn run_file(file: &Path, arguments: &[&str]) -> Output {
        let _machine = Machine::acquire();
        let folder = file.parent().and_then(Path::to_str).expect("the path is UTF-8");
        let name = file.file_name().and_then(|name| name.to_str()).expect("the name is UTF-8");
        let program = binary("weftd");
        let script = r#"cd "$0" && exec timeout 60 "$@""#;
        let command = ["sh", "-c", script, folder, &program, "--config", name];
        tool::try_run(&[&command[..], arguments].concat())
    }

    /// Its API.
    #[must_use]
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// Runs `weft` against it.
    #[must_use]
    pub fn weft(&self, arguments: &[&str]) -> Output {
        let server = format!("unix:{}", self.api.socket().display());
        tool::try_run(&[&[binary("weft").as_str(), "--server", &server][..], arguments].concat())
    }

    /// Its working directory.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What it has logged so far.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.join("weftd.log")).expect("weftd's log is there")
    }

    /// Expects a warning or an error that says this; all others fail the test.
    pub fn expect_in_log(&mut self, text: &'static str) {
        self.expected.push(text);
    }

    /// Waits until every packet that came in by `port` has met its fate, and there are `packets`.
    ///
    /// # Panics
    ///
    /// Panics if that takes too long.
    #[track_caller]
    pub fn await_packets(&self, port: &str, packets: usize) -> Stats {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let stats = self.api.stats();
            let counters = stats.port(port);
            if counters.rx_packets >= packets as u64 && counters.in_flight_packets == 0 {
                assert_eq!(counters.rx_packets, packets as u64, "{counters:#?}");
                return stats;
            }
            assert!(Instant::now() < deadline, "{packets} packets never came: {counters:#?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Stops it and returns its last counters, which are conserved; nothing is wrong in its log.
    ///
    /// # Panics
    ///
    /// Panics if a packet is missing, the log has a warning that no one expected or lacks one that
    /// was, or it does not stop by itself in time.
    #[track_caller]
    pub fn finish(self) -> Stats {
        let stats = self.finish_with_deleted_ports();
        stats.assert_sent();
        stats
    }

    /// Stops it as [`finish`](Self::finish) does, when ports were deleted with what they counted.
    ///
    /// # Panics
    ///
    /// Panics as that does.
    #[track_caller]
    pub fn finish_with_deleted_ports(mut self) -> Stats {
        let stats = self.api.stats();
        stats.assert_conserved();
        self.signal(Signal::TERM);
        let code = self.wait(STOP_WITHIN);
        assert_eq!(code, Some(0), "weftd's exit code after SIGTERM, within {STOP_WITHIN:?}");
        let log = self.log();
        for expected in &self.expected {
            assert!(log.contains(expected), "weftd's log does not say {expected:?}");
        }
        for line in log.lines().filter(|line| is_complaint(line)) {
            let known = self.expected.iter().any(|expected| line.contains(expected));
            assert!(known, "weftd complains: {line}");
        }
        stats
    }

    /// Its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    #[track_caller]
    fn await_ready(&mut self) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !self.api.is_ready() {
            let ended = self.child.try_wait().expect("a child can be waited for");
            assert!(ended.is_none(), "weftd ended at start: {ended:?}");
            assert!(Instant::now() < deadline, "weftd is not ready after 30 seconds");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn signal(&self, signal: Signal) {
        // It may have ended already, which `wait` tells.
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }

    fn wait(&mut self, limit: Duration) -> Option<i32> {
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.signal(Signal::TERM);
        if self.wait(STOP_WITHIN).is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        if std::thread::panicking() {
            eprintln!("weftd's log:\n{}", self.log());
        }
    }
}

fn is_complaint(line: &str) -> bool {
    line.split_whitespace().take(3).any(|word| word == "WARN" || word == "ERROR")
}

/// Writes `weft.toml`: the configuration, with what all tests have in common.
fn write_config(folder: &Path, config: &Value) {
    let mut whole = json!({
        "api": {"socket": folder.join("api.sock")},
        "memory": {"hugepages": "off", "size_mb": 256},
    });
    overlay(&mut whole, config);
    let text = toml::to_string(&whole).expect("a configuration has no nulls");
    fs::write(folder.join("weft.toml"), text).expect("the folder is writable");
}

/// Lays one configuration over another: objects are joined, all else is replaced.
pub fn overlay(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                overlay(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over.clone(),
    }
}

/// The right to run a daemon on this machine.
#[derive(Debug)]
struct Machine {
    _lock: File,
}

impl Machine {
    fn acquire() -> Self {
        let path = std::env::temp_dir().join("weft-tests.lock");
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        let lock = file.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        lock.lock().expect("a file can be locked");
        Self { _lock: lock }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_configuration_lies_over_another() {
        let mut base = json!({"ports": {"a": {"mtu": 1500}}, "list": [1, 2]});
        overlay(&mut base, &json!({"ports": {"a": {"mtu": 9000}, "b": {}}, "list": [3]}));
        assert_eq!(base, json!({"ports": {"a": {"mtu": 9000}, "b": {}}, "list": [3]}));
    }

    #[test]
    fn warnings_and_errors_are_complaints() {
        assert!(is_complaint("2026-11-30T10:00:00.000000Z  WARN weftd: no such thing"));
        assert!(is_complaint("2026-11-30T10:00:00.000000Z ERROR weftd: stop"));
        assert!(!is_complaint("2026-11-30T10:00:00.000000Z  INFO weftd: 0 ERROR lines"));
    }
}
