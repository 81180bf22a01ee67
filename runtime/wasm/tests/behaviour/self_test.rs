//! A module is tried on packets of many kinds before it gets real ones.

use wasm::{InstantiateError, Module};

use crate::{
    guest::Guest,
    harness::{HOST, compile, deployment},
};

/// The guest, but with this done for each packet.
fn doing(act: &str) -> Guest {
    let mut guest = Guest::new();
    let output = "(func $output (call $decide (i32.const 2) (global.get $argument)))";
    assert!(guest.process.contains(output), "what the first byte of a sample stands for");
    guest.process = guest.process.replace(output, &format!("(func $output {act})"));
    guest
}

fn try_out(guest: &Guest) -> Result<(), InstantiateError> {
    deployment(compile(guest)).self_test(&HOST)
}

#[test]
fn a_module_that_decides_on_every_sample_passes() {
    assert_eq!(try_out(&doing("(call $pass)")), Ok(()));
}

#[test]
fn a_module_that_fails_on_a_kind_of_packet_is_told_which_and_how() {
    // The Ethernet type of MPLS, in the order of the wire.
    let act = "(if (i32.eq (i32.load16_u offset=12 (global.get $window)) (i32.const 0x4788))
        (then unreachable)) (call $pass)";
    let what = "wasm trap: wasm `unreachable` instruction executed".into();
    assert_eq!(try_out(&doing(act)), Err(InstantiateError::SelfTest { sample: "MPLS", what }));

    let spins = try_out(&doing("(loop $spin (br $spin))"));
    let what = "wasm trap: interrupt".into();
    let sample = "UDP over IPv4";
    assert_eq!(spins, Err(InstantiateError::SelfTest { sample, what }));

    let lies = try_out(&Guest::new());
    let what = "there is no port 131584: the last is 65535".into();
    assert_eq!(lies, Err(InstantiateError::SelfTest { sample: "a packet", what }));
}

#[test]
fn the_size_of_the_batch_does_not_matter() {
    let module: std::sync::Arc<Module> = compile(&doing("(call $pass)"));
    for batch in [1, 5, 32, 64] {
        let mut deployment = deployment(std::sync::Arc::clone(&module));
        deployment.batch = batch;
        assert_eq!(deployment.self_test(&HOST), Ok(()), "a batch of {batch}");
    }
}
