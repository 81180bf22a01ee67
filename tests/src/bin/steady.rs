//! Sends numbered datagrams at a steady rate, or receives them and says what became of them.

use std::{
    io::{self, Read, Write},
    net::SocketAddr,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use clap::Parser;
use serde_json::json;
use weft_tests::steady;

/// Sends numbered UDP datagrams at a steady rate, or receives them; answers in JSON.
#[derive(Debug, Parser)]
enum Arguments {
    /// Send, for some seconds or until the standard input ends.
    Send {
        /// Where to, such as 10.0.0.2:9000.
        #[arg(long)]
        to: SocketAddr,
        /// Datagrams a second.
        #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..))]
        rate: u32,
        /// For how long; without it, until the standard input ends.
        #[arg(long)]
        seconds: Option<f64>,
    },
    /// Receive, until the sender's last word.
    Receive {
        /// The port to receive on.
        #[arg(long)]
        port: u16,
        /// Give up after so many seconds of silence.
        #[arg(long, default_value_t = 10.0)]
        idle: f64,
    },
}

fn main() -> io::Result<()> {
    let answer = match Arguments::parse() {
        Arguments::Send { to, rate, seconds: Some(seconds) } => {
            let end = Instant::now() + Duration::from_secs_f64(seconds);
            json!({"sent": steady::send(to, rate, || Instant::now() >= end)?})
        }
        Arguments::Send { to, rate, seconds: None } => {
            json!({"sent": steady::send(to, rate, input_ended())?})
        }
        Arguments::Receive { port, idle } => {
            serde_json::to_value(steady::receive(port, Duration::from_secs_f64(idle))?)?
        }
    };
    writeln!(io::stdout(), "{answer}")
}

/// Says whether the standard input has ended, and never waits for it.
fn input_ended() -> impl FnMut() -> bool {
    static ENDED: AtomicBool = AtomicBool::new(false);
    thread::spawn(|| {
        // An input that cannot be read has ended too.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        ENDED.store(true, Ordering::Relaxed);
    });
    || ENDED.load(Ordering::Relaxed)
}
