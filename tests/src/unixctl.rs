//! Open vSwitch's control socket: JSON-RPC, of which `ovs-appctl` takes a process for each call.

use std::{io::Write, os::unix::net::UnixStream, path::Path, time::Duration};

use serde::Deserialize;
use serde_json::{Deserializer, Value, json};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Deserialize)]
struct Answer {
    result: Value,
    error: Value,
}

/// Calls a command of the process that listens on `socket`, and returns what it prints.
///
/// # Panics
///
/// Panics if it cannot be reached, refuses or takes too long.
#[track_caller]
pub(crate) fn call(socket: &Path, command: &str, parameters: &[&str]) -> String {
    let mut stream =
        UnixStream::connect(socket).unwrap_or_else(|error| panic!("{}: {error}", socket.display()));
    stream.set_read_timeout(Some(PATIENCE)).expect("the limit is not zero");
    let request = json!({"id": 0, "method": command, "params": parameters});
    stream.write_all(request.to_string().as_bytes()).expect("Open vSwitch reads its socket");
    let mut answers = Deserializer::from_reader(&stream).into_iter::<Answer>();
    let answer = answers.next().expect("Open vSwitch answers before it hangs up");
    let answer = answer.unwrap_or_else(|error| panic!("{command}: {error}"));
    assert_eq!(answer.error, Value::Null, "{command} is refused");
    answer.result.as_str().unwrap_or_default().to_owned()
}
