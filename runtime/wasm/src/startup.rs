//! From a compiled module to an instance that is ready for packets.

use std::sync::Arc;

use wasmtime::{
    Instance as Handle, Memory, Store, StoreLimits, StoreLimitsBuilder, Trap, TypedFunc,
    WasmBacktrace, WasmParams, WasmResults,
};
use weft_abi::{BatchArea, INIT_OK, Kind, VERSION, exports, packed};

use crate::{
    allowance::{Allowance, FIRST_LOOK},
    deployment::Limits,
    inspect::{TABLE_ELEMENTS, TABLES},
    instance::{Guest, Instance},
    instantiate_error::InstantiateError,
    memory::slice_of,
    module::Module,
    stats::StageStats,
    text::printable,
    ticker::Ticker,
};

/// The longest message of a module that refuses its configuration, in bytes.
const LONGEST_MESSAGE: usize = 1024;
/// The smallest page of memory that a system has, in bytes.
const SMALLEST_PAGE: usize = 4096;
/// What is not inside of a function that the host called.
const INSTANTIATION: &str = "its start function or its data segments";

/// All that an instance is made from, any number of times.
pub(crate) struct Plan {
    pub(crate) module: Arc<Module>,
    /// As JSON.
    pub(crate) config: Vec<u8>,
    pub(crate) limits: Limits,
    pub(crate) shape: BatchArea,
    pub(crate) stats: Arc<StageStats>,
    pub(crate) ticker: Arc<Ticker>,
}

impl Plan {
    /// Makes an instance and takes it through all that the ABI has before the first packet, under
    /// one deadline. A batch of no packet at its end is the first that it runs.
    pub(crate) fn instantiate(&self) -> Result<Instance, InstantiateError> {
        let mut store = Store::new(self.module.pre().module().engine(), self.guest());
        store.limiter(|guest| &mut guest.limits);
        store.epoch_deadline_callback(|mut store| Ok(store.data_mut().overdue()));
        store.set_epoch_deadline(FIRST_LOOK);
        let handle = self
            .module
            .pre()
            .instantiate(&mut store)
            .map_err(|error| self.failed(INSTANTIATION, &error))?;
        let memory = handle
            .get_memory(&mut store, exports::MEMORY)
            .ok_or_else(|| InstantiateError::Host("its memory is gone".into()))?;
        Startup { plan: self, store, handle, memory }.run()
    }

    fn guest(&self) -> Guest {
        Guest {
            limits: self.store_limits(),
            stats: Arc::clone(&self.stats),
            ticker: Arc::clone(&self.ticker),
            allowance: Allowance::new(self.limits.start_deadline),
        }
    }

    fn store_limits(&self) -> StoreLimits {
        StoreLimitsBuilder::new()
            .memory_size(self.limits.memory_bytes)
            .memories(1)
            .table_elements(TABLE_ELEMENTS)
            .tables(TABLES)
            .instances(1)
            .build()
    }

    fn failed(&self, step: &'static str, error: &wasmtime::Error) -> InstantiateError {
        match error.downcast_ref() {
            Some(Trap::Interrupt) => {
                InstantiateError::Deadline { step, limit: self.limits.start_deadline }
            }
            None if error.downcast_ref::<WasmBacktrace>().is_none() => {
                InstantiateError::Host(format!("{error:#}"))
            }
            _ => InstantiateError::Trap { step, message: cause(error) },
        }
    }
}

/// What the host calls for a batch.
pub(crate) fn entry(kind: Kind) -> &'static str {
    match kind {
        Kind::Stage => exports::PROCESS,
        Kind::Classifier => exports::CLASSIFY,
    }
}

/// Has every page of a memory be there, so that none is first touched on the packet path.
fn touch(memory: &mut [u8]) {
    for byte in memory.iter_mut().step_by(SMALLEST_PAGE) {
        *byte = std::hint::black_box(*byte);
    }
}

/// What a failed call came from, without its backtrace.
pub(crate) fn cause(error: &wasmtime::Error) -> String {
    printable(error.root_cause().to_string().as_bytes())
}

/// An instance on its way.
struct Startup<'a> {
    plan: &'a Plan,
    store: Store<Guest>,
    handle: Handle,
    memory: Memory,
}

impl Startup<'_> {
    fn run(mut self) -> Result<Instance, InstantiateError> {
        let found = self.call::<(), u32>(exports::ABI_VERSION, ())?;
        if found != VERSION {
            return Err(InstantiateError::AbiVersion { found });
        }
        self.configure()?;
        let area = self.place_batch()?;
        let counters = self.place_counters()?;
        let entry = entry(self.plan.module.manifest().kind);
        self.call::<u32, ()>(entry, 0)?;
        let process = self.function(entry)?;
        let Self { plan, mut store, memory, .. } = self;
        store.data_mut().allowance = Allowance::new(plan.limits.deadline);
        touch(memory.data_mut(&mut store));
        Ok(Instance { store, memory, process, shape: plan.shape, area, counters })
    }

    fn configure(&mut self) -> Result<(), InstantiateError> {
        let config = &self.plan.config;
        let length = u32::try_from(config.len()).map_err(|_| InstantiateError::Option {
            what: "the configuration's length as JSON",
            value: config.len().to_string(),
            range: format!("at most {} bytes", u32::MAX),
        })?;
        let place = Place { what: "configuration", bytes: config.len(), function: exports::ALLOC };
        let address = self.call::<u32, u32>(exports::ALLOC, length)?;
        if address == 0 && length > 0 {
            return Err(self.no_room(place));
        }
        self.check(place, address)?;
        self.memory.data_mut(&mut self.store)[address as usize..][..config.len()]
            .copy_from_slice(config);
        match self.call::<(u32, u32), u64>(exports::INIT, (address, length))? {
            INIT_OK => Ok(()),
            message => Err(InstantiateError::Refused(self.message(message))),
        }
    }

    /// What the module says of a configuration that it refused.
    fn message(&self, message: u64) -> String {
        let (address, length) = packed::unpack(message);
        let length = (length as usize).min(LONGEST_MESSAGE);
        match slice_of(self.memory.data(&self.store), address, length) {
            Some(text) => printable(text),
            None => "(its message lies outside of its memory)".into(),
        }
    }

    fn place_batch(&mut self) -> Result<u32, InstantiateError> {
        let shape = self.plan.shape;
        let place = Place { what: "packets", bytes: shape.size(), function: exports::BATCH };
        let address =
            self.call::<(u32, u32), u32>(exports::BATCH, (shape.packets, shape.window))?;
        if address == 0 {
            return Err(self.no_room(place));
        }
        self.check_alignment(place, address, BatchArea::ALIGNMENT)?;
        self.check(place, address)?;
        // So that no page of it is first touched on the packet path.
        self.memory.data_mut(&mut self.store)[address as usize..][..place.bytes].fill(0);
        Ok(address)
    }

    fn place_counters(&mut self) -> Result<Option<u32>, InstantiateError> {
        let counters = self.plan.module.manifest().counters.len();
        if counters == 0 {
            return Ok(None);
        }
        let bytes = counters * size_of::<u64>();
        let place = Place { what: "counters", bytes, function: exports::COUNTERS };
        let address = self.call::<(), u32>(exports::COUNTERS, ())?;
        self.check_alignment(place, address, align_of::<u64>())?;
        self.check(place, address)?;
        Ok(Some(address))
    }

    fn function<P: WasmParams, R: WasmResults>(
        &mut self,
        name: &'static str,
    ) -> Result<TypedFunc<P, R>, InstantiateError> {
        self.handle
            .get_typed_func(&mut self.store, name)
            .map_err(|error| InstantiateError::Host(format!("{error:#}")))
    }

    fn call<P: WasmParams, R: WasmResults>(
        &mut self,
        name: &'static str,
        parameters: P,
    ) -> Result<R, InstantiateError> {
        self.function::<P, R>(name)?
            .call(&mut self.store, parameters)
            .map_err(|error| self.plan.failed(name, &error))
    }

    fn no_room(&self, place: Place) -> InstantiateError {
        let Place { what, bytes, function } = place;
        InstantiateError::NoRoom { what, bytes, function, limit: self.plan.limits.memory_bytes }
    }

    fn check(&self, place: Place, address: u32) -> Result<(), InstantiateError> {
        let data = self.memory.data(&self.store);
        if slice_of(data, address, place.bytes).is_some() {
            return Ok(());
        }
        let Place { what, bytes, function } = place;
        Err(InstantiateError::OutsideMemory { what, bytes, function, address, memory: data.len() })
    }

    fn check_alignment(
        &self,
        Place { what, function, .. }: Place,
        address: u32,
        alignment: usize,
    ) -> Result<(), InstantiateError> {
        if (address as usize).is_multiple_of(alignment) {
            return Ok(());
        }
        Err(InstantiateError::Misaligned { what, function, address, alignment })
    }
}

/// Something that the module is to have a place for.
#[derive(Clone, Copy)]
struct Place {
    what: &'static str,
    bytes: usize,
    function: &'static str,
}
