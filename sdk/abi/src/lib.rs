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
//! Whatever a module writes is read once, after the call, and checked. Numbers are little-endian,
//! as WebAssembly's are; packet bytes are in network order.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod descriptor;
mod manifest;

pub use descriptor::{BatchArea, Descriptor};
pub use manifest::{Kind, Manifest};

/// The version of this contract. A module built for another is refused.
pub const VERSION: u32 = 1;

/// The custom section that holds the [`Manifest`] as JSON.
pub const MANIFEST_SECTION: &str = "weft.manifest";

/// The window of a module whose manifest does not ask for another, in bytes.
pub const DEFAULT_WINDOW: u32 = 128;

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
    /// `() -> u32`: where the module's counters lie, one `u64` for each name in its manifest.
    /// Needed only if the manifest names counters.
    pub const COUNTERS: &str = "weft_counters";
}

/// What a module may import, all from the module [`MODULE`](imports::MODULE).
pub mod imports {
    /// The name that imports come from.
    pub const MODULE: &str = "weft";
    /// `(level: u32, text: u32, length: u32)`: hands a line of UTF-8 to the host's log. Lines are
    /// cut to [`MAX_LOG_LINE`] bytes, and what exceeds the host's rate is counted, not kept.
    pub const LOG: &str = "log";
    /// The longest line that is kept, in bytes.
    pub const MAX_LOG_LINE: usize = 240;
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
