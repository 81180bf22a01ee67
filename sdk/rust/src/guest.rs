//! The boundary to the host, on Wasm only. For [`export!`](crate::export).

use alloc::vec::Vec;
use core::{
    cell::{RefCell, RefMut},
    slice,
    sync::atomic::{Ordering, compiler_fence},
};

use weft_abi::{BatchArea, Descriptor, INIT_OK, Key, MAX_WINDOW, packed, verdict};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

use crate::{
    Classifier, ConfigError, Counters, Level, Names, Packet, Stage, Verdict, View, config::read,
};

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

#[cfg(target_feature = "atomics")]
compile_error!("a module lives in one thread: build it without the target feature `atomics`");

#[panic_handler]
fn panic(_info: &core::panic::PanicInfo<'_>) -> ! {
    #[cfg(feature = "panic-log")]
    crate::log!(Error, "{_info}");
    core::arch::wasm32::unreachable()
}

/// Hands a line to the host's log.
pub(crate) fn log(level: Level, line: &str) {
    mod host {
        #[link(wasm_import_module = "weft")]
        unsafe extern "C" {
            /// Reads `length` bytes at `text` before it returns.
            pub(super) fn log(level: u32, text: *const u8, length: usize);
        }
    }
    // SAFETY: the bytes are there to be read, and the host keeps no pointer to them.
    unsafe { host::log(level as u32, line.as_ptr(), line.len()) }
}

/// What a module is, as the host calls it.
pub trait Runs: Sized {
    /// Makes it from its configuration as JSON.
    ///
    /// # Errors
    ///
    /// If the configuration makes no sense.
    fn configure(json: &[u8]) -> Result<Self, ConfigError>;

    /// Writes into the descriptor what it says of a packet.
    fn run(&mut self, descriptor: &mut Descriptor, window: &mut [u8]);
}

/// A stage and what it counts.
pub struct Deciding<S: Stage> {
    stage: S,
    counters: Counters<S::Counter>,
}

impl<S: Stage> Runs for Deciding<S> {
    fn configure(json: &[u8]) -> Result<Self, ConfigError> {
        Ok(Self { stage: S::new(read(json)?)?, counters: Counters::new() })
    }

    #[inline(always)]
    fn run(&mut self, descriptor: &mut Descriptor, window: &mut [u8]) {
        let verdict = self.stage.process(&mut Packet::new(descriptor, window), &mut self.counters);
        (descriptor.verdict, descriptor.argument) = encode(verdict);
    }
}

/// A classifier.
pub struct Classifying<C>(C);

impl<C: Classifier> Runs for Classifying<C> {
    fn configure(json: &[u8]) -> Result<Self, ConfigError> {
        Ok(Self(C::new(read(json)?)?))
    }

    #[inline(always)]
    fn run(&mut self, descriptor: &mut Descriptor, window: &mut [u8]) {
        let (key, bytes) = Key::ref_from_prefix(window).expect("a window begins with the key");
        let mut view = View::new(key, bytes);
        descriptor.metadata = self.0.classify(&mut view);
        (descriptor.verdict, descriptor.argument) = (verdict::NEXT, view.looked_at());
    }
}

/// Where the module keeps its [`Guest`].
pub struct Slot<R: Runs>(RefCell<Guest<R>>);

// SAFETY: a module lives in one thread.
unsafe impl<R: Runs> Sync for Slot<R> {}

impl<R: Runs> Slot<R> {
    /// Before the host's first call.
    #[must_use]
    pub const fn new() -> Self {
        Self(RefCell::new(Guest {
            config: Vec::new(),
            refusal: None,
            runs: None,
            area: Vec::new(),
            packets: 0,
        }))
    }

    /// For one call.
    pub fn borrow_mut(&self) -> RefMut<'_, Guest<R>> {
        self.0.borrow_mut()
    }
}

impl<R: Runs> Default for Slot<R> {
    fn default() -> Self {
        Self::new()
    }
}

/// What a module keeps between calls.
pub struct Guest<R: Runs> {
    config: Vec<u8>,
    refusal: Option<ConfigError>,
    runs: Option<R>,
    area: Vec<CacheLine>,
    packets: usize,
}

/// What a batch area is made of, since it is aligned so.
#[derive(Clone, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
struct CacheLine([u8; BatchArea::ALIGNMENT]);

impl<R: Runs> Guest<R> {
    /// Makes room for the configuration.
    pub fn alloc(&mut self, length: u32) -> u32 {
        let length = length as usize;
        self.config = Vec::new();
        if self.config.try_reserve_exact(length).is_err() {
            return 0;
        }
        self.config.resize(length, 0);
        address(self.config.as_ptr())
    }

    /// Makes the stage or classifier.
    pub fn init(&mut self, config: u32, length: u32) -> u64 {
        let made = match self.config.get(..length as usize) {
            Some(json) if config == address(json.as_ptr()) => R::configure(json),
            _ => Err(ConfigError::new("weft_init was not given what weft_alloc returned")),
        };
        self.config = Vec::new();
        match made {
            Ok(runs) => {
                self.runs = Some(runs);
                INIT_OK
            }
            Err(error) => {
                let message = self.refusal.insert(error).message();
                packed::pack(address(message.as_ptr()), size(message.len()))
            }
        }
    }

    /// Makes the batch area.
    pub fn batch(&mut self, shape: BatchArea) -> u32 {
        let BatchArea { packets, window } = shape;
        self.area = Vec::new();
        self.packets = 0;
        if packets > u16::MAX.into() || window > MAX_WINDOW {
            return 0;
        }
        let lines = shape.size() / BatchArea::ALIGNMENT;
        if self.area.try_reserve_exact(lines).is_err() {
            return 0;
        }
        self.area.resize(lines, CacheLine::new_zeroed());
        self.packets = packets as usize;
        address(self.area.as_ptr())
    }

    /// Decides on the first packets of the batch area.
    pub fn process(&mut self, n: u32) {
        let runs = self.runs.as_mut().expect("the host calls weft_init first");
        let n = n as usize;
        assert!(n <= self.packets, "the host processes no more packets than it announced");
        let (descriptors, _) =
            <[Descriptor]>::mut_from_prefix_with_elems(self.area.as_mut_bytes(), n)
                .expect("the area has room for its packets");
        for descriptor in descriptors {
            // SAFETY: the host says where the packet's window lies in this memory. No two windows
            // and no descriptor overlap, and nothing else here refers to a window.
            let window = unsafe { window(descriptor) };
            runs.run(descriptor, window);
            // The host blames the first undecided packet for a trap: what was said of this one is
            // written before the next one is looked at.
            compiler_fence(Ordering::SeqCst);
        }
    }
}

impl<S: Stage> Guest<Deciding<S>> {
    /// Where the counters lie.
    pub fn counters(&mut self) -> u32 {
        let deciding = self.runs.as_ref().expect("the host calls weft_init first");
        address(deciding.counters.values().as_ptr())
    }
}

/// The packet's window.
///
/// # Safety
///
/// The descriptor says where a window lies in this memory, and nothing else refers to it while the
/// answer lives.
#[inline(always)]
unsafe fn window<'a>(descriptor: &Descriptor) -> &'a mut [u8] {
    let start = core::ptr::with_exposed_provenance_mut(descriptor.data as usize);
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts_mut(start, descriptor.data_length as usize) }
}

/// A verdict and its argument.
#[inline(always)]
fn encode<R: Names>(verdict: Verdict<R>) -> (u32, u32) {
    match verdict {
        Verdict::Next => (verdict::NEXT, 0),
        Verdict::Drop(reason) => (verdict::DROP, reason.index()),
        Verdict::Output(port) => (verdict::OUTPUT, port.0.into()),
        Verdict::Goto(table) => (verdict::GOTO, table.0.into()),
    }
}

/// A pointer, as the host sees it.
fn address<T>(pointer: *const T) -> u32 {
    size(pointer.expose_provenance())
}

fn size(size: usize) -> u32 {
    u32::try_from(size).expect("wasm32 has 32 bits")
}
