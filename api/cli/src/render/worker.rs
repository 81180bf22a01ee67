use api_model::Worker;

use super::{listed, node, table::Table};

/// A line for each worker.
pub(crate) fn workers(workers: &[Worker]) -> String {
    let headings = [
        "WORKER",
        "CORE",
        "NODE",
        "PORTS",
        "REVISION",
        "RX PACKETS",
        "BUSY",
        "CACHE HITS",
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
            share(worker.cache_hits, worker.cache_misses).into(),
            worker.programs.into(),
            format!("{} us", worker.longest_iteration_us).into(),
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
    fn a_worker_is_a_line_with_its_load() {
        let worker: Worker = serde_json::from_value(json!({
            "id": 0, "core": 1, "numa_node": 0, "ports": ["lan", "wan"], "revision": 7,
            "iterations": 9, "busy_iterations": 3, "rx_packets": 1000, "busy_cycles": 1,
            "idle_cycles": 7, "cache_hits": 0, "cache_misses": 0, "programs": 2,
            "longest_iteration_us": 34,
        }))
        .unwrap();
        assert_eq!(
            workers(&[worker]),
            "WORKER  CORE  NODE  PORTS    REVISION  RX PACKETS  BUSY    CACHE HITS  PROGRAMS  LONGEST ROUND\n\
             \x20    0     1     0  lan,wan         7        1000  12.5 %  -                  2  34 us"
        );
    }

    #[test]
    fn a_share_is_of_both_parts_and_none_of_nothing() {
        assert_eq!(share(0, 0), "-");
        assert_eq!(share(1, 0), "100.0 %");
        assert_eq!(share(u64::MAX, u64::MAX), "50.0 %");
    }
}
