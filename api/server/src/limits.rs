use std::time::Duration;

/// What a request may cost. The default is what a daemon should use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The bytes of a JSON body.
    pub json_bytes: usize,
    /// The bytes of a module.
    pub module_bytes: usize,
    /// The bytes of a batch of rules.
    pub batch_bytes: usize,
    /// How many modules are received and compiled at once. Others wait.
    pub uploads: usize,
    /// How many batches of rules are received and made at once. Others wait.
    pub batches: usize,
    /// How long a JSON body may take to arrive.
    pub json_time: Duration,
    /// How long a module may take to arrive, waiting for others included.
    pub module_time: Duration,
    /// How long a batch may take to arrive, waiting for others included.
    pub batch_time: Duration,
    /// How long the daemon may take for an answer.
    pub answer_time: Duration,
    /// How long it may take to compile and keep a module.
    pub compile_time: Duration,
    /// How long it may take to read, check and make a batch of rules.
    pub batch_answer_time: Duration,
    /// How long the head of a request may take, from the opening of the connection or the end of
    /// the request before.
    pub head_time: Duration,
    /// The bytes of a request's head. Not below 8 KiB.
    pub head_bytes: usize,
    /// The headers of a request.
    pub headers: usize,
    /// The connections of a listener. Others wait until one is closed.
    pub connections: usize,
    /// How long a connection may be open; what it is at by then is finished.
    pub connection_time: Duration,
    /// How long requests in progress may take to finish when the server stops.
    pub drain_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            json_bytes: 1 << 20,
            module_bytes: 16 << 20,
            batch_bytes: 64 << 20,
            uploads: 8,
            batches: 2,
            json_time: Duration::from_secs(10),
            module_time: Duration::from_secs(20),
            batch_time: Duration::from_secs(20),
            answer_time: Duration::from_secs(20),
            compile_time: Duration::from_secs(40),
            batch_answer_time: Duration::from_secs(40),
            head_time: Duration::from_secs(5),
            head_bytes: 16 << 10,
            headers: 64,
            connections: 256,
            connection_time: Duration::from_secs(300),
            drain_time: Duration::from_secs(5),
        }
    }
}

impl Limits {
    /// The longest that a request can take, with its head read.
    pub(crate) fn request_time(&self) -> Duration {
        (self.module_time + self.compile_time).max(self.batch_time + self.batch_answer_time)
    }
}
