//! Rules that come and go over the API while traffic flows.

use std::{
    net::Ipv4Addr,
    sync::atomic::{AtomicBool, Ordering},
    thread::sleep,
    time::{Duration, Instant},
};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde_json::{Value, json};

use crate::{
    error::Error,
    weftd::{Client, Stage, WORKER_CORE, spec},
    workload::{Header, Prefix, Rule},
};

/// The highest, so that what changes decides on packets.
const PRIORITY: u16 = u16::MAX;
/// How often changes are sent, all that have become due together.
const PERIOD: Duration = Duration::from_millis(10);
/// How many rules there are before they are deleted in turn, and the most changes of one request: no
/// batch changes a rule twice.
const RULES: u32 = 1_000;

/// Changes that are made in turn: each rule is put, and deleted again by its next change.
#[derive(Debug)]
pub(super) struct Churn<'a> {
    headers: &'a [Header],
    in_port: &'static str,
    per_second: u32,
    done: u64,
}

impl<'a> Churn<'a> {
    /// So many changes a second, of rules about the sources of these flows.
    pub(super) fn new(headers: &'a [Header], in_port: &'static str, per_second: u32) -> Self {
        Self { headers, in_port, per_second, done: 0 }
    }

    /// Makes changes until it is told to stop, and returns how many a second there were.
    pub(super) fn run(mut self, client: &mut Client, stop: &AtomicBool) -> Result<f64, Error> {
        leave_the_workers_core();
        let start = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            let due = (start.elapsed().as_secs_f64() * f64::from(self.per_second)).round();
            let behind = (due - self.done as f64).max(0.0);
            match self.operations(behind) {
                operations if operations.is_empty() => sleep(PERIOD),
                operations => client.post("/v1/rules:batch", &json!({"operations": operations}))?,
            }
        }
        Ok(self.done as f64 / start.elapsed().as_secs_f64())
    }

    /// The next changes.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a small positive number is cut to a whole one"
    )]
    fn operations(&mut self, behind: f64) -> Vec<Value> {
        let count = (behind as usize).min(RULES as usize);
        (0..count).map(|_| self.next()).collect()
    }

    fn next(&mut self) -> Value {
        let (turn, place) = (self.done / u64::from(RULES), self.done % u64::from(RULES));
        self.done += 1;
        let name = format!("churn-{place}");
        if turn % 2 == 1 {
            return json!({"delete": {"table": 0, "name": name}});
        }
        let place = u32::try_from(place).expect("it is less than the number of rules");
        let rule =
            Rule { priority: PRIORITY, source: Prefix::of(self.source(place), 32), ..Rule::ANY };
        let spec = spec(&rule, self.in_port, Stage::None);
        json!({"put": {"table": 0, "name": name, "spec": spec}})
    }

    /// The source of a flow, or an address of nobody when all flows have one.
    fn source(&self, place: u32) -> Ipv4Addr {
        let nobody = || Ipv4Addr::from_bits(0xc0a8_0000 + place);
        self.headers.get(place as usize).map_or_else(nobody, |header| header.source)
    }
}

/// Keeps this thread from taking time of the worker. Where there is no other core, it stays.
fn leave_the_workers_core() {
    if let Ok(mut cores) = sched_getaffinity(None) {
        cores.unset(WORKER_CORE);
        if cores != CpuSet::new() {
            // Refused, it measures what it does there, too.
            let _ = sched_setaffinity(None, &cores);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Flows, RuleSet, Workload};

    #[test]
    fn rules_are_put_and_then_deleted_in_turn() {
        let headers = Workload::new(RuleSet::One, 1, Flows::Replayed(1), 0).headers;
        let mut churn = Churn::new(&headers, "in", 100);
        let put = |name: &str, source: &str| {
            let matched = json!({"in_port": "in", "ip_src": source});
            let actions = json!([{"output": "out"}]);
            let spec = json!({"priority": 65535, "match": matched, "actions": actions});
            json!({"put": {"table": 0, "name": name, "spec": spec}})
        };
        let puts = [put("churn-0", "10.0.0.1/32"), put("churn-1", "192.168.0.1/32")];
        assert_eq!(churn.operations(2.9), puts);
        assert_eq!(churn.operations(0.9), [] as [Value; 0]);
        assert_eq!(churn.operations(1e9).len(), 1_000, "as many as there are rules");
        let delete = |name: &str| json!({"delete": {"table": 0, "name": name}});
        assert_eq!(churn.operations(1.0), [delete("churn-2")]);
        churn.operations(997.0);
        assert_eq!(churn.operations(1.0), [put("churn-0", "10.0.0.1/32")]);
    }
}
