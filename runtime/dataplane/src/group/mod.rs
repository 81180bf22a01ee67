//! Groups: several ways to go on, of which a packet takes all, one, or the first that works.

mod select;

use std::sync::Arc;

use select::Slots;

use crate::{Links, PortId, SharedTally, program::Action};

/// Which buckets a packet takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Each, with a copy.
    All,
    /// One, that packets of a flow have in common.
    Select,
    /// The first that is alive.
    FastFailover,
}

/// A way to go on.
#[derive(Debug)]
pub struct Bucket {
    /// What is done: changes of the packet, outputs and drops.
    pub actions: Vec<Action>,
    /// Its share of flows, beside those of the other buckets.
    pub weight: u16,
    /// The port that is up if it is alive; without one, it always is.
    pub watch: Option<PortId>,
    /// The packets that took it.
    pub counted: SharedTally,
}

/// Several ways to go on.
#[derive(Debug)]
pub struct Group {
    kind: Kind,
    buckets: Vec<Bucket>,
    links: Arc<Links>,
    slots: Slots,
}

impl Group {
    /// The most buckets that there can be.
    pub const MOST_BUCKETS: usize = 256;

    /// A group of up to [`Group::MOST_BUCKETS`] buckets.
    #[must_use]
    pub fn new(kind: Kind, buckets: Vec<Bucket>, links: Arc<Links>) -> Self {
        let slots = Slots::new(&buckets);
        Self { kind, buckets, links, slots }
    }

    /// Which buckets a packet takes.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// All buckets.
    #[must_use]
    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    /// The bucket that a packet of a flow takes, if it takes one.
    #[inline]
    #[must_use]
    pub fn choose(&self, flow_hash: u32) -> Option<&Bucket> {
        match self.kind {
            Kind::All => None,
            Kind::Select => self.select(flow_hash),
            Kind::FastFailover => self.buckets.iter().find(|bucket| self.is_alive(bucket)),
        }
    }

    /// The flow's own bucket. While that is dead, others take its flows, and no other flow moves.
    fn select(&self, flow_hash: u32) -> Option<&Bucket> {
        let own = self.slots.tries(flow_hash).map(|place| &self.buckets[place]);
        let any = || self.buckets.iter().find(|bucket| self.is_alive(bucket));
        own.into_iter().find(|bucket| self.is_alive(bucket)).or_else(any)
    }

    /// Whether a bucket can carry packets.
    #[must_use]
    pub fn is_alive(&self, bucket: &Bucket) -> bool {
        bucket.watch.is_none_or(|port| self.links.is_up(port))
    }
}
