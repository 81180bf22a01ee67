//! What a module says of packets, true and false.

use dataplane::{
    DropReason, PortId, TableId,
    packet::{Fragment, Headers},
    stage::{Batch, Context, Stage, Verdict},
};
use wasm::{Deployed, FaultKind, FaultTotals};
use weft_abi::{Descriptor, NO_OFFSET, traits, verdict};
use zerocopy::FromBytes;

use crate::{
    guest::{Act, Guest},
    harness::{Frame, HOST, REASONS, act, compile, context, deploy, deployment, run, wait_for},
};

const BAD: fn() -> Verdict = || DropReason::BadVerdict.into();

fn one() -> Deployed {
    deploy(1)
}

#[test]
fn each_packet_has_the_verdict_that_the_module_gave_it() {
    let mut deployed = one();
    let acts = [Act::Pass, Act::Drop(1), Act::Output(65_535), Act::Goto(253), Act::Drop(0)];
    let expected = [
        Verdict::Next,
        Verdict::Drop(REASONS[1]),
        Verdict::Output(PortId(65_535)),
        Verdict::Goto(TableId(253)),
        Verdict::Drop(REASONS[0]),
    ];
    assert_eq!(act(&mut deployed.stages[0], &acts), expected);
}

#[test]
fn an_answer_that_means_nothing_is_a_drop_and_is_counted_and_explained() {
    for (lie, message) in [
        (Act::Drop(2), "there is no drop reason 2: the manifest names 2"),
        (Act::Drop(u32::MAX), "there is no drop reason 4294967295: the manifest names 2"),
        (Act::Output(65_536), "there is no port 65536: the last is 65535"),
        (Act::Goto(254), "there is no table 254: the last is 253"),
        (Act::Goto(256), "there is no table 256: the last is 253"),
        (Act::Verdict(4), "there is no verdict 4"),
        (Act::Verdict(0x8000_0000), "there is no verdict 2147483648"),
        (Act::Verdict(u32::MAX), "weft_process returned without a verdict on a packet"),
        (Act::Silent, "weft_process returned without a verdict on a packet"),
    ] {
        let mut deployed = one();
        let verdicts = act(&mut deployed.stages[0], &[Act::Pass, lie, Act::Pass]);
        assert_eq!(verdicts, [Verdict::Next, BAD(), Verdict::Next], "{lie:?}");
        let faults = FaultTotals { bad_verdict: 1, ..FaultTotals::default() };
        assert_eq!(deployed.stats.totals().faults, faults, "{lie:?}");
        let fault = wait_for("the report", || deployed.stats.last_fault());
        assert_eq!((fault.kind, fault.worker), (FaultKind::BadVerdict, 0));
        assert_eq!(fault.message, message);
    }
}

#[test]
fn a_window_is_copied_back_if_the_module_says_so() {
    let mut deployed = one();
    for length in [12, 64, 127, 128, 129, 1500] {
        let mut frames = [
            Act::Rewrite.frame(length),
            Act::RewriteQuietly.frame(length),
            Act::Pass.frame(length),
        ];
        let mut expected = frames.clone();
        expected[0].0[8..12].copy_from_slice(&Act::MARK);
        assert_eq!(run(&mut deployed.stages[0], &mut frames), [Verdict::Next; 3]);
        assert_eq!(frames, expected, "{length} bytes");
    }
}

#[test]
fn a_window_is_not_copied_back_if_the_manifest_does_not_say_so() {
    let mut guest = Guest::new();
    guest.manifest = guest.manifest.replace("\"writes\": true", "\"writes\": false");
    let mut deployed = deployment(compile(&guest)).deploy(&HOST, 1).unwrap();
    let mut frames = [Act::Rewrite.frame(64), Act::Pass.frame(64)];
    let before = frames.clone();
    assert_eq!(run(&mut deployed.stages[0], &mut frames), [BAD(), Verdict::Next]);
    assert_eq!(frames, before);
}

#[test]
fn lies_about_where_a_packet_is_change_nothing_but_its_window() {
    let mut deployed = one();
    let mut frames = [Act::Pass.frame(64), Act::Scribble.frame(200), Act::Pass.frame(64)];
    let mut expected = frames.clone();
    expected[1].0[8..12].copy_from_slice(&Act::MARK);
    for _ in 0..3 {
        assert_eq!(run(&mut deployed.stages[0], &mut frames), [Verdict::Next; 3]);
        assert_eq!(frames, expected);
    }
}

#[test]
fn packets_shorter_than_any_header_are_decided_too() {
    let mut deployed = one();
    let mut frames = [Frame(vec![]), Frame(vec![0])];
    // The guest reads a window that another packet may have been in before.
    act(&mut deployed.stages[0], &[Act::Pass, Act::Pass]);
    assert_eq!(run(&mut deployed.stages[0], &mut frames), [Verdict::Next; 2]);
}

/// What the guest finds in its descriptor for a packet.
fn descriptor_of(
    deployed: &mut Deployed,
    context: Context,
    length: usize,
) -> (Descriptor, Context) {
    let (mut frames, mut contexts) = ([Act::Echo.frame(length)], [context]);
    deployed.stages[0].run(&mut Batch::new(&mut frames, &mut contexts, &[0]));
    (Descriptor::read_from_prefix(&frames[0].0).unwrap().0, contexts[0])
}

#[test]
fn a_module_is_told_what_the_engine_knows() {
    let mut deployed = one();
    let known = Context {
        in_port: PortId(513),
        headers: Headers {
            l3: Some(14),
            l4: Some(34),
            ethertype: 0x0800,
            protocol: 17,
            vlan_tags: 0,
            fragment: Fragment::First,
        },
        flow_hash: 0x0102_0304,
        metadata: 0x1122_3344_5566_7788,
        rewritten: false,
        verdict: Verdict::Next,
    };
    let mut expected = Descriptor {
        metadata: 0x1122_3344_5566_7788,
        data: 4096 + 32 * 48,
        data_length: 128,
        packet_length: 1500,
        in_port: 513,
        flow_hash: 0x0102_0304,
        l3: 14,
        l4: 34,
        ethertype: 0x0800,
        protocol: 17,
        traits: traits::FRAGMENT,
        verdict: verdict::UNDECIDED,
        argument: 0,
        flags: 0,
    };
    let (descriptor, context) = descriptor_of(&mut deployed, known, 1500);
    assert_eq!(descriptor, expected);
    assert_eq!((context.metadata, context.verdict), (known.metadata, Verdict::Next));

    let mut bare = known;
    bare.headers = Headers { fragment: Fragment::Later, ..Headers::default() };
    expected = Descriptor {
        data_length: 64,
        packet_length: 64,
        l3: NO_OFFSET,
        l4: NO_OFFSET,
        ethertype: 0,
        protocol: 0,
        traits: traits::FRAGMENT | traits::LATER_FRAGMENT,
        ..expected
    };
    assert_eq!(descriptor_of(&mut deployed, bare, 64).0, expected);
}

#[test]
fn metadata_goes_in_and_comes_back() {
    let mut deployed = one();
    let mut frames = [Act::Metadata(99).frame(64), Act::Pass.frame(64), Act::Drop(9).frame(64)];
    let mut contexts = [context(); 3];
    contexts.iter_mut().for_each(|context| context.metadata = 5);
    deployed.stages[0].run(&mut Batch::new(&mut frames, &mut contexts, &[0, 1, 2]));
    assert_eq!(contexts.map(|context| context.metadata), [99, 5, 5]);
}

#[test]
fn only_the_members_of_a_batch_are_touched_in_any_number() {
    for count in [0, 1, 31, 32, 33, 64, 100] {
        let mut deployed = one();
        let mut frames: Vec<Frame> = (0..200).map(|_| Act::Rewrite.frame(64)).collect();
        let mut contexts = vec![context(); 200];
        for context in &mut contexts {
            context.verdict = Verdict::Goto(TableId(1));
        }
        let members: Vec<u16> = (0..200).filter(|place| place % 2 == 1).take(count).collect();
        deployed.stages[0].run(&mut Batch::new(&mut frames, &mut contexts, &members));
        for (place, (frame, context)) in frames.iter().zip(&contexts).enumerate() {
            let member = members.contains(&u16::try_from(place).unwrap());
            let verdict = if member { Verdict::Next } else { Verdict::Goto(TableId(1)) };
            assert_eq!(context.verdict, verdict, "packet {place} of {count}");
            let rewritten = frame.0[8..12] == Act::MARK;
            assert_eq!((rewritten, context.rewritten), (member, member), "{place} of {count}");
        }
        let totals = deployed.stats.totals();
        assert_eq!((totals.packets, totals.batches), (count as u64, count.div_ceil(32) as u64));
    }
}
