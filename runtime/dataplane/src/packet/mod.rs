//! Packets: their bytes, and the headers in them.

mod buffer;
pub mod checksum;
pub(crate) mod crc32c;
pub(crate) mod ethertype;
mod headers;
mod parse;

pub use buffer::Buffer;
pub use headers::{Fragment, Headers};
pub(crate) use parse::protocol;
pub use parse::{Parsed, parse};

/// One frame, from the first byte of its Ethernet header, without its check sequence.
pub trait Packet: Send + Sized {
    /// The frame.
    fn bytes(&self) -> &[u8];

    /// The frame, to be changed.
    fn bytes_mut(&mut self) -> &mut [u8];

    /// Grows the frame by `count` bytes at its front, whose content is not defined, and returns
    /// the whole. `None` leaves it as it was: the buffer has no such room.
    fn push_front(&mut self, count: usize) -> Option<&mut [u8]>;

    /// Shortens the frame by `count` bytes at its front and returns the rest. `None` leaves it as
    /// it was: it is not that long.
    fn pull_front(&mut self, count: usize) -> Option<&mut [u8]>;

    /// Grows the frame by `count` bytes at its end, whose content is not defined, and returns the
    /// whole. `None` leaves it as it was: the buffer has no such room.
    fn push_back(&mut self, count: usize) -> Option<&mut [u8]>;

    /// Shortens the frame by `count` bytes at its end and returns the rest. `None` leaves it as it
    /// was: it is not that long.
    fn pull_back(&mut self, count: usize) -> Option<&mut [u8]>;

    /// A second packet with the same bytes; `None` if there is no buffer for it.
    fn duplicate(&self) -> Option<Self>;

    /// A new packet of `length` bytes, whose content is not defined, from where this one's buffer
    /// came; `None` if there is no buffer for it.
    fn fresh(&self, length: usize) -> Option<Self>;

    /// Asks the processor to fetch the first bytes, which are about to be read.
    fn prefetch(&self) {}
}
