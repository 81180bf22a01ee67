use api_model::{Link, Port};

use super::{
    node, sections,
    stats::{devices, fates},
    table::Table,
};

/// A line for each port.
pub(crate) fn ports(ports: &[Port]) -> String {
    let headings = ["PORT", "ID", "LINK", "MTU", "WORKER", "NODE", "MAC", "DRIVER", "DEVICE"];
    let table = Table::new(headings).rows(ports, |Port { name, spec, status }| {
        [
            name.into(),
            status.id.into(),
            link(status.link).into(),
            status.mtu.into(),
            status.worker.into(),
            node(status.numa_node),
            status.mac.to_string().into(),
            status.driver.as_str().into(),
            spec.device.as_str().into(),
        ]
    });
    table.render()
}

/// All of one port.
pub(crate) fn port(port: &Port) -> String {
    let counters = || [(&port.name, &port.status.counters)];
    sections([ports(std::slice::from_ref(port)), devices(counters()), fates(counters())])
}

fn link(link: Link) -> &'static str {
    match link {
        Link::Up => "up",
        Link::Down => "down",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lan() -> Port {
        serde_json::from_value(json!({
            "name": "lan",
            "spec": {"device": "net_af_packet0,iface=veth-lan"},
            "status": {
                "id": 0, "driver": "net_af_packet", "mac": "02:00:00:00:00:01", "numa_node": null,
                "mtu": 1500, "link": "up", "worker": 0,
                "counters": {
                    "rx_packets": 12, "rx_bytes": 900, "tx_packets": 8, "tx_bytes": 640,
                    "copied_packets": 1, "mirrored_packets": 0, "forwarded_packets": 10, "dropped_packets": 3,
                    "in_flight_packets": 0, "drops": {"fw:denied-by-rule": 2, "table-miss": 1},
                    "device": {"rx_missed": 0, "rx_errors": 0, "rx_nombuf": 0, "tx_errors": 4},
                },
            },
        }))
        .unwrap()
    }

    #[test]
    fn a_port_is_a_line_of_a_table() {
        assert_eq!(
            ports(&[lan()]),
            "PORT  ID  LINK   MTU  WORKER  NODE     MAC                DRIVER         DEVICE\n\
             lan    0  up    1500       0  unknown  02:00:00:00:00:01  net_af_packet  net_af_packet0,iface=veth-lan"
        );
    }

    #[test]
    fn one_port_is_shown_with_the_fate_of_its_packets() {
        let text = port(&lan());
        let (_, counters) = text.split_once("\n\n").unwrap();
        assert_eq!(
            counters,
            "PORT  RX PACKETS  RX BYTES  TX PACKETS  TX BYTES  RX MISSED  RX ERRORS  RX NOMBUF  TX ERRORS\n\
             lan           12       900           8       640          0          0          0          4\n\n\
             lan: 12 received + 1 copied = 10 forwarded + 3 dropped + 0 in flight\n\
             \x20 fw:denied-by-rule  2\n\
             \x20 table-miss         1"
        );
    }
}
