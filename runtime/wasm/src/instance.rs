use std::sync::Arc;

use dataplane::{
    DropReason, Packet,
    packet::Fragment,
    stage::{Batch, Context},
};
use wasmtime::{Memory, Store, StoreLimits, TypedFunc, UpdateDeadline};
use weft_abi::{BatchArea, Descriptor, NO_OFFSET, traits, verdict};
use zerocopy::FromBytes;

use crate::{
    allowance::{Allowance, FIRST_LOOK, processor_time},
    logs::Level,
    stats::{CallCounts, StageStats},
    ticker::Ticker,
    verdict::{Breach, Terms},
    window,
};

/// The host's side of an instance: what its store holds.
pub(crate) struct Guest {
    pub(crate) limits: StoreLimits,
    pub(crate) stats: Arc<StageStats>,
    pub(crate) ticker: Arc<Ticker>,
    pub(crate) allowance: Allowance,
}

impl Guest {
    /// Takes a line of the module's log.
    pub(crate) fn log(&self, level: Level, line: &[u8]) {
        self.stats.logs().write(self.ticker.elapsed(), level, line);
    }

    /// What becomes of a call that takes long.
    pub(crate) fn overdue(&mut self) -> UpdateDeadline {
        match self.allowance.look(processor_time()) {
            Some(left) => UpdateDeadline::Continue(self.ticker.ticks_in(left)),
            None => UpdateDeadline::Interrupt,
        }
    }
}

/// A module at work for one worker.
///
/// Invariant: the whole batch area and all counters are in the memory, which never shrinks.
pub(crate) struct Instance {
    pub(crate) store: Store<Guest>,
    pub(crate) memory: Memory,
    pub(crate) process: TypedFunc<u32, ()>,
    pub(crate) shape: BatchArea,
    /// Where the batch area begins.
    pub(crate) area: u32,
    /// Where the counters begin, if there are any.
    pub(crate) counters: Option<u32>,
}

/// What came of one call.
pub(crate) struct Outcome {
    /// The packets, from the first, whose verdicts stand.
    pub(crate) decided: usize,
    pub(crate) counts: CallCounts,
    /// One of the answers that broke the contract.
    pub(crate) breach: Option<Breach>,
    /// Why the call did not return. The instance must not be called again.
    pub(crate) fault: Option<wasmtime::Error>,
}

impl Instance {
    /// The most packets that one call can take.
    pub(crate) fn room(&self) -> usize {
        self.shape.packets as usize
    }

    /// Has the module decide on the `count` packets from `first` on.
    ///
    /// Neither a packet nor its context is touched unless its verdict stands.
    pub(crate) fn decide<P: Packet>(
        &mut self,
        batch: &mut Batch<'_, P>,
        first: usize,
        count: usize,
        terms: &Terms,
    ) -> Outcome {
        self.fill(batch, first, count);
        let fault = self.enter(count);
        let mut outcome =
            Outcome { decided: count, counts: CallCounts::default(), breach: None, fault };
        self.collect(batch, first, terms, &mut outcome);
        outcome
    }

    /// Calls the module for the first packets of the batch area, and returns why it did not return.
    pub(crate) fn enter(&mut self, packets: usize) -> Option<wasmtime::Error> {
        self.store.data_mut().allowance.begin();
        self.store.set_epoch_deadline(FIRST_LOOK);
        let packets = u32::try_from(packets).expect("no more than there is room for");
        self.process.call(&mut self.store, packets).err()
    }

    /// Where the first `count` packets are described, and all windows.
    pub(crate) fn places(&mut self, count: usize) -> (&mut [Descriptor], &mut [u8]) {
        let shape = self.shape;
        let area = &mut self.memory.data_mut(&mut self.store)[self.area as usize..][..shape.size()];
        let (descriptors, windows) = area.split_at_mut(shape.descriptors());
        let descriptors = <[Descriptor]>::mut_from_bytes(&mut descriptors[..described(count)])
            .expect("the area is aligned, in a memory that is");
        (descriptors, windows)
    }

    /// Copies what the module may see of the packets into the batch area.
    fn fill<P: Packet>(&mut self, batch: &Batch<'_, P>, first: usize, count: usize) {
        let (base, shape) = (self.area as usize, self.shape);
        let (descriptors, windows) = self.places(count);
        for (index, descriptor) in descriptors.iter_mut().enumerate() {
            let (packet, context) = batch.get(first + index);
            let bytes = packet.bytes();
            let seen = bytes.len().min(shape.window as usize);
            window::copy(&bytes[..seen], &mut windows[index * shape.stride()..]);
            *descriptor = describe(context, bytes.len(), seen, base + shape.window_at(index));
        }
    }

    /// Takes the answers out of the batch area, each read once, as far as they stand.
    fn collect<P: Packet>(
        &self,
        batch: &mut Batch<'_, P>,
        first: usize,
        terms: &Terms,
        outcome: &mut Outcome,
    ) {
        let shape = self.shape;
        let area = &self.memory.data(&self.store)[self.area as usize..][..shape.size()];
        let (descriptors, windows) = area.split_at(shape.descriptors());
        let answers = <[Descriptor]>::ref_from_bytes(&descriptors[..described(outcome.decided)])
            .expect("the area is aligned, in a memory that is");
        for (index, answer) in answers.iter().enumerate() {
            if outcome.fault.is_some() && answer.verdict == verdict::UNDECIDED {
                outcome.decided = index;
                break;
            }
            let (packet, context) = batch.get_mut(first + index);
            let window = &windows[index * shape.stride()..][..shape.window as usize];
            outcome.take(terms, answer, window, packet, context);
        }
    }

    /// Copies the module's counters out.
    pub(crate) fn read_counters(&self, mut each: impl FnMut(usize, u64), count: usize) {
        let Some(start) = self.counters else { return };
        let bytes = &self.memory.data(&self.store)[start as usize..][..count * size_of::<u64>()];
        for (index, counter) in bytes.as_chunks().0.iter().enumerate() {
            each(index, u64::from_le_bytes(*counter));
        }
    }
}

impl Outcome {
    /// Takes one answer: the verdict, the metadata and, if it was changed, the window. Where and
    /// how long the packet is are the host's own numbers.
    fn take<P: Packet>(
        &mut self,
        terms: &Terms,
        answer: &Descriptor,
        window: &[u8],
        packet: &mut P,
        context: &mut Context,
    ) {
        match terms.judge(answer) {
            Ok((verdict, dirty)) => {
                if dirty {
                    let bytes = packet.bytes_mut();
                    let seen = bytes.len().min(window.len());
                    window::copy(&window[..seen], bytes);
                    context.rewritten = true;
                }
                context.metadata = answer.metadata;
                context.verdict = verdict;
            }
            Err(breach) => {
                context.verdict = DropReason::BadVerdict.into();
                self.counts.bad_verdicts += 1;
                self.breach = Some(breach);
            }
        }
        self.counts.verdicts.count(context.verdict, 1);
    }
}

/// The bytes of `count` descriptors.
pub(crate) fn described(count: usize) -> usize {
    count * size_of::<Descriptor>()
}

/// What the module is told of a packet of `length` bytes, of which it sees `seen` at `data`.
pub(crate) fn describe(context: &Context, length: usize, seen: usize, data: usize) -> Descriptor {
    // Frames and addresses of a memory fit 32 bits.
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let headers = &context.headers;
    Descriptor {
        metadata: context.metadata,
        data: number(data),
        data_length: number(seen),
        packet_length: number(length),
        in_port: u32::from(context.in_port.0),
        flow_hash: context.flow_hash,
        l3: headers.l3.unwrap_or(NO_OFFSET),
        l4: headers.l4.unwrap_or(NO_OFFSET),
        ethertype: headers.ethertype,
        protocol: headers.protocol,
        traits: match headers.fragment {
            Fragment::Not => 0,
            Fragment::First => traits::FRAGMENT,
            Fragment::Later => traits::FRAGMENT | traits::LATER_FRAGMENT,
        },
        verdict: verdict::UNDECIDED,
        argument: 0,
        flags: 0,
    }
}
