//! Network namespaces, each with an `eth0` whose other end a port of weftd can take.

use std::{
    fs,
    sync::atomic::{AtomicU32, Ordering},
};

use crate::{
    Output,
    tool::{self, Background},
};

const INJECT: &str = "
import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(('eth0', 0))
s.send(bytes.fromhex(sys.argv[1]))
";

/// Namespaces in one subnet, removed when this is dropped.
#[derive(Debug)]
pub struct Namespaces {
    links: Vec<Link>,
}

/// One namespace and its link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The namespace, where the link is called `eth0`.
    pub namespace: String,
    /// The other end, outside.
    pub device: String,
    /// The address of `eth0`.
    pub ipv4: String,
    /// The IPv6 address of `eth0`.
    pub ipv6: String,
    /// The hardware address of `eth0`.
    pub mac: String,
}

impl Namespaces {
    /// Makes two namespaces.
    ///
    /// # Panics
    ///
    /// Panics without root, or if the kernel refuses.
    #[track_caller]
    #[must_use]
    pub fn two() -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        assert!(
            rustix::process::geteuid().is_root(),
            "network namespaces need root: run `make test`, which asks for it"
        );
        let unique = format!("{:x}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let mut made = Self { links: Vec::new() };
        for number in 1..=2 {
            // Recorded before it is made, so that half a link is removed too.
            made.links.push(Link::numbered(&unique, number));
            made.links[made.links.len() - 1].make();
        }
        made
    }

    /// The two.
    #[must_use]
    pub fn pair(&self) -> (&Link, &Link) {
        (&self.links[0], &self.links[1])
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for link in &self.links {
            // Deleting one end deletes the other; it may never have been made.
            tool::try_run(&["ip", "link", "delete", &link.device]);
            tool::try_run(&["ip", "netns", "delete", &link.namespace]);
        }
    }
}

impl Link {
    fn numbered(unique: &str, number: u8) -> Self {
        Self {
            namespace: format!("weft-{unique}-{number}"),
            device: format!("wt{unique}-{number}"),
            ipv4: format!("10.77.0.{number}"),
            ipv6: format!("fd77::{number}"),
            mac: format!("02:00:00:00:77:{number:02x}"),
        }
    }

    #[track_caller]
    fn make(&self) {
        let (namespace, device) = (self.namespace.as_str(), self.device.as_str());
        tool::run(&["ip", "netns", "add", namespace]);
        let peer = ["peer", "name", "eth0", "address", &self.mac, "netns", namespace];
        tool::run(&[&["ip", "link", "add", device, "type", "veth"][..], &peer].concat());
        // The outside is weftd's alone: the kernel is not to say anything there.
        let silence = format!("/proc/sys/net/ipv6/conf/{device}/disable_ipv6");
        fs::write(&silence, "1").unwrap_or_else(|error| panic!("{silence}: {error}"));
        let (ipv4, ipv6) = (format!("{}/24", self.ipv4), format!("{}/64", self.ipv6));
        tool::run(&["ip", "-n", namespace, "address", "add", &ipv4, "dev", "eth0"]);
        tool::run(&["ip", "-n", namespace, "address", "add", &ipv6, "dev", "eth0", "nodad"]);
        // A veth leaves checksums to a device that does not exist; the packets go to a real one.
        self.run(&["ethtool", "-K", "eth0", "tx", "off"]);
        tool::run(&["ip", "-n", namespace, "link", "set", "lo", "up"]);
        tool::run(&["ip", "-n", namespace, "link", "set", "eth0", "up"]);
        tool::run(&["ip", "link", "set", device, "up"]);
    }

    /// The device arguments of a port that takes the outer end.
    #[must_use]
    pub fn af_packet(&self, number: u8) -> String {
        format!("net_af_packet{number},iface={}", self.device)
    }

    /// Runs a program in the namespace, as [`run`](crate::run) does.
    #[track_caller]
    pub fn run(&self, command: &[&str]) -> String {
        tool::run(&self.command(command))
    }

    /// Runs a program in the namespace, as [`try_run`](crate::try_run) does.
    #[track_caller]
    pub fn try_run(&self, command: &[&str]) -> Output {
        tool::try_run(&self.command(command))
    }

    /// Starts a program in the namespace.
    #[track_caller]
    #[must_use]
    pub fn start(&self, command: &[&str]) -> Background {
        Background::start(&self.command(command))
    }

    /// Starts a program in the namespace whose output is wanted.
    #[track_caller]
    #[must_use]
    pub fn start_reporting(&self, command: &[&str]) -> Background {
        Background::start_reporting(&self.command(command))
    }

    /// Puts a frame on the link as it is, by a raw socket: also one with a tag, for which not every
    /// kernel has a device.
    #[track_caller]
    pub fn inject(&self, frame: &[u8]) {
        let digits: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
        self.run(&["python3", "-c", INJECT, &digits]);
    }

    /// Waits until a socket of the namespace listens on a UDP or TCP port.
    #[track_caller]
    pub fn await_listening(&self, port: u16) {
        let port = format!(":{port:04X}");
        tool::wait_until(&format!("a socket on port {port}"), || {
            let tables = self.try_run(&["sh", "-c", "cat /proc/net/udp* /proc/net/tcp*"]).stdout;
            // The local address is the second word of a line.
            tables
                .lines()
                .filter_map(|line| line.split_whitespace().nth(1))
                .any(|local| local.ends_with(&port))
        });
    }

    fn command<'a>(&'a self, command: &[&'a str]) -> Vec<&'a str> {
        [&["ip", "netns", "exec", &self.namespace][..], command].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_are_there_with_their_addresses_and_gone_afterwards() {
        let namespaces = Namespaces::two();
        let (a, b) = namespaces.pair();
        let (a, b) = (a.clone(), b.clone());
        let addresses = b.run(&["ip", "-brief", "address", "show", "eth0"]);
        assert!(addresses.contains("10.77.0.2/24") && addresses.contains("fd77::2/64"));
        let offloads = a.run(&["ethtool", "-k", "eth0"]);
        assert!(offloads.contains("tx-checksumming: off"), "{offloads}");

        drop(namespaces);
        for link in [a, b] {
            assert_ne!(tool::try_run(&["ip", "link", "show", &link.device]).code, 0);
            assert!(!tool::run(&["ip", "netns", "list"]).contains(&link.namespace));
        }
    }
}
