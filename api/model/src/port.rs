use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{Invalid, MacAddress, Name};

/// Where packets enter and leave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Port {
    /// What the client called it.
    pub name: Name,
    /// What the client asked for.
    pub spec: PortSpec,
    /// What became of it.
    pub status: PortStatus,
}

/// A port as a client asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PortSpec {
    /// DPDK's device arguments: a PCI address or a virtual device with its options.
    #[schema(example = "net_af_packet0,iface=veth-lan")]
    pub device: String,
    /// The largest packet behind the Ethernet header, in bytes; without it, the driver's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 68)]
    pub mtu: Option<u16>,
}

/// A port as it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PortStatus {
    /// The number that modules know it by. It is not used again while the daemon runs.
    pub id: u16,
    /// The driver that runs the device.
    pub driver: String,
    /// Its Ethernet address.
    pub mac: MacAddress,
    /// Where the device is attached, if that is known.
    pub numa_node: Option<u32>,
    /// The MTU in force.
    pub mtu: u16,
    /// Whether it can carry packets.
    pub link: Link,
    /// The worker that polls it.
    pub worker: u16,
    /// What it carried.
    pub counters: PortCounters,
}

/// The state of a port's link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// It carries packets.
    Up,
    /// It does not.
    Down,
}

/// What came in by a port and what became of it, and what left by it.
///
/// In one answer, `rx_packets + copied_packets = forwarded_packets + dropped_packets +
/// in_flight_packets`, and `dropped_packets` is the sum of `drops`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PortCounters {
    /// Packets that came in.
    pub rx_packets: u64,
    /// Their bytes.
    pub rx_bytes: u64,
    /// Packets that left by this port.
    pub tx_packets: u64,
    /// Their bytes.
    pub tx_bytes: u64,
    /// Copies that were made of packets that came in by this port.
    pub copied_packets: u64,
    /// Of those copies, the ones for mirrors and samples.
    #[serde(default)]
    pub mirrored_packets: u64,
    /// Packets that came in by this port and left by one.
    pub forwarded_packets: u64,
    /// Packets that came in by this port and were dropped.
    pub dropped_packets: u64,
    /// Packets that came in by this port and are still on their way.
    pub in_flight_packets: u64,
    /// The dropped ones by reason: the engine's reasons by name, a module's as `stage:reason`.
    pub drops: BTreeMap<String, u64>,
    /// What the device counted by itself.
    pub device: DeviceCounters,
}

/// What a device counts by itself: packets that the engine never saw or that the device lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeviceCounters {
    /// Packets that the device had no descriptor for.
    pub rx_missed: u64,
    /// Packets that arrived damaged.
    pub rx_errors: u64,
    /// Times that it had no buffer to receive into.
    pub rx_nombuf: u64,
    /// Packets that it failed to send.
    pub tx_errors: u64,
}

impl PortSpec {
    /// The smallest MTU that IPv4 can do with (RFC 791, 3.2).
    pub const MIN_MTU: u16 = 68;
    /// The longest device arguments.
    pub const MAX_DEVICE: usize = 512;

    /// The name of the device: the arguments up to the first comma.
    #[must_use]
    pub fn device_name(&self) -> &str {
        self.device.split_once(',').map_or(&self.device, |(name, _)| name)
    }

    /// Checks what the shape does not say.
    ///
    /// # Errors
    ///
    /// If the device is not plain text, or the MTU too small for IP.
    pub fn validate(&self) -> Result<(), Invalid> {
        let device = &self.device;
        if self.device_name().is_empty() {
            return Err(Invalid::at(&["device"], "no device is named").hint(
                "write a PCI address or a virtual device, such as net_af_packet0,iface=eth0",
            ));
        }
        if device.len() > Self::MAX_DEVICE || !device.bytes().all(|byte| byte.is_ascii_graphic()) {
            let most = Self::MAX_DEVICE;
            let reason = format!("device arguments are up to {most} ASCII characters, no spaces");
            return Err(Invalid::at(&["device"], reason));
        }
        match self.mtu {
            Some(mtu) if mtu < Self::MIN_MTU => {
                let reason = format!("{mtu} is less than IPv4 can do with");
                let hint = format!("write {} or more, or leave it out", Self::MIN_MTU);
                Err(Invalid::at(&["mtu"], reason).hint(hint))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(device: &str, mtu: Option<u16>) -> Option<String> {
        let spec = PortSpec { device: device.into(), mtu };
        spec.validate().err().map(|invalid| invalid.pointer)
    }

    #[test]
    fn a_device_is_plain_text_with_a_name() {
        assert_eq!(pointer("net_null0", None), None);
        assert_eq!(pointer(&"x".repeat(512), None), None);
        for bad in ["", ",iface=a", "net null0", "net_null0\n", "net_nüll0", &"x".repeat(513)] {
            assert_eq!(pointer(bad, None), Some("/device".into()), "{bad:?}");
        }
    }

    #[test]
    fn an_mtu_is_at_least_that_of_ipv4() {
        assert_eq!(pointer("net_null0", Some(68)), None);
        assert_eq!(pointer("net_null0", Some(67)), Some("/mtu".into()));
    }

    #[test]
    fn the_name_of_a_device_ends_at_the_comma() {
        let name =
            |device: &str| PortSpec { device: device.into(), mtu: None }.device_name().to_owned();
        assert_eq!(name("net_af_packet0,iface=a"), "net_af_packet0");
        assert_eq!(name("0000:01:00.0"), "0000:01:00.0");
    }
}
