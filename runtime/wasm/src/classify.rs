//! Classifiers: what packets are, by their keys and as much of their bytes as the manifest asks for.

use std::ops::Range;

use dataplane::{
    DropReason, Packet, PortId,
    flow::{FlowKey, layers},
    packet::Parsed,
    stage::{Answer, Context, Questions, Verdict},
};
use weft_abi::{Descriptor, Key, looked_at, traits, verdict};
use zerocopy::{FromBytes, IntoBytes};

use crate::{
    instance::{Instance, Outcome, describe, described},
    stage::WasmStage,
    stats::{CallCounts, VerdictTotals},
    verdict::Breach,
    window,
};

impl WasmStage {
    /// Has the instance say what packets are, one answer for each.
    pub(crate) fn say<P: Packet>(&mut self, questions: Questions<'_, P>, answers: &mut [Answer]) {
        self.say_all(questions, answers, 0..questions.len());
    }

    fn say_all<P: Packet>(
        &mut self,
        questions: Questions<'_, P>,
        answers: &mut [Answer],
        places: Range<usize>,
    ) {
        self.muster();
        let mut first = places.start;
        while first < places.end {
            first = self.say_some(questions, answers, first..places.end);
        }
    }

    /// Has it say what packets from the first on are. Returns the first that it has said nothing
    /// of.
    fn say_some<P: Packet>(
        &mut self,
        questions: Questions<'_, P>,
        answers: &mut [Answer],
        places: Range<usize>,
    ) -> usize {
        let Some(instance) = &mut self.instance else {
            let end = places.end;
            self.tally().unavailable.add(places.len() as u64);
            self.say_instead(questions, answers, places, DropReason::StageUnavailable);
            return end;
        };
        let first = places.start;
        let count = instance.room().min(places.len());
        let outcome = instance.say(questions, &mut answers[first..first + count], first);
        self.note(&outcome);
        let Some(error) = outcome.fault else { return first + count };
        let place = first + outcome.decided;
        if outcome.decided == count {
            self.replace(error, None);
            return place;
        }
        let (parsed, packet) = questions.get(place);
        let in_port = PortId(parsed.key.in_port);
        let specimen = self.ward.seats[self.worker].keep(in_port, packet.bytes());
        let reason = self.replace(error, specimen);
        self.say_instead(questions, answers, place..place + 1, reason);
        place + 1
    }

    /// Says what there is to say in place of an instance: what the deployment before this one
    /// says, or what the policy does.
    fn say_instead<P: Packet>(
        &mut self,
        questions: Questions<'_, P>,
        answers: &mut [Answer],
        places: Range<usize>,
        reason: DropReason,
    ) {
        let Some(last_good) = &mut self.last_good else {
            return places
                .for_each(|place| answers[place] = self.makeshift(questions.get(place).0, reason));
        };
        last_good.say_all(questions, answers, places.clone());
        self.tally().last_good.add(places.len() as u64);
        let mut totals = VerdictTotals::default();
        for answer in &mut answers[places] {
            // It is not this deployment's word, so it is not to be kept.
            answer.makeshift = true;
            totals.count(answer.drop.map_or(Verdict::Next, Verdict::from), 1);
        }
        self.tally().verdicts(totals);
    }

    /// What is said in place of the module.
    fn makeshift(&self, parsed: &Parsed, reason: DropReason) -> Answer {
        let verdict = self.ward.on_fault.verdict(reason);
        let mut totals = VerdictTotals::default();
        totals.count(verdict, 1);
        self.tally().verdicts(totals);
        match verdict {
            Verdict::Drop(_) => Answer::none(reason),
            _ => Answer {
                metadata: parsed.key.metadata,
                seen: FlowKey::NONE,
                makeshift: true,
                drop: None,
            },
        }
    }
}

impl Instance {
    /// Has the module say what the packets from `first` on are, as many as there are answers.
    pub(crate) fn say<P: Packet>(
        &mut self,
        questions: Questions<'_, P>,
        answers: &mut [Answer],
        first: usize,
    ) -> Outcome {
        self.put(questions, first, answers.len());
        let fault = self.enter(answers.len());
        let counts = CallCounts::default();
        let mut outcome = Outcome { decided: answers.len(), counts, breach: None, fault };
        self.take_answers(answers, &mut outcome);
        outcome
    }

    /// Copies what the module may see of the packets into the batch area.
    fn put<P: Packet>(&mut self, questions: Questions<'_, P>, first: usize, count: usize) {
        let (base, shape) = (self.area as usize, self.shape);
        let (descriptors, windows) = self.places(count);
        for (index, descriptor) in descriptors.iter_mut().enumerate() {
            let (parsed, packet) = questions.get(first + index);
            let bytes = packet.bytes();
            let slot = &mut windows[index * shape.stride()..][..shape.window as usize];
            let (key, window) = slot.split_at_mut(size_of::<Key>());
            key.copy_from_slice(told(parsed).as_bytes());
            let seen = bytes.len().min(window.len());
            window::copy(&bytes[..seen], window);
            let (seen, data) = (key.len() + seen, base + shape.window_at(index));
            *descriptor = describe(&context(parsed), bytes.len(), seen, data);
        }
    }

    /// Takes the answers out of the batch area, each read once, as far as they stand.
    fn take_answers(&self, answers: &mut [Answer], outcome: &mut Outcome) {
        let area = &self.memory.data(&self.store)[self.area as usize..];
        let said = <[Descriptor]>::ref_from_bytes(&area[..described(answers.len())])
            .expect("the area is aligned, in a memory that is");
        for (index, (said, answer)) in said.iter().zip(answers).enumerate() {
            if outcome.fault.is_some() && said.verdict == verdict::UNDECIDED {
                outcome.decided = index;
                return;
            }
            *answer = judge(said).unwrap_or_else(|breach| {
                outcome.counts.bad_verdicts += 1;
                outcome.breach = Some(breach);
                Answer::none(DropReason::BadVerdict)
            });
            let verdict = answer.drop.map_or(Verdict::Next, Verdict::from);
            outcome.counts.verdicts.count(verdict, 1);
        }
    }
}

/// Turns what a module wrote into an answer.
fn judge(said: &Descriptor) -> Result<Answer, Breach> {
    match said.verdict {
        verdict::NEXT if said.argument & !looked_at::ALL == 0 => Ok(Answer {
            metadata: said.metadata,
            seen: bits(said.argument),
            makeshift: false,
            drop: None,
        }),
        verdict::NEXT => Err(Breach::LookedAt(said.argument)),
        verdict::UNDECIDED => Err(Breach::Undecided),
        unknown => Err(Breach::Unknown(unknown)),
    }
}

/// The bits of the fields that a module says it looked at.
fn bits(fields: u32) -> FlowKey {
    let looked_at = FIELDS.iter().filter(|(field, _)| fields & field != 0);
    looked_at.fold(FlowKey::NONE, |seen, (_, bits)| seen.union(bits))
}

const NONE: FlowKey = FlowKey::NONE;
const ALL: FlowKey = FlowKey::EXACT;

/// What each field of a [`Key`] is made from. What is not in a packet is zero for a module too, so
/// the layers that tell absent from zero matter only where a module sees them.
const FIELDS: [(u32, FlowKey); 15] = [
    (looked_at::IN_PORT, FlowKey { in_port: ALL.in_port, ..NONE }),
    (looked_at::ETH_DST, FlowKey { eth_dst: ALL.eth_dst, ..NONE }),
    (looked_at::ETH_SRC, FlowKey { eth_src: ALL.eth_src, ..NONE }),
    (looked_at::ETHERTYPE, FlowKey { ethertype: ALL.ethertype, ..NONE }),
    (looked_at::VLAN, FlowKey { vlan: ALL.vlan, ..NONE }),
    (looked_at::MPLS, FlowKey { mpls: ALL.mpls, ..NONE }),
    (
        looked_at::IP_SRC,
        FlowKey {
            ethertype: ALL.ethertype,
            ipv4_src: ALL.ipv4_src,
            ipv6_src: ALL.ipv6_src,
            ..NONE
        },
    ),
    (
        looked_at::IP_DST,
        FlowKey {
            ethertype: ALL.ethertype,
            ipv4_dst: ALL.ipv4_dst,
            ipv6_dst: ALL.ipv6_dst,
            ..NONE
        },
    ),
    (
        looked_at::PROTOCOL,
        FlowKey { ethertype: ALL.ethertype, layers: ALL.layers, protocol: ALL.protocol, ..NONE },
    ),
    (looked_at::TRAFFIC_CLASS, FlowKey { traffic_class: ALL.traffic_class, ..NONE }),
    (looked_at::TTL, FlowKey { ttl: ALL.ttl, ..NONE }),
    (looked_at::L4_SRC, FlowKey { l4_src: ALL.l4_src, ..NONE }),
    (looked_at::L4_DST, FlowKey { l4_dst: ALL.l4_dst, ..NONE }),
    (looked_at::TCP_FLAGS, FlowKey { tcp_flags: ALL.tcp_flags, ..NONE }),
    (looked_at::METADATA, FlowKey { metadata: ALL.metadata, ..NONE }),
];

/// A key as modules see it.
fn told(parsed: &Parsed) -> Key {
    let key = &parsed.key;
    let has = |layer: u8| key.layers & layer != 0;
    let is_ipv6 = has(layers::IP) && key.ethertype == 0x86dd;
    let address = |short: [u8; 4], long: [u8; 16]| {
        let mut address = [0; 16];
        address[..4].copy_from_slice(&short);
        if is_ipv6 { long } else { address }
    };
    Key {
        metadata: key.metadata,
        ip_src: address(key.ipv4_src, key.ipv6_src),
        ip_dst: address(key.ipv4_dst, key.ipv6_dst),
        in_port: key.in_port.into(),
        mpls: key.mpls,
        eth_dst: key.eth_dst,
        eth_src: key.eth_src,
        ethertype: key.ethertype,
        vlan: key.vlan,
        l4_src: key.l4_src,
        l4_dst: key.l4_dst,
        tcp_flags: key.tcp_flags,
        ip_version: match (has(layers::IP), is_ipv6) {
            (false, _) => 0,
            (true, false) => 4,
            (true, true) => 6,
        },
        protocol: key.protocol,
        traffic_class: key.traffic_class,
        ttl: key.ttl,
        traits: match (has(layers::FRAGMENT), has(layers::LATER_FRAGMENT)) {
            (_, true) => traits::FRAGMENT | traits::LATER_FRAGMENT,
            (true, false) => traits::FRAGMENT,
            (false, false) => 0,
        },
        reserved: [0; 3],
    }
}

fn context(parsed: &Parsed) -> Context {
    Context {
        in_port: PortId(parsed.key.in_port),
        headers: parsed.headers,
        flow_hash: 0,
        metadata: parsed.key.metadata,
        rewritten: false,
        verdict: Verdict::Next,
    }
}
