use api_model::Worker;

use super::{listed, node, sections, table::Table};

/// A line for each worker with its load, and one with its cache.
pub(crate) fn workers(workers: &[Worker]) -> String {
    sections([loads(workers), caches(workers)])
}

fn loads(workers: &[Worker]) -> String {
    let headings = [
        "WORKER",
        "CORE",
        "NODE",
        "PORTS",
        "REVISION",
        "RX PACKETS",
        "BUSY",
        "PROGRAMS",
        "LONGEST ROUND",
    ];
    let table = Table::new(headings).rows(workers, |worker| {
        [
            worker.id.into(),
            worker.core.into(),
            node(worker.numa_node),
            listed(&worker.ports).into(),
            worker.revision.into(),
            worker.rx_packets.into(),
            share(worker.busy_cycles, worker.idle_cycles).into(),
            worker.programs.into(),
            format!("{} us", worker.longest_iteration_us).into(),
        ]
    });
    table.render()
}

/// Where the workers found what to do with their packets, and what became of the flows.
fn caches(workers: &[Worker]) -> String {
    if workers.is_empty() {
        return String::new();
    }
    let headings = [
        "WORKER",
        "EXACT",
        "WILDCARD",
        "MISSED",
        "FLOWS",
        "FLOW LIMIT",
        "MASKS",
        "INSTALLED",
        "EVICTED",
        "EXPIRED",
        "REVISED",
        "MASK LIMIT HITS",
    ];
    let table = Table::new(headings).rows(workers, |worker| {
        let Worker { exact_hits: exact, wildcard_hits: wildcard, misses, .. } = *worker;
        [
            worker.id.into(),
            share(exact, wildcard.saturating_add(misses)).into(),
            share(wildcard, exact.saturating_add(misses)).into(),
            share(misses, exact.saturating_add(wildcard)).into(),
            worker.flows.into(),
            worker.flow_limit.into(),
            worker.masks.into(),
            worker.flows_installed.into(),
            worker.flows_evicted.into(),
            worker.flows_expired.into(),
            worker.flows_revised.into(),
            worker.mask_limit_hits.into(),
        ]
    });
    table.render()
}

/// How much of both the first is, in percent.
fn share(part: u64, rest: u64) -> String {
    let (part, whole) = (u128::from(part), u128::from(part) + u128::from(rest));
    match (part * 1000).checked_div(whole) {
        Some(permille) => format!("{}.{} %", permille / 10, permille % 10),
        None => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_worker_is_a_line_with_its_load_and_one_with_its_cache() {
        let worker: Worker = serde_json::from_value(json!({
            "id": 0, "core": 1, "numa_node": 0, "ports": ["lan", "wan"], "revision": 7,
            "iterations": 9, "busy_iterations": 3, "rx_packets": 1000, "busy_cycles": 1,
            "idle_cycles": 7, "exact_hits": 899, "wildcard_hits": 100, "misses": 1, "flows": 12,
            "flow_limit": 200_000, "masks": 3, "flows_installed": 20, "flows_evicted": 1,
            "flows_expired": 7, "flows_revised": 2, "mask_limit_hits": 4, "programs": 2,
            "longest_iteration_us": 34, "from_the_future": 1,
        }))
        .unwrap();
        assert_eq!(
            workers(&[worker]),
            "WORKER  CORE  NODE  PORTS    REVISION  RX PACKETS  BUSY    PROGRAMS  LONGEST ROUND\n\
             \x20    0     1     0  lan,wan         7        1000  12.5 %         2  34 us\n\n\
             WORKER  EXACT   WILDCARD  MISSED  FLOWS  FLOW LIMIT  MASKS  INSTALLED  EVICTED  EXPIRED  REVISED  MASK LIMIT HITS\n\
             \x20    0  89.9 %  10.0 %    0.1 %      12      200000      3         20        1        7        2                4"
        );
        assert_eq!(workers(&[]).lines().count(), 1);
    }

    #[test]
    fn a_share_is_of_both_parts_and_none_of_nothing() {
        assert_eq!(share(0, 0), "-");
        assert_eq!(share(1, 0), "100.0 %");
        assert_eq!(share(u64::MAX, u64::MAX), "50.0 %");
    }
}
