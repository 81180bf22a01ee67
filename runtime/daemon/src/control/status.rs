//! What the engine counts, as clients read it.

use api_model::{DeviceCounters, FaultCounters, PortCounters, StageStatus, VerdictCounters};
use dataplane::worker;

use super::state::StageEntry;
use crate::reasons::Reasons;

/// A port's counters, of all workers together, beside its device's own.
pub(super) fn port_counters(
    counted: &worker::PortCounters,
    device: Option<dpdk::PortStats>,
    reasons: &Reasons,
) -> PortCounters {
    PortCounters {
        rx_packets: counted.rx.packets,
        rx_bytes: counted.rx.bytes,
        tx_packets: counted.tx.packets,
        tx_bytes: counted.tx.bytes,
        copied_packets: counted.copied,
        mirrored_packets: counted.mirrored,
        forwarded_packets: counted.forwarded,
        dropped_packets: counted.dropped(),
        in_flight_packets: counted.in_flight,
        drops: reasons.name(&counted.drops),
        device: device.map_or_else(DeviceCounters::default, |device| DeviceCounters {
            rx_missed: device.rx_missed,
            rx_errors: device.rx_errors,
            rx_nombuf: device.rx_nombuf,
            tx_errors: device.tx_errors,
        }),
    }
}

/// A stage's status, over all of its deployments.
pub(super) fn stage(entry: &StageEntry) -> StageStatus {
    let totals = entry.totals();
    StageStatus {
        module_digest: entry.module.digest().to_owned(),
        generation: entry.generation,
        packets: totals.packets,
        batches: totals.batches,
        verdicts: VerdictCounters {
            next: totals.verdicts.next,
            drop: totals.verdicts.drop,
            output: totals.verdicts.output,
            goto: totals.verdicts.goto,
        },
        faults: FaultCounters {
            trap: totals.faults.trap,
            deadline: totals.faults.deadline,
            bad_verdict: totals.faults.bad_verdict,
        },
        unavailable_packets: totals.unavailable_packets,
        log_lines_lost: totals.log_lines_lost,
        counters: totals.counters,
    }
}
