/// The name that DPDK gives to the port of a device: what stands before the first comma, without
/// its bus, and with the domain of a PCI address.
pub(super) fn of_port(devargs: &str) -> String {
    let device = devargs.split(',').next().unwrap_or(devargs);
    let device =
        ["pci:", "vdev:"].iter().find_map(|bus| device.strip_prefix(bus)).unwrap_or(device);
    if is_pci(device) && device.matches(':').count() == 1 {
        return format!("0000:{device}");
    }
    device.to_owned()
}

/// Such as `0000:03:00.0` or `03:00.0`.
pub(super) fn is_pci(device: &str) -> bool {
    device.contains(':') && device.chars().all(|c| c.is_ascii_hexdigit() || c == ':' || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_has_one_name_however_its_device_is_written() {
        for (devargs, name) in [
            ("net_null0", "net_null0"),
            ("vdev:net_pcap0,rx_pcap=a:b.pcap", "net_pcap0"),
            ("0000:03:00.0,arg=1", "0000:03:00.0"),
            ("03:00.0", "0000:03:00.0"),
            ("pci:03:00.0", "0000:03:00.0"),
            ("", ""),
        ] {
            assert_eq!(of_port(devargs), name, "{devargs}");
        }
    }
}
