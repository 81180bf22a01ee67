//! weftd as a child process.

mod client;
mod reading;
mod setup;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::error::Error;
pub(crate) use client::Client;
pub(crate) use reading::{Interval, Reading};
pub(crate) use setup::{Input, OUT, Setup, Stage, WORKER_CORE, spec};

/// How long it may take to be ready: a hundred thousand rules are a large file.
const START_WITHIN: Duration = Duration::from_secs(120);
/// How long it may take to stop.
const STOP_WITHIN: Duration = Duration::from_secs(10);
/// How often monitoring asks.
const MONITORED_EACH: Duration = Duration::from_secs(1);
/// How often it is looked at meanwhile.
const GLANCE: Duration = Duration::from_millis(20);
/// Lines of its log that are shown when it fails.
const LINES: usize = 15;

/// Where the daemon's program and what it needs lie.
#[derive(Debug, Clone)]
pub(crate) struct Programs {
    pub(crate) weftd: PathBuf,
    pub(crate) modules: PathBuf,
}

/// A running daemon, stopped when this is dropped.
#[derive(Debug)]
pub(crate) struct Weftd {
    process: Process,
    socket: PathBuf,
    client: Client,
}

/// The child, which is stopped when this is dropped.
#[derive(Debug)]
struct Process {
    child: Child,
    log: PathBuf,
}

impl Weftd {
    /// Starts it with files in `folder`, and waits until it is ready.
    pub(crate) fn start(programs: &Programs, folder: &Path, setup: &Setup) -> Result<Self, Error> {
        let (socket, log) = (folder.join("api.sock"), folder.join("weftd.log"));
        let config = folder.join("weft.toml");
        let modules = std::path::absolute(&programs.modules)
            .map_err(Error::file("find", &programs.modules))?;
        fs::write(&config, setup.to_toml(&socket, &modules))
            .map_err(Error::file("write", &config))?;
        let output = File::create(&log).map_err(Error::file("write", &log))?;
        let child = Command::new(&programs.weftd)
            .arg("--config")
            .arg(&config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(output)
            .spawn()
            .map_err(|source| Error::Run {
                path: programs.weftd.clone(),
                source,
                hint: "`make build` builds it",
            })?;
        let mut process = Process { child, log };
        let client = process.await_ready(&socket)?;
        Ok(Self { process, socket, client })
    }

    /// Another connection.
    pub(crate) fn connect(&self) -> Result<Client, Error> {
        Client::connect(&self.socket).map_err(Error::file("connect to", &self.socket))
    }

    /// What happens in so many seconds from now.
    pub(crate) fn watch(&mut self, duration: Duration) -> Result<Interval, Error> {
        let from = Reading::take(&mut self.client)?;
        sleep(duration);
        // The daemon ends connections on which nothing is asked for long.
        self.client = self.connect()?;
        Ok(Interval { from, to: Reading::take(&mut self.client)? })
    }

    /// Has it tell all that it counts, a few times, as monitoring does.
    pub(crate) fn monitor(&mut self) -> Result<(), Error> {
        for _ in 0..3 {
            self.client.get::<Value>("/v1/stats")?;
            sleep(MONITORED_EACH);
        }
        Ok(())
    }

    /// The memory that it has in use, in bytes, without hugepages.
    pub(crate) fn resident_bytes(&self) -> Result<u64, Error> {
        let path = PathBuf::from(format!("/proc/{}/status", self.process.child.id()));
        let text = fs::read_to_string(&path).map_err(Error::file("read", &path))?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        let ended = || self.process.failed("has ended while it was measured".to_owned());
        kilobytes.map(|kilobytes| kilobytes * 1024).ok_or_else(ended)
    }
}

impl Process {
    fn await_ready(&mut self, socket: &Path) -> Result<Client, Error> {
        let deadline = Instant::now() + START_WITHIN;
        loop {
            if let Ok(mut client) = Client::connect(socket)
                && client.get::<Value>("/readyz").is_ok()
            {
                return Ok(client);
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(self.failed(format!("ended at its start with {status}")));
            }
            if Instant::now() > deadline {
                let seconds = START_WITHIN.as_secs();
                return Err(self.failed(format!("was not ready in {seconds} s")));
            }
            sleep(GLANCE);
        }
    }

    fn failed(&self, how: String) -> Error {
        Error::Daemon { how, log: tail(&self.log) }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already, which the loop sees.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let deadline = Instant::now() + STOP_WITHIN;
        while Instant::now() < deadline {
            match self.child.try_wait() {
                Ok(None) => sleep(GLANCE),
                Ok(Some(_)) | Err(_) => return,
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}
