use std::{io, path::PathBuf, sync::Arc, time::Duration};

use wasmtime::{Caller, Config, Engine, Linker, OptLevel};
use weft_abi::imports;

use crate::{
    bell::Bell,
    compile::{Cache, CacheError, CompileLimits, Compiler, Workshop},
    instance::Guest,
    logs::Level,
    memory::slice_of,
    nursery::Nursery,
    ticker::Ticker,
};

/// What holds for all modules of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostOptions {
    /// How often modules are looked at for having overrun: what a deadline is exact to.
    pub tick: Duration,
    /// The most bytes of an uploaded module.
    pub module_bytes: usize,
    /// The most memory that any stage may have, whatever its own limit says.
    pub memory_bytes: usize,
    /// The stack of a module, in bytes; every thread that runs stages needs more than that.
    pub stack_bytes: usize,
    /// Where modules are compiled.
    pub compiler: Compiler,
    /// What they may take for that.
    pub compile: CompileLimits,
    /// The folder where compiled modules are kept, if they are.
    pub cache: Option<PathBuf>,
}

impl Default for HostOptions {
    fn default() -> Self {
        Self {
            tick: Duration::from_millis(1),
            module_bytes: 16 << 20,
            memory_bytes: 1 << 30,
            stack_bytes: 512 << 10,
            compiler: Compiler::default(),
            compile: CompileLimits::default(),
            cache: None,
        }
    }
}

/// Why there is no host.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// An option is out of its range.
    #[error("the host option `{option}` is {value}; it must be {range}")]
    Option {
        /// Which.
        option: &'static str,
        /// What it is.
        value: String,
        /// What it may be.
        range: &'static str,
    },
    /// The processor or the system lacks what compiled modules need.
    #[error("the WebAssembly engine cannot run here: {0}")]
    Engine(String),
    /// A thread could not be started.
    #[error("a thread of the WebAssembly host could not be started: {0}")]
    Thread(#[from] io::Error),
    /// Compiled modules cannot be kept where they are to be.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

/// The WebAssembly engine of the process, with the thread that keeps deadlines and the one that
/// replaces instances. Stages outlive it, but get no new instances then.
pub struct Host {
    pub(crate) options: HostOptions,
    pub(crate) engine: Engine,
    pub(crate) linker: Linker<Guest>,
    pub(crate) ticker: Arc<Ticker>,
    pub(crate) nursery: Nursery,
    pub(crate) workshop: Workshop,
}

impl Host {
    /// Starts the engine. One for a process is meant: it handles signals for all of it, so it
    /// comes after DPDK's initialisation. Its threads run where the caller may run, which must be
    /// other cores than the workers': a deadline is kept only if the ticker gets its turn.
    ///
    /// # Errors
    ///
    /// An option out of range, or a system that lacks what is needed.
    pub fn new(options: HostOptions) -> Result<Self, HostError> {
        if !(Duration::from_micros(10)..=Duration::from_secs(1)).contains(&options.tick) {
            let value = format!("{:?}", options.tick);
            return Err(HostError::Option { option: "tick", value, range: "10 us to 1 s" });
        }
        let failed = |error: wasmtime::Error| HostError::Engine(format!("{error:#}"));
        let engine = Engine::new(&config(&options)).map_err(failed)?;
        let mut linker = Linker::new(&engine);
        linker.func_wrap(imports::MODULE, imports::LOG, log).map_err(failed)?;
        let bell = Arc::new(Bell::default());
        let ticker = Ticker::start(engine.clone(), options.tick, Arc::clone(&bell))?;
        let nursery = Nursery::start(bell)?;
        let cache = options.cache.as_deref().map(Cache::open).transpose()?;
        let (compiler, limits) = (options.compiler.clone(), options.compile);
        let workshop = Workshop { compiler, limits, cache: cache.map(Arc::new) };
        Ok(Self { options, engine, linker, ticker: Arc::new(ticker), nursery, workshop })
    }

    /// Does for the calling thread what its first call into a module would else do, which takes a
    /// hundred times as long as a call. For every worker, before it polls.
    pub fn prepare_thread() {
        Engine::tls_eager_initialize();
        touch_stack(HostOptions::default().stack_bytes / STACK_STEP);
    }
}

/// The bytes of stack that one step of [`touch_stack`] touches.
const STACK_STEP: usize = 4096;

/// Has so many steps of the stack be there: modules run on the stack of their thread.
#[inline(never)]
fn touch_stack(steps: usize) {
    let mut page = [0_u8; STACK_STEP];
    std::hint::black_box(&mut page);
    if steps > 0 {
        touch_stack(steps - 1);
    }
    // After the call, so that it is no loop.
    std::hint::black_box(&mut page);
}

/// 4 GiB of addresses for each memory, so that no access needs a bounds check; nothing of the
/// feature list that a packet module has no use for.
pub(crate) fn config(options: &HostOptions) -> Config {
    let mut config = Config::new();
    config
        .cranelift_opt_level(OptLevel::Speed)
        .epoch_interruption(true)
        .signals_based_traps(true)
        .memory_reservation(4 << 30)
        .memory_may_move(false)
        // Data and tables are in place from the start, so that no page or element is first
        // touched on the packet path.
        .memory_init_cow(false)
        .table_lazy_init(false)
        .max_wasm_stack(options.stack_bytes)
        .concurrency_support(false)
        .wasm_simd(true)
        .wasm_relaxed_simd(false)
        .wasm_tail_call(false)
        .wasm_memory64(false)
        .wasm_multi_memory(false);
    config
}

/// `weft.log`. A line that lies outside of the module's memory is a trap, not a panic.
fn log(
    mut caller: Caller<'_, Guest>,
    level: u32,
    text: u32,
    length: u32,
) -> Result<(), wasmtime::Error> {
    let memory = caller.get_export(weft_abi::exports::MEMORY).and_then(|it| it.into_memory());
    let (bytes, guest) = match &memory {
        Some(memory) => memory.data_and_store_mut(&mut caller),
        None => return Err(wasmtime::Error::msg("weft.log: the module has no memory")),
    };
    match slice_of(bytes, text, length as usize) {
        Some(line) => {
            guest.log(Level::from(level), line);
            Ok(())
        }
        None => Err(wasmtime::Error::msg("weft.log: the line lies outside of the memory")),
    }
}
