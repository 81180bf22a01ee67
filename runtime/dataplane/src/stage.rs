//! Stages: steps of a program that are not the engine's own.
//!
//! Packets never move between stages; a stage decides on each packet of a [`Batch`], where it
//! stands. So there is no queue and no reordering.

use crate::{
    DropReason, PortId, ReasonId, TableId,
    flow::FlowKey,
    packet::{Headers, Parsed},
};

/// What a stage says of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The next action of the packet's program sees it.
    Next,
    /// It is dropped, and counted under the reason.
    Drop(ReasonId),
    /// It leaves by a port.
    Output(PortId),
    /// It is looked up again.
    Goto(TableId),
}

impl From<DropReason> for Verdict {
    fn from(reason: DropReason) -> Self {
        Self::Drop(reason.into())
    }
}

/// What the engine knows of a packet beside its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    /// Where it came from.
    pub in_port: PortId,
    /// Where its headers lie.
    pub headers: Headers,
    /// Equal for the packets of a flow.
    pub flow_hash: u32,
    /// What stages tell each other of it.
    pub metadata: u64,
    /// Set by a stage that changed its bytes, so that the headers are read again before they are
    /// needed.
    pub rewritten: bool,
    /// The last stage's word.
    pub verdict: Verdict,
}

/// The packets of one burst that a stage is to decide on.
#[derive(Debug)]
pub struct Batch<'a, P> {
    packets: &'a mut [P],
    contexts: &'a mut [Context],
    members: &'a [u16],
    outbox: Option<&'a mut Outbox<P>>,
}

/// Where stages put packets of their own, of a fixed size.
#[derive(Debug)]
pub struct Outbox<P> {
    emitted: Vec<Emitted<P>>,
    room: usize,
}

/// A packet that a stage made.
#[derive(Debug)]
pub struct Emitted<P> {
    /// The place in its burst of the packet that it is counted with.
    pub place: u16,
    /// Where it goes: by a port, or to be looked up in a table.
    pub to: Destination,
    /// Its metadata.
    pub metadata: u64,
    /// The packet.
    pub packet: P,
}

/// Where a packet goes that a stage made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// It leaves by a port, before the packet that it is counted with and behind those before.
    Output(PortId),
    /// It is looked up from a table on, in a later burst of the same worker.
    Goto(TableId),
}

impl<P> Default for Outbox<P> {
    /// Without room.
    fn default() -> Self {
        Self { emitted: Vec::new(), room: 0 }
    }
}

impl<P> Outbox<P> {
    /// With room for so many packets.
    #[must_use]
    pub fn new(room: usize) -> Self {
        Self { emitted: Vec::with_capacity(room), room }
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.emitted.is_empty()
    }

    /// Takes out what is in it, in order.
    pub fn drain(&mut self) -> impl Iterator<Item = Emitted<P>> {
        self.emitted.drain(..)
    }
}

impl<'a, P> Batch<'a, P> {
    /// Of a burst's packets and their contexts, those at the places in `members`.
    ///
    /// # Panics
    ///
    /// Panics if a burst's packets and contexts differ in number; its methods do if a member is
    /// none of them.
    pub fn new(packets: &'a mut [P], contexts: &'a mut [Context], members: &'a [u16]) -> Self {
        assert_eq!(packets.len(), contexts.len(), "each packet has its context");
        Self { packets, contexts, members, outbox: None }
    }

    /// The same, with a place for packets that the stage makes.
    #[must_use]
    pub fn with_outbox(self, outbox: &'a mut Outbox<P>) -> Self {
        Self { outbox: Some(outbox), ..self }
    }

    /// Sends a packet that the stage made, and counts it with packet `index`.
    ///
    /// # Errors
    ///
    /// The packet, if there is no room for it.
    pub fn emit(
        &mut self,
        index: usize,
        to: Destination,
        metadata: u64,
        packet: P,
    ) -> Result<(), P> {
        let place = self.members[index];
        match &mut self.outbox {
            Some(outbox) if outbox.emitted.len() < outbox.room => {
                outbox.emitted.push(Emitted { place, to, metadata, packet });
                Ok(())
            }
            _ => Err(packet),
        }
    }

    /// The places in the burst of its packets.
    #[must_use]
    pub fn members(&self) -> &[u16] {
        self.members
    }

    /// Those of its packets that are at some of its members, as a batch of their own.
    pub fn part<'b>(&'b mut self, members: &'b [u16]) -> Batch<'b, P> {
        let Batch { packets, contexts, outbox, .. } = self;
        Batch { packets, contexts, members, outbox: outbox.as_deref_mut() }
    }

    /// How many packets it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The packet `index`, with its context.
    #[must_use]
    pub fn get(&self, index: usize) -> (&P, &Context) {
        let place = usize::from(self.members[index]);
        (&self.packets[place], &self.contexts[place])
    }

    /// The packet `index`, with its context, to be changed.
    pub fn get_mut(&mut self, index: usize) -> (&mut P, &mut Context) {
        let place = usize::from(self.members[index]);
        (&mut self.packets[place], &mut self.contexts[place])
    }
}

/// The packets that a classifier is to say something of.
#[derive(Debug)]
pub struct Questions<'a, P> {
    parsed: &'a [Parsed],
    packets: &'a [P],
}

impl<P> Clone for Questions<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Questions<'_, P> {}

impl<'a, P> Questions<'a, P> {
    /// About these packets, whose headers were read.
    ///
    /// # Panics
    ///
    /// Panics if packets and headers differ in number.
    pub fn new(parsed: &'a [Parsed], packets: &'a [P]) -> Self {
        assert_eq!(parsed.len(), packets.len(), "each packet's headers were read");
        Self { parsed, packets }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parsed.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parsed.is_empty()
    }

    /// What the headers of packet `index` say, and the packet.
    #[must_use]
    pub fn get(&self, index: usize) -> (&'a Parsed, &'a P) {
        (&self.parsed[index], &self.packets[index])
    }
}

/// What a classifier says of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// What the packet's metadata is from then on.
    pub metadata: u64,
    /// The bits of the key that were looked at: it is the same for all keys that agree in them.
    pub seen: FlowKey,
    /// Whether it was given in place of a classifier that failed, and is not to be kept.
    pub makeshift: bool,
    /// Why the packet is to be dropped, if it is.
    pub drop: Option<DropReason>,
}

impl Answer {
    /// What is said in place of a classifier that has nothing to say: the packet is dropped.
    #[must_use]
    pub fn none(reason: DropReason) -> Self {
        Self { metadata: 0, seen: FlowKey::NONE, makeshift: true, drop: Some(reason) }
    }
}

/// One step of a program, run to completion over a batch by one thread.
///
/// A stage neither allocates, blocks nor logs in `run`. What it keeps belongs to its worker.
pub trait Stage<P>: Send {
    /// Sets the verdict of every packet of the batch, and may rewrite, grow and shrink the packets,
    /// and make others.
    fn run(&mut self, batch: &mut Batch<'_, P>);

    /// Says what packets are, one answer for each. A stage that is no classifier has none.
    fn classify(&mut self, questions: Questions<'_, P>, answers: &mut [Answer]) {
        let _ = questions;
        answers.fill(Answer::none(DropReason::NoSuchStage));
    }
}
