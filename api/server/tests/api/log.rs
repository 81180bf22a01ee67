//! What is written to the log.

use std::{
    io,
    sync::{Arc, Mutex},
};

use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use crate::client::Client;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Lines {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// The only test that sets a subscriber, for the whole process: one of a thread misses events whose
/// place another thread came by first. So it looks at its own lines only.
#[tokio::test]
async fn changes_and_refused_changes_are_logged_on_a_line_each_and_reads_are_not() {
    let lines = Lines::default();
    let format = tracing_subscriber::fmt().with_ansi(false).without_time().with_target(false);
    tracing::subscriber::set_global_default(format.with_writer(lines.clone()).finish()).unwrap();
    let api = Client::new();
    api.put("/v1/ports/logged", json!({"device": "net_null0"})).await;
    api.get("/v1/ports/logged").await;
    api.post("/v1/explain", json!({"in_port": "logged", "packet": "00"})).await;
    api.put("/v1/ports/logged", json!({"a\nb": 1})).await;
    api.delete("/v1/ports/logged-not").await;
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let own = |line: &&str| line.contains("/logged") || line.contains("/explain");
    let own: Vec<&str> = text.lines().filter(own).collect();
    let expected = [
        r#" INFO changed method=PUT path="/v1/ports/logged" status=201 peer="unknown""#,
        concat!(
            r#" INFO refused method=PUT path="/v1/ports/logged" status=422 peer="unknown""#,
            r#" code="body-invalid" pointer="/a\nb" detail="the body has not the shape of this"#,
            r#" resource: unknown field `a\nb`, expected `device` or `mtu` at line 1 column 7""#,
        ),
        concat!(
            r#" INFO refused method=DELETE path="/v1/ports/logged-not" status=404 peer="unknown""#,
            r#" code="port-not-found" pointer="" detail="there is no port logged-not""#,
        ),
    ];
    assert_eq!(own, expected);
}
