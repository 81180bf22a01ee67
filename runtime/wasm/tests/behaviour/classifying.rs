//! What a classifier is told and what becomes of what it says.

use dataplane::{
    DropReason, PortId,
    flow::FlowKey,
    packet::{Parsed, parse},
    stage::{Answer, Questions, Stage},
};
use wasm::{FaultTotals, OnFault, WasmStage};

use crate::{
    guest::Guest,
    harness::{Frame, HOST, compile, deployment},
};

/// Answers the destination port and four bytes of the frame at offset 26, the source address, and
/// does what some ports ask for.
const CLASSIFY: &str = r#"
(func (export "weft_classify") (param $n i32)
  (local $descriptor i32) (local $window i32) (local $port i32)
  (local.set $descriptor (i32.const 4096))
  (block $done
    (loop $next
      (br_if $done (i32.eqz (local.get $n)))
      (local.set $window (i32.load offset=8 (local.get $descriptor)))
      (local.set $port (i32.load16_u offset=68 (local.get $window)))
      (if (i32.eq (local.get $port) (i32.const 666)) (then unreachable))
      (i64.store (local.get $descriptor)
        (i64.or
          (i64.extend_i32_u (local.get $port))
          (i64.shl (i64.load32_u offset=106 (local.get $window)) (i64.const 32))))
      ;; The protocol and the destination port, or what there is not.
      (i32.store offset=40 (local.get $descriptor)
        (select (i32.const 0x8000) (i32.const 0x1100)
          (i32.eq (local.get $port) (i32.const 667))))
      (i32.store offset=36 (local.get $descriptor)
        (select (i32.const 9) (i32.const 0) (i32.eq (local.get $port) (i32.const 668))))
      (local.set $descriptor (i32.add (local.get $descriptor) (i32.const 48)))
      (local.set $n (i32.sub (local.get $n) (i32.const 1)))
      (br $next))))"#;

fn classifier(on_fault: OnFault) -> (WasmStage, wasm::Deployed) {
    let mut guest = Guest::new();
    guest.manifest =
        r#"{"name": "guest", "version": "1", "kind": "classifier", "window": 64}"#.into();
    guest.process = CLASSIFY.into();
    let mut deployment = deployment(compile(&guest));
    deployment.on_fault = on_fault;
    let mut deployed = deployment.deploy(&HOST, 1).unwrap();
    (deployed.stages.remove(0), deployed)
}

fn udp(port: u16) -> Frame {
    let mut frame = vec![0; 42];
    frame[12..18].copy_from_slice(&[8, 0, 0x45, 0, 0, 28]);
    frame[23] = 17;
    frame[26..30].copy_from_slice(&[10, 9, 8, 7]);
    frame[36..38].copy_from_slice(&port.to_be_bytes());
    frame[39] = 8;
    Frame(frame)
}

fn ask(stage: &mut WasmStage, ports: &[u16]) -> Vec<Answer> {
    let frames: Vec<Frame> = ports.iter().map(|port| udp(*port)).collect();
    let parsed: Vec<Parsed> =
        frames.iter().map(|frame| parse(PortId(3), &frame.0).unwrap()).collect();
    let mut answers = vec![Answer::none(DropReason::RuleDrop); frames.len()];
    stage.classify(Questions::new(&parsed, &frames), &mut answers);
    answers
}

fn of_port(port: u16) -> Answer {
    let all = FlowKey::EXACT;
    let seen = FlowKey {
        protocol: all.protocol,
        layers: all.layers,
        ethertype: all.ethertype,
        l4_dst: all.l4_dst,
        ..FlowKey::NONE
    };
    let metadata = u64::from(u32::from_le_bytes([10, 9, 8, 7])) << 32 | u64::from(port);
    Answer { metadata, seen, makeshift: false, drop: None }
}

#[test]
fn a_classifier_sees_the_key_and_the_window_and_its_answer_says_what_it_rests_on() {
    let (mut stage, deployed) = classifier(OnFault::Drop);
    assert_eq!(ask(&mut stage, &[53, 80]), [of_port(53), of_port(80)]);
    let totals = deployed.stats.totals();
    assert_eq!((totals.packets, totals.batches, totals.verdicts.next), (2, 1, 2));
}

#[test]
fn an_answer_that_breaks_the_contract_is_a_drop_that_is_not_kept() {
    let (mut stage, deployed) = classifier(OnFault::Bypass);
    let refused = Answer::none(DropReason::BadVerdict);
    assert_eq!(ask(&mut stage, &[667, 1, 668]), [refused, of_port(1), refused]);
    let faults = FaultTotals { bad_verdict: 2, ..FaultTotals::default() };
    assert_eq!(deployed.stats.totals().faults, faults);
}

#[test]
fn a_classifier_that_traps_costs_the_packet_that_it_was_at_by_its_policy() {
    for (on_fault, expected) in [
        (OnFault::Drop, Answer::none(DropReason::StageTrap)),
        (OnFault::Bypass, Answer { metadata: 0, seen: FlowKey::NONE, makeshift: true, drop: None }),
    ] {
        let (mut stage, deployed) = classifier(on_fault);
        assert_eq!(ask(&mut stage, &[1, 666, 2]), [of_port(1), expected, of_port(2)]);
        assert_eq!(deployed.stats.totals().faults.trap, 1);
    }
}

#[test]
fn a_stage_is_no_classifier_and_the_reverse() {
    let mut guest = Guest::new();
    guest.manifest = r#"{"name": "guest", "version": "1", "kind": "classifier"}"#.into();
    let refused = wasm::Module::compile(&HOST, &guest.bytes()).err().unwrap().to_string();
    assert!(refused.contains("weft_classify"), "{refused}");
}
