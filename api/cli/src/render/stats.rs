use std::cmp::Reverse;

use api_model::{Name, PortCounters, RuleStats, StageStatus, Stats};

use super::{
    sections,
    table::{Table, Value},
    workers,
};

/// How many rules are shown: there may be a hundred thousand.
const RULES: usize = 20;

/// All counters, but for rules that are far from the busiest.
pub(crate) fn stats(stats: &Stats) -> String {
    sections([
        format!("revision {}", stats.revision),
        devices(&stats.ports),
        fates(&stats.ports),
        verdicts(&stats.stages),
        own_counters(&stats.stages),
        rules(&stats.rules),
        if stats.workers.is_empty() { String::new() } else { workers(&stats.workers) },
    ])
}

/// What came and went by each port, and what its device lost.
pub(super) fn devices<'a>(ports: impl IntoIterator<Item = (&'a Name, &'a PortCounters)>) -> String {
    let headings = [
        "PORT",
        "RX PACKETS",
        "RX BYTES",
        "TX PACKETS",
        "TX BYTES",
        "RX MISSED",
        "RX ERRORS",
        "RX NOMBUF",
        "TX ERRORS",
    ];
    unless_empty(headings, ports, |(name, counters)| {
        [
            name.into(),
            counters.rx_packets.into(),
            counters.rx_bytes.into(),
            counters.tx_packets.into(),
            counters.tx_bytes.into(),
            counters.device.rx_missed.into(),
            counters.device.rx_errors.into(),
            counters.device.rx_nombuf.into(),
            counters.device.tx_errors.into(),
        ]
    })
}

/// What became of the packets that came in by each port, and why some were dropped.
pub(super) fn fates<'a>(ports: impl IntoIterator<Item = (&'a Name, &'a PortCounters)>) -> String {
    let fate = |(name, counters): (&Name, &PortCounters)| {
        let drops = Table::untitled().rows(&counters.drops, |(reason, packets)| {
            [format!("  {reason}").into(), (*packets).into()]
        });
        format!("{name}: {}\n{}", conservation(counters), drops.render()).trim_end().to_owned()
    };
    ports.into_iter().map(fate).collect::<Vec<_>>().join("\n")
}

/// The equation that holds for each port, or that it does not.
fn conservation(counters: &PortCounters) -> String {
    let PortCounters {
        rx_packets: received,
        copied_packets: copied,
        forwarded_packets: forwarded,
        dropped_packets: dropped,
        in_flight_packets: in_flight,
        ..
    } = counters;
    let sum = |counts: &[u64]| counts.iter().map(|count| u128::from(*count)).sum::<u128>();
    let holds = sum(&[*received, *copied]) == sum(&[*forwarded, *dropped, *in_flight]);
    let sign = if holds { "=" } else { "!=" };
    format!(
        "{received} received + {copied} copied {sign} {forwarded} forwarded + {dropped} dropped + \
         {in_flight} in flight"
    )
}

/// What each stage said of its packets, and how it failed.
pub(super) fn verdicts<'a>(
    stages: impl IntoIterator<Item = (&'a Name, &'a StageStatus)>,
) -> String {
    let headings = [
        "STAGE",
        "GENERATION",
        "PACKETS",
        "BATCHES",
        "NEXT",
        "DROP",
        "OUTPUT",
        "GOTO",
        "TRAPS",
        "DEADLINES",
        "BAD VERDICTS",
        "UNAVAILABLE",
    ];
    unless_empty(headings, stages, |(name, status)| {
        [
            name.into(),
            status.generation.into(),
            status.packets.into(),
            status.batches.into(),
            status.verdicts.next.into(),
            status.verdicts.drop.into(),
            status.verdicts.output.into(),
            status.verdicts.goto.into(),
            status.faults.trap.into(),
            status.faults.deadline.into(),
            status.faults.bad_verdict.into(),
            status.unavailable_packets.into(),
        ]
    })
}

/// What the modules count by themselves.
pub(super) fn own_counters<'a>(
    stages: impl IntoIterator<Item = (&'a Name, &'a StageStatus)>,
) -> String {
    let counters = stages.into_iter().flat_map(|(stage, status)| {
        status.counters.iter().map(move |(counter, count)| (stage, counter, *count))
    });
    unless_empty(["STAGE", "COUNTER", "COUNT"], counters, |(stage, counter, count)| {
        [stage.into(), counter.as_str().into(), count.into()]
    })
}

/// The rules with most packets.
fn rules(rules: &[RuleStats]) -> String {
    let mut busiest: Vec<&RuleStats> = rules.iter().collect();
    busiest.sort_by_key(|rule| Reverse(rule.packets));
    let (shown, others) = busiest.split_at(busiest.len().min(RULES));
    let table = unless_empty(["TABLE", "RULE", "PACKETS", "BYTES"], shown, |rule| {
        [rule.table.get().into(), (&rule.name).into(), rule.packets.into(), rule.bytes.into()]
    });
    match others.len() {
        0 => table,
        count => format!("{table}\nand {count} more, of fewer packets; --json shows all"),
    }
}

/// A table, or nothing where it would have no lines.
fn unless_empty<I: IntoIterator, const N: usize>(
    headings: [&str; N],
    items: I,
    row: impl Fn(I::Item) -> [Value; N],
) -> String {
    let mut items = items.into_iter().peekable();
    if items.peek().is_none() {
        return String::new();
    }
    Table::new(headings).rows(items, row).render()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_counters_are_shown_and_what_is_not_there_is_left_out() {
        let lan = json!({
            "rx_packets": 10, "rx_bytes": 640, "tx_packets": 9, "tx_bytes": 576,
            "copied_packets": 0, "mirrored_packets": 0, "forwarded_packets": 7, "dropped_packets": 2,
            "in_flight_packets": 1, "drops": {"table-miss": 2},
            "device": {"rx_missed": 0, "rx_errors": 0, "rx_nombuf": 0, "tx_errors": 0},
        });
        let answer: Stats = serde_json::from_value(json!({
            "revision": 7, "ports": {"lan": lan}, "stages": {}, "workers": [],
            "rules": [{"table": 0, "name": "web", "packets": 8, "bytes": 512}],
        }))
        .unwrap();
        assert_eq!(
            stats(&answer),
            "revision 7\n\n\
             PORT  RX PACKETS  RX BYTES  TX PACKETS  TX BYTES  RX MISSED  RX ERRORS  RX NOMBUF  TX ERRORS\n\
             lan           10       640           9       576          0          0          0          0\n\n\
             lan: 10 received + 0 copied = 7 forwarded + 2 dropped + 1 in flight\n\
             \x20 table-miss  2\n\n\
             TABLE  RULE  PACKETS  BYTES\n\
             \x20   0  web         8    512"
        );
    }

    #[test]
    fn of_many_rules_the_busiest_are_shown_and_the_others_counted() {
        let many = |count: u64| -> Vec<RuleStats> {
            let rule = |packets| {
                json!({"table": 0, "name": format!("r{packets}"),
                "packets": packets, "bytes": packets * 64})
            };
            (0..count).map(|packets| serde_json::from_value(rule(packets)).unwrap()).collect()
        };
        let shown = rules(&many(100));
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines.len(), 22);
        assert_eq!(lines[1], "    0  r99        99   6336");
        assert_eq!(lines[20], "    0  r80        80   5120");
        assert_eq!(lines[21], "and 80 more, of fewer packets; --json shows all");
        assert!(!rules(&many(20)).contains("more"));
    }

    #[test]
    fn an_equation_that_does_not_hold_is_not_written_as_if_it_did() {
        let counters = |forwarded_packets| PortCounters {
            rx_packets: u64::MAX,
            copied_packets: 1,
            forwarded_packets,
            dropped_packets: 1,
            ..PortCounters::default()
        };
        assert_eq!(conservation(&counters(u64::MAX)), {
            "18446744073709551615 received + 1 copied = 18446744073709551615 forwarded + 1 dropped \
             + 0 in flight"
        });
        assert_eq!(conservation(&counters(0)), {
            "18446744073709551615 received + 1 copied != 0 forwarded + 1 dropped + 0 in flight"
        });
    }
}
