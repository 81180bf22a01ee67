//! Numbered datagrams from one namespace to another while a test does something.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{Link, artefact, steady::Report, tool::Background};

const PORT: u16 = 9000;
/// A song shorter than this says little.
const SHORTEST: Duration = Duration::from_millis(500);

/// Datagrams under way, by the program `steady`.
#[derive(Debug)]
pub struct Song {
    sender: Background,
    receiver: Background,
    start: Instant,
}

impl Song {
    /// Starts to send `rate` datagrams a second, once a ping has shown that the way is open.
    #[track_caller]
    #[must_use]
    pub fn start(from: &Link, to: &Link, rate: u32) -> Self {
        let steady = artefact::binary("steady");
        from.run(&["ping", "-q", "-c", "1", "-W", "5", &to.ipv4]);
        let (port, rate) = (PORT.to_string(), rate.to_string());
        let receiver = to.start_reporting(&[&steady, "receive", "--port", &port, "--idle", "30"]);
        to.await_listening(PORT);
        let target = format!("{}:{PORT}", to.ipv4);
        let sender = from.start_reporting(&[&steady, "send", "--to", &target, "--rate", &rate]);
        Self { sender, receiver, start: Instant::now() }
    }

    /// Stops sending and says what became of the datagrams.
    ///
    /// # Panics
    ///
    /// Panics if the receiver never heard that it was the end.
    #[track_caller]
    #[must_use]
    pub fn stop(self) -> Report {
        std::thread::sleep(SHORTEST.saturating_sub(self.start.elapsed()));
        let sent: Value = serde_json::from_str(&self.sender.finish()).expect("steady says JSON");
        let text = self.receiver.finish();
        let report: Report = serde_json::from_str(&text).expect("steady says JSON");
        assert_eq!(report.sent, sent["sent"].as_u64(), "the receiver heard the end");
        report
    }

    /// Goes on for a time, and then ends as [`end_flawless`](Self::end_flawless) does.
    ///
    /// # Panics
    ///
    /// Panics as that does.
    #[track_caller]
    pub fn end_after(self, time: Duration) -> Report {
        std::thread::sleep(time);
        self.end_flawless()
    }

    /// Stops sending, when nothing may have been lost, duplicated or reordered.
    ///
    /// # Panics
    ///
    /// Panics if anything was, or too little was sent for that to mean anything.
    #[track_caller]
    pub fn end_flawless(self) -> Report {
        let report = self.stop();
        assert!(report.is_flawless(), "not flawless: {report:?}");
        assert!(report.received >= 100, "hardly anything was sent: {report:?}");
        report
    }
}
