//! Other programs, run with failures that say what was run and what it answered.

use std::{
    io::Write,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// What a program answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Its exit code; -1 if a signal ended it.
    pub code: i32,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

/// Runs a program to its end and returns its standard output.
///
/// # Panics
///
/// Panics if it cannot be started or fails, with all that it said.
#[track_caller]
pub fn run(command: &[&str]) -> String {
    run_with_input(command, b"")
}

/// Runs a program as [`run`] does, and gives it `input` to read.
///
/// # Panics
///
/// Panics as [`run`] does.
#[track_caller]
pub fn run_with_input(command: &[&str], input: &[u8]) -> String {
    let output = output_of(command, input);
    assert_eq!(
        output.code,
        0,
        "`{}` failed: {}{}",
        command.join(" "),
        output.stdout,
        output.stderr
    );
    output.stdout
}

/// Runs a program to its end, whatever that is.
///
/// # Panics
///
/// Panics if it cannot be started.
#[track_caller]
pub fn try_run(command: &[&str]) -> Output {
    output_of(command, b"")
}

#[track_caller]
fn output_of(command: &[&str], input: &[u8]) -> Output {
    let mut child = spawn(
        Command::new(command[0])
            .args(&command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped()),
    );
    // A program that does not read all of its input says why by its exit code.
    let _ = child.stdin.take().expect("it is piped").write_all(input);
    let output = child.wait_with_output().expect("a child can be waited for");
    Output {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[track_caller]
fn spawn(command: &mut Command) -> Child {
    let program = command.get_program().to_string_lossy().into_owned();
    command.spawn().unwrap_or_else(|error| {
        panic!("`{program}` cannot be started ({error}): `make setup` installs what tests need")
    })
}

/// A program that runs beside the test, and is killed when this is dropped.
#[derive(Debug)]
pub struct Background {
    child: Child,
    command: String,
}

impl Background {
    /// Starts a program whose output nobody reads.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be started.
    #[track_caller]
    #[must_use]
    pub fn start(command: &[&str]) -> Self {
        Self::spawn(command, Stdio::null())
    }

    /// Starts a program whose standard output [`finish`](Self::finish) returns.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be started.
    #[track_caller]
    #[must_use]
    pub fn start_reporting(command: &[&str]) -> Self {
        Self::spawn(command, Stdio::piped())
    }

    #[track_caller]
    fn spawn(command: &[&str], stdout: Stdio) -> Self {
        let child = spawn(
            Command::new(command[0])
                .args(&command[1..])
                .stdin(Stdio::piped())
                .stdout(stdout)
                .stderr(Stdio::inherit()),
        );
        Self { child, command: command.join(" ") }
    }

    /// Closes its standard input, waits for its end and returns its standard output.
    ///
    /// # Panics
    ///
    /// Panics if it fails.
    #[track_caller]
    #[must_use]
    pub fn finish(mut self) -> String {
        let mut text = String::new();
        drop(self.child.stdin.take());
        if let Some(mut stdout) = self.child.stdout.take() {
            std::io::Read::read_to_string(&mut stdout, &mut text).expect("the output is UTF-8");
        }
        let status = self.child.wait().expect("a child can be waited for");
        assert!(status.success(), "`{}` failed: {status}: {text}", self.command);
        text
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // It has ended already, or it is to.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks `ready` until it holds or ten seconds are over.
///
/// # Panics
///
/// Panics with `what` if it never holds.
#[track_caller]
pub fn wait_until(what: &str, mut ready: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !ready() {
        assert!(Instant::now() < deadline, "waited ten seconds for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_answers_with_its_code_and_both_streams() {
        let output = try_run(&["sh", "-c", "echo out; echo err >&2; exit 3"]);
        assert_eq!(output, Output { code: 3, stdout: "out\n".into(), stderr: "err\n".into() });
    }

    #[test]
    fn a_program_reads_its_input() {
        assert_eq!(run_with_input(&["cat"], b"abc"), "abc");
    }

    #[test]
    #[should_panic(expected = "`make setup` installs what tests need")]
    fn a_missing_program_is_named_with_what_mends_it() {
        run(&["no-such-program"]);
    }

    #[test]
    fn a_background_program_ends_when_its_input_does() {
        assert_eq!(Background::start_reporting(&["cat"]).finish(), "");
    }
}
