//! From a module to an instance that is ready, and all that may go wrong on that way.

use std::time::Duration;

use dataplane::{ReasonId, stage::Verdict};
use serde_json::json;
use wasm::{Deployment, InstantiateError, LogLine};
use weft_abi::BatchArea;

use crate::{
    guest::{Act, Guest, answering},
    harness::{BATCH, GUEST, HOST, act, compile, deployment},
};

const AREA: usize = BatchArea { packets: BATCH, window: 128 }.size();
const MEMORY: usize = Guest::PAGES * 65_536;

fn refusal(change: impl FnOnce(&mut Deployment)) -> InstantiateError {
    let mut deployment = deployment(GUEST.clone());
    change(&mut deployment);
    deployment.deploy(&HOST, 1).err().expect("it is to be refused")
}

fn refusal_of(change: impl FnOnce(&mut Guest)) -> InstantiateError {
    let mut guest = Guest::new();
    change(&mut guest);
    deployment(compile(&guest)).deploy(&HOST, 1).err().expect("it is to be refused")
}

fn starts(change: impl FnOnce(&mut Guest)) {
    let mut guest = Guest::new();
    change(&mut guest);
    let mut deployed = deployment(compile(&guest)).deploy(&HOST, 1).unwrap();
    assert_eq!(act(&mut deployed.stages[0], &[Act::Pass]), [Verdict::Next]);
}

fn batch_at(address: usize) -> String {
    let body = format!("i32.const {address}");
    answering("weft_batch", "(param i32 i32) (result i32)", &body)
}

fn trap(step: &'static str, what: &str) -> InstantiateError {
    InstantiateError::Trap { step, message: format!("wasm trap: {what}") }
}

#[test]
fn every_worker_gets_a_stage() {
    let mut deployed = deployment(GUEST.clone()).deploy(&HOST, 3).unwrap();
    assert_eq!(deployed.stages.len(), 3);
    for stage in &mut deployed.stages {
        assert_eq!(act(stage, &[Act::Pass]), [Verdict::Next]);
    }
    assert_eq!(deployed.stats.totals().packets, 3);
}

#[test]
fn an_init_that_traps_loops_or_refuses_is_told_apart() {
    let unreachable = "wasm `unreachable` instruction executed";
    assert_eq!(refusal(|it| it.config = json!(1)), trap("weft_init", unreachable));

    let limit = Duration::from_millis(20);
    let slow = refusal(|it| (it.config, it.limits.start_deadline) = (json!(2), limit));
    assert_eq!(slow, InstantiateError::Deadline { step: "weft_init", limit });

    let message = "no such \\u{1b}[31mport\\u{a}".to_owned();
    assert_eq!(refusal(|it| it.config = json!(3)), InstantiateError::Refused(message));
    let message = "(its message lies outside of its memory)".to_owned();
    assert_eq!(refusal(|it| it.config = json!(4)), InstantiateError::Refused(message));
}

#[test]
fn a_module_sees_its_configuration_as_json() {
    let mut deployment = deployment(GUEST.clone());
    deployment.config = json!([5]);
    // Other letters than 5 begin no behaviour.
    assert_eq!(deployment.config.to_string(), "[5]");
    deployment.config = json!(5.25);
    let deployed = deployment.deploy(&HOST, 1).unwrap();
    let texts: Vec<String> = deployed.stats.drain_log().map(|line: LogLine| line.text).collect();
    assert_eq!(texts, ["5.25"; 2], "the instance and its spare");
}

#[test]
fn a_start_function_runs_under_the_deadline() {
    starts(|guest| {
        guest.more = "(func $start (global.set $argument (i32.const 1))) (start $start)".into()
    });

    let step = "its start function or its data segments";
    let unreachable = "wasm `unreachable` instruction executed";
    let trapped =
        refusal_of(|guest| guest.more = "(func $start unreachable) (start $start)".into());
    assert_eq!(trapped, trap(step, unreachable));
    let looped =
        refusal_of(|guest| guest.more = "(func $start (loop $l (br $l))) (start $start)".into());
    assert_eq!(looped, InstantiateError::Deadline { step, limit: Duration::from_millis(100) });
    let outside = refusal_of(|guest| guest.more = "(data (i32.const 65535) \"xx\")".into());
    assert_eq!(outside, trap(step, "out of bounds memory access"));
}

#[test]
fn a_module_for_another_abi_is_refused() {
    let found = refusal_of(|guest| {
        guest.version = answering("weft_abi_version", "(result i32)", "i32.const 2");
    });
    assert_eq!(found, InstantiateError::AbiVersion { found: 2 });
}

#[test]
fn a_configuration_fits_into_memory_up_to_its_last_byte() {
    let alloc = |address: usize| {
        let body = format!("i32.const {address}");
        answering("weft_alloc", "(param i32) (result i32)", &body)
    };
    starts(|guest| guest.alloc = alloc(MEMORY - 2));
    let refused = refusal_of(|guest| guest.alloc = alloc(MEMORY - 1));
    let expected = InstantiateError::OutsideMemory {
        what: "configuration",
        bytes: 2,
        function: "weft_alloc",
        address: u32::try_from(MEMORY).unwrap() - 1,
        memory: MEMORY,
    };
    assert_eq!(refused, expected);
    let expected = InstantiateError::NoRoom {
        what: "configuration",
        bytes: 2,
        function: "weft_alloc",
        limit: 4 << 20,
    };
    assert_eq!(refusal_of(|guest| guest.alloc = alloc(0)), expected);
}

#[test]
fn a_batch_area_fits_into_memory_up_to_its_last_byte() {
    let (what, function, bytes) = ("packets", "weft_batch", AREA);
    let last = MEMORY - AREA;
    let mut guest = Guest::new();
    guest.batch = batch_at(last);
    deployment(compile(&guest)).deploy(&HOST, 1).unwrap();

    for address in [last + 64, MEMORY, 0xffff_ffc0] {
        let refused = refusal_of(|guest| guest.batch = batch_at(address));
        let address = u32::try_from(address).unwrap();
        let memory = MEMORY;
        let expected = InstantiateError::OutsideMemory { what, bytes, function, address, memory };
        assert_eq!(refused, expected);
    }
    for address in [4096 + 8, 4096 + 32, 4097] {
        let refused = refusal_of(|guest| guest.batch = batch_at(address));
        let address = u32::try_from(address).unwrap();
        let expected = InstantiateError::Misaligned { what, function, address, alignment: 64 };
        assert_eq!(refused, expected);
    }
    let expected = InstantiateError::NoRoom { what, bytes, function, limit: 4 << 20 };
    assert_eq!(refusal_of(|guest| guest.batch = batch_at(0)), expected);
}

#[test]
fn counters_fit_into_memory_up_to_their_last_byte() {
    let at = |address: usize| {
        answering("weft_counters", "(result i32)", &format!("i32.const {address}"))
    };
    let (what, function, bytes) = ("counters", "weft_counters", 16);
    starts(|guest| guest.counters = at(MEMORY - 16));
    let refused = refusal_of(|guest| guest.counters = at(MEMORY - 8));
    let (address, memory) = (u32::try_from(MEMORY).unwrap() - 8, MEMORY);
    let outside = InstantiateError::OutsideMemory { what, bytes, function, address, memory };
    assert_eq!(refused, outside);
    let refused = refusal_of(|guest| guest.counters = at(20));
    let expected = InstantiateError::Misaligned { what, function, address: 20, alignment: 8 };
    assert_eq!(refused, expected);
}

#[test]
fn a_module_that_traps_on_no_packet_at_all_is_refused() {
    let refused = refusal_of(|guest| {
        guest.process = answering("weft_process", "(param i32)", "unreachable");
    });
    assert_eq!(refused, trap("weft_process", "wasm `unreachable` instruction executed"));
}

#[test]
fn the_memory_that_a_module_has_from_the_start_is_within_the_limit_of_the_stage() {
    let mut within = deployment(GUEST.clone());
    within.limits.memory_bytes = MEMORY;
    within.deploy(&HOST, 1).unwrap();

    let limit = MEMORY - 1;
    let refused = refusal(|it| it.limits.memory_bytes = limit);
    assert_eq!(refused, InstantiateError::Memory { needed: MEMORY as u64, limit });
}

#[test]
fn what_no_stage_can_have_is_refused() {
    let option = |what, value: &str, range: &str| {
        let (value, range) = (value.into(), range.into());
        InstantiateError::Option { what, value, range }
    };
    let ceiling = 1 << 30;
    assert_eq!(
        refusal(|it| it.limits.memory_bytes = ceiling + 1),
        option("the stage's memory limit", "1073741825", "at most 1073741824 bytes")
    );
    assert_eq!(
        refusal(|it| it.limits.deadline = Duration::ZERO),
        option("the deadline", "0ns", "1 us to 60 s")
    );
    assert_eq!(
        refusal(|it| it.limits.start_deadline = Duration::from_secs(61)),
        option("the deadline of the start", "61s", "1 us to 60 s")
    );
    for batch in [0, 1025] {
        let refused = refusal(|it| it.batch = batch);
        assert_eq!(refused, option("the batch", &batch.to_string(), "1 to 1024 packets"));
    }
    assert_eq!(
        refusal(|it| it.reasons.push(ReasonId(102))),
        option("the number of drop reasons", "3", "2, as in the module's manifest")
    );
}
