//! Safe wrappers around DPDK: its environment, pools of packet buffers, and ports.
//!
//! [`Eal::init`] starts DPDK, once in a process. A [`Pool`] has the buffers, a [`Port`] is a device
//! that was attached while the process runs, and its queues move [`Mbuf`]s, which are the packets
//! of the `dataplane` crate. This crate knows nothing of rules, stages or the management API.
//!
//! ```no_run
//! use dataplane::{Receive, Transmit};
//! use dpdk::{Eal, EalOptions, Pool, Port, PortConfig};
//!
//! # fn main() -> dpdk::Result<()> {
//! let eal = Eal::init(&EalOptions { hugepages: false, memory_mb: 64, main_core: 0 })?;
//! let pool = Pool::new(&eal, "packets", 4095, 128, None)?;
//! let mut port = Port::attach(&eal, "net_null0,size=64")?;
//! let mut queues = port.start(&PortConfig::new(&pool))?;
//!
//! let _registered = eal.register_thread()?; // each thread that polls does this
//! let mut burst = Vec::with_capacity(32);
//! queues.rx[0].receive(&mut burst);
//! queues.tx[0].transmit(&mut burst);
//! # Ok(())
//! # }
//! ```
//!
//! # Device arguments
//!
//! A device is named as DPDK does it: a driver's name with a number of your choice, then what the
//! driver asks for. Or the address of a PCI device, such as `0000:03:00.0`, which needs hugepages
//! and the device bound to `vfio-pci`.
//!
//! | arguments | what it is |
//! |---|---|
//! | `net_af_packet0,iface=veth-a` | an existing interface of this network namespace; needs `CAP_NET_RAW` and `CAP_NET_ADMIN`. Its peer must not offload (`ethtool -K eth0 tx off` there), or frames come without checksums, and cut if they are longer than `framesz=` (2048) |
//! | `net_tap0,iface=dtap0` | makes an interface for the kernel's side; needs `CAP_NET_ADMIN` and `/dev/net/tun` |
//! | `net_pcap0,rx_pcap=in.pcap,tx_pcap=out.pcap` | receives a file's frames once and writes what is sent; `infinite_rx=1` repeats them |
//! | `net_pcap0,iface=eth0` | an interface by libpcap: slow, works everywhere |
//! | `net_null0,size=64` | receives frames of zeroes without end and swallows what is sent |
//! | `net_ring0` | receives what is sent to it |
mod clock;
mod eal;
mod errno;
mod error;
mod hugepages;
mod log;
mod mbuf;
mod pool;
mod port;
mod queue;
mod thread;

pub use clock::tsc;
pub use eal::{Eal, EalOptions, version};
pub use errno::Errno;
pub use error::{Direction, Error, Result};
pub use hugepages::free_hugepage_mb;
pub use log::DriverLog;
pub use mbuf::Mbuf;
pub use pool::Pool;
pub use port::{Link, Port, PortConfig, PortInfo, PortStats, Queues};
pub use queue::{RxQueue, TxQueue};
pub use thread::ThreadRegistration;
