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
        let area = &mut self.memory.data_mut(&mut self.store)[base..][..shape.size()];
        let (descriptors, windows) = area.split_at_mut(shape.descriptors());
        let descriptors = <[Descriptor]>::mut_from_bytes(&mut descriptors[..described(count)])
            .expect("the area is aligned, in a memory that is");
        for (index, descriptor) in descriptors.iter_mut().enumerate() {
            let (parsed, packet) = questions.get(first + index);
            let bytes = packet.bytes();
            let slot = &mut windows[index * shape.stride()..][..shape.window as usize];
            let (key, window) = slot.split_at_mut(size_of::<Key>());
            key.copy_from_slice(told(parsed).as_bytes());
            let seen = bytes.len().min(window.len());
            window[..seen].copy_from_slice(&bytes[..seen]);
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

/// The bits of the fields that a module says it looked at. What is not in a packet is zero for it
/// too, so the layers that tell absent from zero do not matter, but for fragments.
fn bits(fields: u32) -> FlowKey {
    let mut seen = FlowKey::NONE;
    let all = FlowKey::EXACT;
    let has = |field: u32| fields & field != 0;
    if has(looked_at::IN_PORT) {
        seen.in_port = all.in_port;
    }
    if has(looked_at::ETH_DST) {
        seen.eth_dst = all.eth_dst;
    }
    if has(looked_at::ETH_SRC) {
        seen.eth_src = all.eth_src;
    }
    if has(looked_at::ETHERTYPE) {
        seen.ethertype = all.ethertype;
    }
    if has(looked_at::VLAN) {
        seen.vlan = all.vlan;
    }
    if has(looked_at::MPLS) {
        seen.mpls = all.mpls;
    }
    if has(looked_at::IP_SRC) {
        (seen.ipv4_src, seen.ipv6_src) = (all.ipv4_src, all.ipv6_src);
    }
    if has(looked_at::IP_DST) {
        (seen.ipv4_dst, seen.ipv6_dst) = (all.ipv4_dst, all.ipv6_dst);
    }
    if has(looked_at::IP_SRC | looked_at::IP_DST) {
        seen.ethertype = all.ethertype;
    }
    if has(looked_at::PROTOCOL) {
        (seen.protocol, seen.layers, seen.ethertype) = (all.protocol, all.layers, all.ethertype);
    }
    if has(looked_at::TRAFFIC_CLASS) {
        seen.traffic_class = all.traffic_class;
    }
    if has(looked_at::TTL) {
        seen.ttl = all.ttl;
    }
    if has(looked_at::L4_SRC) {
        seen.l4_src = all.l4_src;
    }
    if has(looked_at::L4_DST) {
        seen.l4_dst = all.l4_dst;
    }
    if has(looked_at::TCP_FLAGS) {
        seen.tcp_flags = all.tcp_flags;
    }
    if has(looked_at::METADATA) {
        seen.metadata = all.metadata;
    }
    seen
}

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
