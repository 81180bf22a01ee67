//! What the tests of the whole daemon share: the daemon as a separate process, network namespaces
//! for it to sit between, numbered traffic, captures, and judges that are not part of the project.
//!
//! Nothing here knows the daemon's insides: it is driven by its command line, its API and packets.
//! Whatever is missing on the machine fails the test at once, with the command that mends it.
#![forbid(unsafe_code)]

mod api;
mod artefact;
mod canary;
mod counters;
mod daemon;
mod firewalled;
pub mod frames;
mod guest;
mod namespaces;
pub mod openflow;
mod ovs;
mod pcap;
mod song;
pub mod steady;
mod tool;
pub mod twin;
mod unixctl;
mod wireshark;

pub use api::{Answer, Api};
pub use artefact::{binary, module, repository};
pub use canary::Canary;
pub use counters::{DeviceCounters, PortCounters, Stats};
pub use daemon::{Daemon, overlay};
pub use firewalled::{deny_tcp, firewalled};
pub use guest::Guest;
pub use namespaces::{Link, Namespaces};
pub use ovs::Ovs;
pub use pcap::{Capture, NotACapture};
pub use song::Song;
pub use tool::{Background, Output, run, run_with_input, try_run, wait_until};
pub use wireshark::{Recording, as_pcap, bad_checksums};
