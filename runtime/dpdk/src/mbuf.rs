use std::{mem, ptr::NonNull, slice};

use dataplane::Packet;
use dpdk_sys::{
    DP_MBUF_BUF_ADDR, DP_MBUF_BUF_LEN, DP_MBUF_DATA_LEN, DP_MBUF_DATA_OFF, DP_MBUF_NB_SEGS,
    DP_MBUF_PKT_LEN,
};

/// One packet in a buffer of a [`Pool`](crate::Pool), which gets the buffer back on drop.
///
/// Invariant: `raw` is a live buffer of one segment that nothing else points to, and
/// `data_off + data_len` is within it. A queue lets buffers of more segments exist only until it
/// has looked at them.
#[derive(Debug)]
#[repr(transparent)]
pub struct Mbuf {
    raw: NonNull<dpdk_sys::rte_mbuf>,
}

// SAFETY: the buffer has one owner, and its pool takes it back from any thread.
unsafe impl Send for Mbuf {}
// SAFETY: a shared reference only reads.
unsafe impl Sync for Mbuf {}

impl Mbuf {
    /// Takes ownership of a buffer.
    ///
    /// # Safety
    ///
    /// The type's invariant holds.
    pub(crate) unsafe fn from_raw(raw: NonNull<dpdk_sys::rte_mbuf>) -> Self {
        Self { raw }
    }

    /// How many segments it has: one, unless a driver has just made it.
    #[inline]
    pub(crate) fn segments(&self) -> u16 {
        // SAFETY: nb_segs is a u16.
        unsafe { self.read(DP_MBUF_NB_SEGS) }
    }

    /// The bytes of all segments.
    pub(crate) fn total_length(&self) -> u32 {
        // SAFETY: pkt_len is a u32.
        unsafe { self.read(DP_MBUF_PKT_LEN) }
    }

    /// Makes the frame these bytes, which are `length` and have room.
    pub(crate) fn fill(&mut self, frame: &[u8], length: u16) {
        assert!(length <= crate::Pool::ROOM && usize::from(length) == frame.len());
        self.set_place(crate::Pool::HEADROOM, length);
        self.bytes_mut().copy_from_slice(frame);
    }

    /// Reads the field at one of the `DP_MBUF_*` offsets.
    ///
    /// # Safety
    ///
    /// `T` is the type of the field at `offset`.
    #[inline]
    unsafe fn read<T: Copy>(&self, offset: u32) -> T {
        // SAFETY: the buffer is alive, and the caller names a field of it.
        unsafe { self.raw.byte_add(offset as usize).cast::<T>().read() }
    }

    /// Writes the field at one of the `DP_MBUF_*` offsets.
    ///
    /// # Safety
    ///
    /// `T` is the type of the field at `offset`, and the invariant holds afterwards.
    #[inline]
    unsafe fn write<T: Copy>(&mut self, offset: u32, value: T) {
        // SAFETY: the buffer is alive and ours, and the caller names a field of it.
        unsafe { self.raw.byte_add(offset as usize).cast::<T>().write(value) }
    }

    #[inline]
    fn length(&self) -> u16 {
        // SAFETY: data_len is a u16.
        unsafe { self.read(DP_MBUF_DATA_LEN) }
    }

    /// Where the frame starts in its buffer.
    #[inline]
    fn offset(&self) -> u16 {
        // SAFETY: data_off is a u16.
        unsafe { self.read(DP_MBUF_DATA_OFF) }
    }

    /// The bytes of its buffer, with all room in it.
    #[inline]
    fn capacity(&self) -> u16 {
        // SAFETY: buf_len is a u16.
        unsafe { self.read(DP_MBUF_BUF_LEN) }
    }

    /// Moves the frame's ends. They lie within the buffer.
    #[inline]
    fn set_place(&mut self, offset: u16, length: u16) {
        // SAFETY: data_off and data_len are u16, pkt_len is a u32 and equal to data_len in a
        // single segment; callers keep the place within the buffer.
        unsafe {
            self.write(DP_MBUF_DATA_OFF, offset);
            self.write(DP_MBUF_DATA_LEN, length);
            self.write(DP_MBUF_PKT_LEN, u32::from(length));
        }
    }

    #[inline]
    fn start(&self) -> *mut u8 {
        // SAFETY: buf_addr is a pointer.
        let buffer: *mut u8 = unsafe { self.read(DP_MBUF_BUF_ADDR) };
        // SAFETY: data_off lies within the buffer, by the invariant.
        unsafe { buffer.add(usize::from(self.offset())) }
    }
}

impl Packet for Mbuf {
    #[inline]
    fn bytes(&self) -> &[u8] {
        // SAFETY: data_len bytes from the start are within the buffer, by the invariant.
        // SAFETY: as self is the one owner, nobody writes them while the borrow lasts.
        unsafe { slice::from_raw_parts(self.start(), usize::from(self.length())) }
    }

    #[inline]
    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and the borrow is exclusive.
        unsafe { slice::from_raw_parts_mut(self.start(), usize::from(self.length())) }
    }

    #[inline]
    fn push_front(&mut self, count: usize) -> Option<&mut [u8]> {
        let count = u16::try_from(count).ok()?;
        let offset = self.offset().checked_sub(count)?;
        let length = self.length().checked_add(count)?;
        self.set_place(offset, length);
        Some(self.bytes_mut())
    }

    #[inline]
    fn pull_front(&mut self, count: usize) -> Option<&mut [u8]> {
        let count = u16::try_from(count).ok()?;
        let length = self.length().checked_sub(count)?;
        // It cannot overflow, as the old end is within a buffer of at most u16::MAX bytes.
        self.set_place(self.offset() + count, length);
        Some(self.bytes_mut())
    }

    #[inline]
    fn push_back(&mut self, count: usize) -> Option<&mut [u8]> {
        let length = self.length().checked_add(u16::try_from(count).ok()?)?;
        let end = self.offset().checked_add(length)?;
        if end > self.capacity() {
            return None;
        }
        self.set_place(self.offset(), length);
        Some(self.bytes_mut())
    }

    #[inline]
    fn pull_back(&mut self, count: usize) -> Option<&mut [u8]> {
        let length = self.length().checked_sub(u16::try_from(count).ok()?)?;
        self.set_place(self.offset(), length);
        Some(self.bytes_mut())
    }

    /// Takes the buffer from the same pool, and copies what the driver said of the packet too. An
    /// empty packet has no duplicate.
    fn duplicate(&self) -> Option<Self> {
        // SAFETY: the buffer is alive and of one segment, by the invariant.
        let copy = NonNull::new(unsafe { dpdk_sys::dp_mbuf_duplicate(self.raw.as_ptr()) })?;
        // SAFETY: the copy is fresh from a pool, of one segment, and nobody else has it.
        Some(unsafe { Self::from_raw(copy) })
    }

    fn fresh(&self, length: usize) -> Option<Self> {
        let length = u16::try_from(length).ok()?;
        // SAFETY: the buffer is alive, by the invariant, and so is its pool.
        let raw = NonNull::new(unsafe { dpdk_sys::dp_mbuf_fresh(self.raw.as_ptr()) })?;
        // SAFETY: a buffer fresh from a pool is of one segment, and nobody else has it.
        let mut packet = unsafe { Self::from_raw(raw) };
        packet.push_back(usize::from(length))?;
        Some(packet)
    }

    #[inline]
    fn prefetch(&self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch has no effect but on the cache, for whatever address.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(self.start().cast_const().cast());
        }
    }
}

impl Drop for Mbuf {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: self is the one owner, and the pool is never freed.
        unsafe { dpdk_sys::dp_mbuf_free(self.raw.as_ptr()) }
    }
}

/// Forgets the first `count` packets of a burst, which a device has taken.
///
/// They are gone from `burst`, and their buffers are not freed.
#[inline]
pub(crate) fn forget_front(burst: &mut Vec<Mbuf>, count: usize) {
    burst.drain(..count).for_each(mem::forget);
}
