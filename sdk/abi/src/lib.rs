//! The contract between Weft and its modules: names, numbers and layouts, version 1.
//!
//! A module is a core WebAssembly module (no WASI, no threads, one memory). The host calls it once
//! for a *batch* of packets, never once for a packet, since a call costs as much as the work on
//! one packet.
//!
//! # A module's life
//!
//! 1. The host checks [`exports::ABI_VERSION`] against [`VERSION`].
//! 2. It asks for room by [`exports::ALLOC`], writes the configuration there as JSON and calls
//!    [`exports::INIT`], which answers [`INIT_OK`] or a message (see [`packed`]).
//! 3. It calls [`exports::BATCH`] with the most packets a batch will hold and the bytes of a
//!    window, and learns where the module wants the [batch area](BatchArea).
//! 4. For each batch it fills the area and calls [`exports::PROCESS`] with the number of packets.
//!    The module writes a [verdict] into each [`Descriptor`], in order.
//!
//! The host knows the packet at fault by the verdicts: it is the first that is undecided when a
//! call does not return. A module that leaves earlier ones undecided, or decides on later ones
//! first, is believed all the same: the packets before the first undecided one stand as decided,
//! and all that come after are decided on by the next instance.
//!
//! Whatever a module writes is read once, after the call, and checked. Numbers are little-endian,
//! as WebAssembly's are; packet bytes are in network order.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod descriptor;
mod key;
mod manifest;

pub use descriptor::{BatchArea, Descriptor};
pub use key::Key;
pub use manifest::{Access, Capability, Kind, Manifest, MapKind, MapScope, MapSpec};

/// The version of this contract. A module built for another is refused.
pub const VERSION: u32 = 1;

/// The custom section that holds the [`Manifest`] as JSON.
pub const MANIFEST_SECTION: &str = "weft.manifest";

/// The window of a module whose manifest does not ask for another, in bytes.
pub const DEFAULT_WINDOW: u32 = 128;

/// The most bytes by which a window grows when the module grows a packet at its front.
pub const WINDOW_HEADROOM: u32 = 64;

/// The largest window that a manifest may ask for: a jumbo frame, in bytes.
pub const MAX_WINDOW: u32 = 9728;

/// What [`exports::INIT`] answers when the module is ready.
pub const INIT_OK: u64 = 0;

/// What a module exports, besides its memory.
pub mod exports {
    /// The linear memory.
    pub const MEMORY: &str = "memory";
    /// `() -> u32`: the version of this contract that the module was built for.
    pub const ABI_VERSION: &str = "weft_abi_version";
    /// `(length: u32) -> u32`: where the host may write `length` bytes; 0 if there is no room.
    pub const ALLOC: &str = "weft_alloc";
    /// `(config: u32, length: u32) -> u64`: [`INIT_OK`](super::INIT_OK), or a
    /// [packed](super::packed) message that says why the configuration was refused.
    pub const INIT: &str = "weft_init";
    /// `(packets: u32, window: u32) -> u32`: where the [batch area](super::BatchArea) lies; 0 if
    /// there is no room.
    pub const BATCH: &str = "weft_batch";
    /// `(n: u32)`: decides on the first `n` packets of the batch area.
    pub const PROCESS: &str = "weft_process";
    /// `(n: u32)`: says what the first `n` packets of the batch area are. Each window begins with a
    /// [`Key`](super::Key), behind which are the bytes that the manifest asks for. The module writes
    /// its answer into [`Descriptor::metadata`](super::Descriptor), the fields that it looked at
    /// into `argument` (bits of [`looked_at`](super::looked_at)) and
    /// [`NEXT`](super::verdict::NEXT) into `verdict`. A classifier has it in place of
    /// [`PROCESS`].
    pub const CLASSIFY: &str = "weft_classify";
    /// `() -> u32`: where the module's counters lie, one `u64` for each name in its manifest.
    /// Needed only if the manifest names counters.
    pub const COUNTERS: &str = "weft_counters";
    /// `() -> u32`: where the module's histograms lie, [`BUCKETS`](super::BUCKETS) of `u64` for
    /// each name in its manifest. Bucket 0 counts zeros; bucket `n` counts values from 2^(n-1)
    /// to 2^n - 1. Needed only if the manifest names histograms.
    pub const HISTOGRAMS: &str = "weft_histograms";
    /// `(now: u64)`: called between two batches, not more often than the manifest's `tick_ms`, with
    /// the time in nanoseconds. Optional.
    pub const TICK: &str = "weft_tick";
    /// `()`: called once when no packet comes any more, before the instance is freed: it may write
    /// what is to stay into maps. Optional.
    pub const DRAIN: &str = "weft_drain";
    /// `(map: u32, layout: u32, entry: u32, into: u32) -> u32`: makes an entry of a map's present
    /// layout (key, then value, at `into`) from one of an older layout at `entry`. Answers 1 if
    /// it is to be kept, 0 if not. Needed only if entries of an older layout are to be kept.
    pub const MIGRATE: &str = "weft_migrate";
}

/// The buckets of a histogram.
pub const BUCKETS: usize = 65;

/// What a module may import, all from the module [`MODULE`](imports::MODULE), if its manifest asks
/// for the [`Capability`] and the deployment grants it.
///
/// What answers an `i32` answers 0 or a count when it was done, and else a negative number of
/// [`error`]: a module's mistake about a packet or a map is no trap. Memory that is not the
/// module's is: a range that lies outside of it ends the call.
///
/// `packet` is the packet's place in the batch. What was done to a packet by these functions
/// stays done, so if the module fails on it, it is dropped, whatever the stage's policy says.
pub mod imports {
    /// The name that imports come from.
    pub const MODULE: &str = "weft";
    /// `(level: u32, text: u32, length: u32)`: hands a line of UTF-8 to the host's log. Lines are
    /// cut to [`MAX_LOG_LINE`] bytes, and what exceeds the host's rate is counted, not kept.
    pub const LOG: &str = "log";
    /// The longest line that is kept, in bytes.
    pub const MAX_LOG_LINE: usize = 240;
    /// `() -> u64`: nanoseconds on a clock that never goes back, the same during a call. By
    /// `time`.
    pub const TIME: &str = "time";
    /// `() -> u64`: any number. Not for secrets. By `random`.
    pub const RANDOM: &str = "random";
    /// `(packet: u32, offset: u32, into: u32, length: u32) -> i32`: copies bytes of the packet to
    /// `into`, from `offset` on, and answers how many there were. By `packet-read`.
    pub const PACKET_READ: &str = "packet_read";
    /// `(packet: u32, offset: u32, from: u32, length: u32) -> i32`: copies bytes into the packet,
    /// and into the window as far as it shows them. By `packet-write`.
    pub const PACKET_WRITE: &str = "packet_write";
    /// `(packet: u32, by: i32) -> i32`: grows the packet by so many zero bytes at its front, or
    /// trims it there if `by` is negative. The window, of which its descriptor tells, moves and
    /// grows or shrinks with it. By `adjust`.
    pub const ADJUST_HEAD: &str = "adjust_head";
    /// `(packet: u32, by: i32) -> i32`: the same at its end. By `adjust`.
    pub const ADJUST_TAIL: &str = "adjust_tail";
    /// `(from: u32, length: u32, verdict: u32, argument: u32, metadata: u64) -> i32`: makes a
    /// packet of `length` bytes, and sends it as the [verdict](super::verdict) says:
    /// [`OUTPUT`](super::verdict::OUTPUT) or [`GOTO`](super::verdict::GOTO). By `emit`.
    pub const EMIT: &str = "emit";
    /// `(packet: u32, verdict: u32, argument: u32, metadata: u64) -> i32`: sends a copy of the
    /// packet as it is now, window and all. By `emit`.
    pub const CLONE: &str = "clone";
    /// `(map: u32, key: u32, value: u32) -> i32`: copies the key's value to `value`. By `maps`, as
    /// all that follow. In a longest-prefix map, the key is looked up without prefix length.
    pub const MAP_LOOKUP: &str = "map_lookup";
    /// `(map: u32, count: u32, keys: u32, values: u32, found: u32) -> i32`: looks up `count` keys,
    /// one behind the other, of which each that is there has its value copied to its place in
    /// `values` and 1 written to its byte in `found`, others 0. Answers how many are there.
    pub const MAP_LOOKUP_BATCH: &str = "map_lookup_batch";
    /// `(map: u32, key: u32, value: u32, how: u32) -> i32`: writes an entry; see
    /// [`update`](super::update). The key of a longest-prefix map begins with its prefix length
    /// in bits, a `u32`.
    pub const MAP_UPDATE: &str = "map_update";
    /// `(map: u32, key: u32) -> i32`: removes an entry; an array's becomes zero.
    pub const MAP_DELETE: &str = "map_delete";
    /// `(map: u32, key: u32, offset: u32, by: u64) -> i32`: adds to the `u64` at `offset` in an
    /// entry's value, in one step that no other worker's divides. A missing entry is made, of
    /// zeros.
    pub const MAP_ADD: &str = "map_add";
}

/// What a host function answers that was not done.
pub mod error {
    /// There is no such entry.
    pub const NOT_FOUND: i32 = -1;
    /// The entry is there already.
    pub const EXISTS: i32 = -2;
    /// There is no room: the map is full, the packet has no room at this end, or no buffer is free.
    pub const NO_ROOM: i32 = -3;
    /// There is no such packet in this batch.
    pub const NO_PACKET: i32 = -4;
    /// There is no such map.
    pub const NO_MAP: i32 = -5;
    /// A number is out of range: an offset, a length, a prefix, a verdict, an index.
    pub const RANGE: i32 = -6;
    /// So much was done in this call already that no more is allowed.
    pub const LIMIT: i32 = -7;
}

/// How [`imports::MAP_UPDATE`] treats an entry that is there or is not.
pub mod update {
    /// It is written over, or made.
    pub const ANY: u32 = 0;
    /// It is made; [`EXISTS`](super::error::EXISTS) if it is there.
    pub const NEW: u32 = 1;
    /// It is written over; [`NOT_FOUND`](super::error::NOT_FOUND) if it is not there.
    pub const EXISTING: u32 = 2;
}

/// Which fields of a [`Key`] an answer of a classifier rests on: bits of
/// [`Descriptor::argument`]. A field that is not named may have any value for the same answer.
pub mod looked_at {
    /// The port.
    pub const IN_PORT: u32 = 1;
    /// The Ethernet destination.
    pub const ETH_DST: u32 = 1 << 1;
    /// The Ethernet source.
    pub const ETH_SRC: u32 = 1 << 2;
    /// The EtherType.
    pub const ETHERTYPE: u32 = 1 << 3;
    /// The VLAN tags.
    pub const VLAN: u32 = 1 << 4;
    /// The MPLS label.
    pub const MPLS: u32 = 1 << 5;
    /// The source address: of IP, or of ARP's sender.
    pub const IP_SRC: u32 = 1 << 6;
    /// The destination address: of IP, or of ARP's target.
    pub const IP_DST: u32 = 1 << 7;
    /// The IP protocol, or ARP's operation, and whether it is a fragment.
    pub const PROTOCOL: u32 = 1 << 8;
    /// DSCP and ECN.
    pub const TRAFFIC_CLASS: u32 = 1 << 9;
    /// TTL or hop limit.
    pub const TTL: u32 = 1 << 10;
    /// The source port, or the ICMP type.
    pub const L4_SRC: u32 = 1 << 11;
    /// The destination port, or the ICMP code.
    pub const L4_DST: u32 = 1 << 12;
    /// TCP's flags.
    pub const TCP_FLAGS: u32 = 1 << 13;
    /// The metadata that came with the packet.
    pub const METADATA: u32 = 1 << 14;
    /// All of them.
    pub const ALL: u32 = (1 << 15) - 1;
}

/// What a module answers, in [`Descriptor::verdict`].
pub mod verdict {
    /// The next action of the packet's program sees it.
    pub const NEXT: u32 = 0;
    /// It is dropped; the argument is an index into the manifest's drop reasons.
    pub const DROP: u32 = 1;
    /// It leaves by the port whose id is the argument.
    pub const OUTPUT: u32 = 2;
    /// It is looked up again, in the table whose number is the argument.
    pub const GOTO: u32 = 3;
    /// What the host writes before the call: the module has not decided.
    pub const UNDECIDED: u32 = u32::MAX;
}

/// Bits of [`Descriptor::flags`].
pub mod flags {
    /// Set by the module: the window was changed and is to be copied back.
    pub const DIRTY: u32 = 1;
}

/// Bits of [`Descriptor::traits`], set by the host.
pub mod traits {
    /// A fragment of an IP packet, first or later.
    pub const FRAGMENT: u8 = 1;
    /// A fragment that is not the first: it has no transport header.
    pub const LATER_FRAGMENT: u8 = 1 << 1;
}

/// An offset that is not there.
pub const NO_OFFSET: u16 = u16::MAX;

/// Two `u32`s in one `u64`: how [`exports::INIT`] answers with a message.
pub mod packed {
    /// Packs where a message lies and its length in bytes.
    #[must_use]
    pub const fn pack(pointer: u32, length: u32) -> u64 {
        (pointer as u64) << 32 | length as u64
    }

    /// Where the message lies, and its length in bytes.
    #[must_use]
    pub const fn unpack(packed: u64) -> (u32, u32) {
        let [a, b, c, d, e, f, g, h] = packed.to_be_bytes();
        (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]))
    }
}

/// Severities of [`imports::LOG`].
pub mod level {
    /// Something failed.
    pub const ERROR: u32 = 1;
    /// Something is odd.
    pub const WARN: u32 = 2;
    /// Something to know.
    pub const INFO: u32 = 3;
    /// Something for the author.
    pub const DEBUG: u32 = 4;
}

#[cfg(test)]
mod tests {
    use super::packed;

    #[test]
    fn a_packed_message_unpacks_to_itself() {
        assert_eq!(packed::unpack(packed::pack(0xdead_beef, 17)), (0xdead_beef, 17));
    }
}
