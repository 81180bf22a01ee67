use std::{
    ffi::{CString, c_int},
    ptr::NonNull,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use crate::{Eal, Errno, Error, Mbuf, Result, log};

/// A fixed number of packet buffers. Clones are handles of the same pool; queues hold one.
///
/// A buffer holds a frame of up to [`Pool::ROOM`] bytes, with [`Pool::HEADROOM`] before it.
/// When the last handle is gone, the memory is kept for the next pool of the same shape, since
/// packets that are still on their way come back to it.
#[derive(Debug, Clone)]
pub struct Pool {
    lease: Arc<Lease>,
}

/// What a pool's memory is asked for by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    buffers: u32,
    cache: u32,
    numa_node: Option<u32>,
}

/// A pool of DPDK's.
///
/// Invariant: `raw` is never freed, so that a buffer always has a pool to return to.
#[derive(Debug, Clone, Copy)]
struct Memory {
    raw: NonNull<dpdk_sys::rte_mempool>,
    shape: Shape,
}

// SAFETY: DPDK's pools may be used by several threads at once.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// The right to take buffers from a pool of DPDK's, which is in `IDLE` otherwise.
#[derive(Debug)]
struct Lease {
    name: String,
    memory: Memory,
}

static IDLE: Mutex<Vec<Memory>> = Mutex::new(Vec::new());

impl Pool {
    /// How long a frame may be that comes from a device.
    pub const ROOM: u16 = constant(dpdk_sys::DP_BUFFER_SIZE - dpdk_sys::DP_HEADROOM);

    /// How many bytes a frame from a device can be grown by at its front.
    pub const HEADROOM: u16 = constant(dpdk_sys::DP_HEADROOM);

    /// Makes a pool of so many buffers, best one less than a power of two. Each registered thread keeps
    /// up to 1.5 times `cache` of them to itself. `numa_node` says where its memory lies; without
    /// hugepages there is node 0 only.
    ///
    /// # Errors
    ///
    /// If there is not that much memory, or the cache is too large.
    pub fn new(
        eal: &Eal,
        name: &str,
        buffers: u32,
        cache: u32,
        numa_node: Option<u32>,
    ) -> Result<Self> {
        let limit = dpdk_sys::DP_CACHE_LIMIT.min(buffers / 3 * 2);
        if cache > limit {
            return Err(Error::Cache { cache, buffers, limit });
        }
        let shape = Shape { buffers, cache, numa_node };
        let memory = match Memory::take_idle(shape) {
            Some(memory) => memory,
            None => Memory::reserve(eal, name, shape)?,
        };
        Ok(Self { lease: Arc::new(Lease { name: name.to_owned(), memory }) })
    }

    /// The name it was made with.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.lease.name
    }

    /// About how much memory a pool of so many buffers takes.
    #[must_use]
    pub fn megabytes(buffers: u32) -> u64 {
        (u64::from(buffers) * BYTES_PER_BUFFER).div_ceil(1 << 20)
    }

    /// How many buffers it has.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.lease.memory.shape.buffers
    }

    /// How many buffers are neither with a device nor a packet. It walks all threads' caches.
    #[must_use]
    pub fn free_count(&self) -> u32 {
        self.lease.memory.free_count()
    }

    /// A packet with these bytes; `None` if no buffer is free or they do not fit one.
    #[must_use]
    pub fn allocate_from(&self, frame: &[u8]) -> Option<Mbuf> {
        let length = u16::try_from(frame.len()).ok().filter(|&length| length <= Self::ROOM)?;
        // SAFETY: the pool is alive, by Memory's invariant.
        let raw = NonNull::new(unsafe { dpdk_sys::dp_mbuf_alloc(self.raw()) })?;
        // SAFETY: a buffer fresh from a pool is single-segment, and nobody else has it.
        let mut mbuf = unsafe { Mbuf::from_raw(raw) };
        mbuf.fill(frame, length);
        Some(mbuf)
    }

    pub(crate) fn raw(&self) -> *mut dpdk_sys::rte_mempool {
        self.lease.memory.raw.as_ptr()
    }
}

impl Memory {
    /// One that was used before and has all its buffers back.
    fn take_idle(shape: Shape) -> Option<Self> {
        let mut idle = idle();
        let fits = |memory: &Self| memory.shape == shape && memory.free_count() == shape.buffers;
        let place = idle.iter().position(fits)?;
        Some(idle.swap_remove(place))
    }

    fn reserve(_eal: &Eal, name: &str, shape: Shape) -> Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let unique = CString::new(format!("weft-{number}")).expect("it holds no NUL");
        let node = shape.numa_node.map_or(-1, |node| c_int::try_from(node).unwrap_or(c_int::MAX));

        let (raw, log) = log::capture(|| {
            // SAFETY: the EAL runs, and DPDK copies the name.
            unsafe { dpdk_sys::dp_pool_create(unique.as_ptr(), shape.buffers, shape.cache, node) }
        });
        let raw = NonNull::new(raw).ok_or_else(|| Error::Pool {
            name: name.to_owned(),
            buffers: shape.buffers,
            megabytes: Pool::megabytes(shape.buffers),
            numa_node: shape.numa_node,
            errno: Errno::last(),
            log,
        })?;
        Ok(Self { raw, shape })
    }

    fn free_count(&self) -> u32 {
        // SAFETY: the pool is alive, by the invariant.
        unsafe { dpdk_sys::rte_mempool_avail_count(self.raw.as_ptr()) }
    }
}

const fn constant(number: u32) -> u16 {
    assert!(number < 1 << 16, "DPDK keeps a buffer's length in 16 bits");
    (number & 0xffff) as u16
}

/// With DPDK's header, padding and the object's place in the pool's ring.
const BYTES_PER_BUFFER: u64 = dpdk_sys::DP_BUFFER_SIZE as u64 + 256;

impl Drop for Lease {
    fn drop(&mut self) {
        idle().push(self.memory);
    }
}

fn idle() -> MutexGuard<'static, Vec<Memory>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}
