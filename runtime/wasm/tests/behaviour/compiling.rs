//! What is too much to compile is refused or given up, and costs nobody anything.

use std::{
    fmt::Write,
    time::{Duration, Instant},
};

use wasm::{
    ChildProcess, CompileLimits, Compiler, Excess, Host, HostOptions, LoadError, Module, Origin,
};

use crate::guest::{Act, Guest};
use crate::harness::{act, deployment};

/// A host that compiles in a child.
fn host(compile: CompileLimits) -> Host {
    let child = ChildProcess {
        program: env!("CARGO_BIN_EXE_weft-compile-module").into(),
        arguments: Vec::new(),
    };
    host_with(child, compile)
}

fn host_with(child: ChildProcess, compile: CompileLimits) -> Host {
    let compiler = Compiler::Child(child);
    Host::new(HostOptions { compiler, compile, ..HostOptions::default() }).unwrap()
}

fn refusal(host: &Host, wasm: &[u8]) -> LoadError {
    Module::compile(host, wasm).err().expect("it is to be refused")
}

/// An unsigned number as WebAssembly writes it.
fn leb(mut number: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(number & 0x7f).unwrap();
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

fn length(bytes: &[u8]) -> Vec<u8> {
    leb(u32::try_from(bytes.len()).unwrap())
}

fn section(id: u8, content: &[u8]) -> Vec<u8> {
    [&[id][..], &length(content), content].concat()
}

/// A module of so many functions, each with this body.
fn functions(count: u32, body: &[u8]) -> Vec<u8> {
    let body = [&length(body), body].concat();
    let of_type_0 = [leb(count), vec![0; count as usize]].concat();
    let code = [leb(count), body.repeat(count as usize)].concat();
    let sections = [section(1, &[1, 0x60, 0, 0]), section(3, &of_type_0), section(10, &code)];
    [b"\0asm\x01\0\0\0".to_vec(), sections.concat()].concat()
}

const END: u8 = 0x0b;

/// The guest, with functions that take long to compile.
fn heavy(functions: usize) -> Vec<u8> {
    let mut guest = Guest::new();
    for function in 0..functions {
        write!(guest.more, "(func $heavy{function} (param i64 i64) (result i64)").unwrap();
        for _ in 0..200 {
            let line = "(local.set 0 (i64.xor (i64.mul (local.get 0) (local.get 1))
                (i64.rotl (local.get 1) (local.get 0))))
                (i64.store (i32.wrap_i64 (local.get 0)) (local.get 1))";
            guest.more.push_str(line);
        }
        guest.more.push_str("(local.get 0))");
    }
    guest.bytes()
}

#[test]
fn a_child_compiles_a_module_that_runs_as_any() {
    let host = host(CompileLimits::default());
    let module = Module::compile(&host, &Guest::new().bytes()).unwrap();
    let Origin::Compiled { peak_bytes } = module.origin() else { panic!("{:?}", module.origin()) };
    assert!(peak_bytes > 1 << 20, "{peak_bytes} bytes");
    let mut deployed = deployment(module).deploy(&host, 1).unwrap();
    act(&mut deployed.stages[0], &[Act::Pass, Act::Rewrite]);
    assert_eq!(deployed.stats.totals().verdicts.next, 2);
}

#[test]
fn bombs_that_can_be_counted_are_refused_before_they_are_compiled() {
    let nested = [vec![0], [0x02, 0x40].repeat(100_000), vec![END; 100_001]].concat();
    let locals = [&[1][..], &leb(50_000), &[0x7f, END]].concat();
    // `(block (br_table 0 ... 0 (i32.const 0)))`, with a million and one ways.
    let ways =
        [&[0, 0x02, 0x40, 0x41, 0, 0x0e][..], &leb(1_000_000), &vec![0; 1_000_001], &[END, END]]
            .concat();
    let limits = CompileLimits::default();
    let host = host(limits);
    for (wasm, excess) in [
        (functions(1_000_000, &[0, END]), Excess::Functions { found: 1_000_000, limit: 20_000 }),
        (functions(1, &locals), Excess::Locals { function: 0, found: 50_000, limit: 10_000 }),
        (functions(1, &nested), Excess::Nesting { function: 0, limit: 10_000 }),
        (
            functions(1, &ways),
            Excess::FunctionBytes { function: 0, found: ways.len(), limit: 512 << 10 },
        ),
    ] {
        let start = Instant::now();
        assert_eq!(refusal(&host, &wasm), LoadError::Excess(excess));
        let took = start.elapsed();
        eprintln!("{} bytes: {excess}: after {took:?}", wasm.len());
        assert!(took < limits.time / 2, "{took:?}");
    }
}

#[test]
fn what_may_just_be_is_compiled() {
    let limits = CompileLimits::default();
    let host = host(limits);
    for (name, body) in [
        ("locals", format!("(local {})", "i64 ".repeat(limits.locals as usize))),
        ("nesting", {
            let depth = limits.nesting as usize;
            format!("{}{}", "block ".repeat(depth), "end ".repeat(depth))
        }),
        ("ways", format!("(block (br_table {} (i32.const 0)))", "0 ".repeat(65_000))),
    ] {
        let mut guest = Guest::new();
        guest.more = format!("(func {body})");
        let start = Instant::now();
        let outcome = Module::compile(&host, &guest.bytes()).map(|module| module.origin());
        eprintln!("{name}: {outcome:?} after {:?}", start.elapsed());
        assert!(matches!(outcome, Ok(Origin::Compiled { .. })), "{name}: {outcome:?}");
    }
}

#[test]
fn what_the_compiler_does_not_take_is_refused_in_its_words() {
    let mut guest = Guest::new();
    guest.more = format!("(func (block (br_table {} (i32.const 0))))", "0 ".repeat(500_000));
    let start = Instant::now();
    let refused = refusal(&host(CompileLimits::default()), &guest.bytes()).to_string();
    eprintln!("after {:?}: {refused}", start.elapsed());
    assert!(refused.starts_with("the module could not be compiled: "), "{refused}");
    assert!(refused.contains("`br_table` has 499999 targets"), "{refused}");
}

#[test]
fn a_compiler_that_takes_too_long_is_killed() {
    // So long that a small module is compiled in it on a busy machine too.
    let limit = Duration::from_secs(2);
    let wasm = heavy(1000);
    let host = host(CompileLimits { time: limit, ..CompileLimits::default() });
    let start = Instant::now();
    assert_eq!(refusal(&host, &wasm), LoadError::Excess(Excess::Time { limit }));
    eprintln!("{} bytes, refused after {:?}", wasm.len(), start.elapsed());
    Module::compile(&host, &Guest::new().bytes()).expect("the next one is compiled");
}

#[test]
fn a_compiler_that_takes_too_much_memory_is_killed() {
    let limit = 24 << 20;
    let host = host(CompileLimits { memory_bytes: limit, ..CompileLimits::default() });
    let start = Instant::now();
    assert_eq!(refusal(&host, &heavy(400)), LoadError::Excess(Excess::Memory { limit }));
    eprintln!("refused after {:?}", start.elapsed());
    Module::compile(&host, &Guest::new().bytes()).expect("the next one is compiled");
}

#[test]
fn a_compiler_that_cannot_be_run_is_no_fault_of_the_module() {
    let child = ChildProcess { program: "/nowhere".into(), arguments: Vec::new() };
    let refused = refusal(&host_with(child, CompileLimits::default()), &Guest::new().bytes());
    assert_eq!(refused, LoadError::Compiler("No such file or directory (os error 2)".into()));
}
