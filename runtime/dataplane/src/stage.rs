//! Stages: steps of a program that are not the engine's own.
//!
//! Packets never move between stages; a stage decides on each packet of a [`Batch`], where it
//! stands. So there is no queue and no reordering.

use crate::{DropReason, PortId, ReasonId, TableId, packet::Headers};

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
        Self { packets, contexts, members }
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

/// One step of a program, run to completion over a batch by one thread.
///
/// A stage neither allocates, blocks nor logs in `run`. What it keeps belongs to its worker.
pub trait Stage<P>: Send {
    /// Sets the verdict of every packet of the batch, and may rewrite the packets, but not their
    /// length.
    fn run(&mut self, batch: &mut Batch<'_, P>);
}
