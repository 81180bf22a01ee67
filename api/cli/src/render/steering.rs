use api_model::{Group, GroupKind, MacTable, Meter};

use super::{sections, table::Table};
use crate::grammar::steering;

/// A line for each meter.
pub(crate) fn meters(meters: &[Meter]) -> String {
    let headings = ["METER", "GREEN", "YELLOW", "RED", "SPEC"];
    let lines = Table::new(headings).rows(meters, |Meter { name, spec, status }| {
        [
            name.into(),
            status.green.packets.into(),
            status.yellow.packets.into(),
            status.red.packets.into(),
            steering::format_meter(spec).into(),
        ]
    });
    lines.render()
}

/// All of one meter.
pub(crate) fn meter(meter: &Meter) -> String {
    let status = &meter.status;
    let colors = [("green", status.green), ("yellow", status.yellow), ("red", status.red)];
    let counted = Table::new(["COLOR", "PACKETS", "BYTES"])
        .rows(colors, |(color, it)| [color.into(), it.packets.into(), it.bytes.into()]);
    sections([meters(std::slice::from_ref(meter)), counted.render()])
}

/// A line for each group.
pub(crate) fn groups(groups: &[Group]) -> String {
    let lines = Table::new(["GROUP", "KIND", "BUCKETS"]).rows(groups, |group| {
        let buckets = u64::try_from(group.spec.buckets.len()).unwrap_or(u64::MAX);
        [(&group.name).into(), kind(group.spec.kind).into(), buckets.into()]
    });
    lines.render()
}

/// All of one group.
pub(crate) fn group(group: &Group) -> String {
    let headings = ["ALIVE", "PACKETS", "BYTES", "BUCKET"];
    let buckets = group.spec.buckets.iter().zip(&group.status.buckets);
    let buckets = Table::new(headings).rows(buckets, |(spec, status)| {
        [
            if status.alive { "yes" } else { "no" }.into(),
            status.packets.into(),
            status.bytes.into(),
            steering::format_bucket(spec).into(),
        ]
    });
    sections([groups(std::slice::from_ref(group)), buckets.render()])
}

fn kind(kind: GroupKind) -> &'static str {
    match kind {
        GroupKind::All => "all",
        GroupKind::Select => "select",
        GroupKind::FastFailover => "fast_failover",
    }
}

/// A line for each address that is known, and what was learned in all.
pub(crate) fn mac_table(table: &MacTable) -> String {
    let entries =
        Table::new(["VLAN", "ADDRESS", "PORT", "IDLE MS"]).rows(&table.entries, |entry| {
            [
                entry.vlan.get().into(),
                entry.mac.to_string().into(),
                (&entry.port).into(),
                entry.idle_ms.into(),
            ]
        });
    let (spec, status) = (&table.spec, &table.status);
    let all = format!(
        "{} known of {}, forgotten after {} s; {} learned, {} moved, {} evicted",
        status.entries, spec.limit, spec.age_s, status.learned, status.moved, status.evicted
    );
    sections([entries.render(), all])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_meter_shows_its_colours() {
        let count = |packets: u64| json!({"packets": packets, "bytes": packets * 100});
        let gold: Meter = serde_json::from_value(json!({
            "name": "gold",
            "spec": {"algorithm": "rfc2697", "unit": "bits", "committed_rate": 8000,
                "committed_burst": 1500, "excess_burst": 0, "yellow": "pass", "red": "drop"},
            "status": {"green": count(7), "yellow": count(0), "red": count(3)},
        }))
        .unwrap();
        assert_eq!(
            meter(&gold),
            "METER  GREEN  YELLOW  RED  SPEC\n\
             gold       7       0    3  algorithm=rfc2697,unit=bits,committed_rate=8000,\
             committed_burst=1500,excess_burst=0,yellow=pass,red=drop\n\n\
             COLOR   PACKETS  BYTES\n\
             green         7    700\n\
             yellow        0      0\n\
             red           3    300"
        );
    }

    #[test]
    fn a_group_shows_which_buckets_are_alive() {
        let up: Group = serde_json::from_value(json!({
            "name": "up",
            "spec": {"kind": "fast_failover", "buckets": [
                {"watch_port": "a", "actions": [{"output": "a"}]}, {"actions": ["drop"]}]},
            "status": {"buckets": [
                {"alive": false, "packets": 1, "bytes": 60},
                {"alive": true, "packets": 20, "bytes": 1200}]},
        }))
        .unwrap();
        assert_eq!(
            group(&up),
            "GROUP  KIND           BUCKETS\n\
             up     fast_failover        2\n\n\
             ALIVE  PACKETS  BYTES  BUCKET\n\
             no           1     60  watch_port:a output:a\n\
             yes         20   1200  drop"
        );
    }

    #[test]
    fn learned_addresses_are_lines() {
        let table: MacTable = serde_json::from_value(json!({
            "spec": {"age_s": 300, "limit": 8192},
            "status": {"entries": 1, "learned": 5, "moved": 2, "evicted": 0},
            "entries": [{"vlan": 7, "mac": "02:00:00:00:00:01", "port": "lan", "idle_ms": 12}],
        }))
        .unwrap();
        assert_eq!(
            mac_table(&table),
            "VLAN  ADDRESS            PORT  IDLE MS\n\
             \x20  7  02:00:00:00:00:01  lan        12\n\n\
             1 known of 8192, forgotten after 300 s; 5 learned, 2 moved, 0 evicted"
        );
    }
}
