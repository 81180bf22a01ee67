use super::name::is_pci;

/// What a user should look at when a device of this name does not attach.
pub(super) fn what_to_check(name: &str) -> &'static str {
    let driver = name.trim_end_matches(|c: char| c.is_ascii_digit());
    match driver {
        "net_af_packet" => {
            "check that iface= names an interface of this network namespace, and that the process \
             has CAP_NET_RAW and CAP_NET_ADMIN"
        }
        "net_tap" | "net_tun" => {
            "check that /dev/net/tun is there, that no interface has this name yet, and that the \
             process has CAP_NET_ADMIN"
        }
        "net_pcap" => {
            "check that the file of rx_pcap= is there and is a capture, or that iface= names an \
             interface"
        }
        "net_af_xdp" => "check that iface= names an interface, and CAP_NET_ADMIN and CAP_BPF",
        "net_null" | "net_ring" | "net_memif" | "net_vhost" | "net_virtio_user" => {
            "check the arguments behind the name"
        }
        _ if is_pci(name) => {
            "check the address with `dpdk-devbind.py --status`, that the device is bound to \
             vfio-pci, and that Weft runs with hugepages"
        }
        _ => {
            "check the driver's name: net_af_packet0, net_tap0, net_pcap0, net_null0, net_ring0, \
             or a PCI address such as 0000:03:00.0"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_fits_the_kind_of_device() {
        for (name, word) in [
            ("net_af_packet17", "CAP_NET_RAW"),
            ("net_tap0", "/dev/net/tun"),
            ("net_pcap0", "rx_pcap="),
            ("0000:03:00.0", "vfio-pci"),
            ("eth0", "check the driver's name"),
        ] {
            assert!(what_to_check(name).contains(word), "{name}: {}", what_to_check(name));
        }
    }
}
