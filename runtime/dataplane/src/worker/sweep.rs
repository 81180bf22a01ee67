use std::{ops::Range, sync::Arc};

use crate::{classify::Touched, flow::FlowKey};

/// The walk over all cached flows, a few between two bursts, so that no packet waits for it.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    /// The flows that a change of rules is about, until all were looked at.
    touched: Option<Arc<Touched>>,
    /// The place of the next flow; `None` between two walks.
    next: Option<usize>,
    /// When the next walk begins, if no change does before.
    due: u64,
}

/// How many flows are looked at between two bursts.
const STEP: usize = 32;

impl Sweep {
    /// Begins a walk that looks at what a change of rules is about.
    pub(super) fn revise(&mut self, touched: Arc<Touched>) {
        self.touched = Some(touched);
        self.next = Some(0);
    }

    /// Whether a change of rules is not done yet.
    #[inline]
    pub(super) fn revises(&self) -> bool {
        self.touched.is_some()
    }

    /// Whether all flows are to go.
    pub(super) fn forgets(&self) -> bool {
        matches!(self.touched.as_deref(), Some(Touched::Forgotten))
    }

    /// Whether a flow is to be looked up in the tables again.
    pub(super) fn is_about(&self, key: &FlowKey, mask: &FlowKey) -> bool {
        self.touched.as_ref().is_some_and(|touched| touched.may_be_about(key, mask))
    }

    /// The places to be looked at now, of so many. A walk begins `pause` after the one before.
    #[inline]
    pub(super) fn next(&mut self, now: u64, pause: u64, places: usize) -> Option<Range<usize>> {
        let start = match self.next {
            Some(start) => start,
            None if now >= self.due => 0,
            None => return None,
        };
        let end = places.min(start + STEP);
        if start >= end {
            (self.touched, self.next) = (None, None);
            self.due = now.saturating_add(pause);
        } else {
            self.next = Some(end);
        }
        Some(start..end)
    }

    /// Leaves the places from here on for another time.
    pub(super) fn pause(&mut self, place: usize) {
        self.next = Some(place);
    }
}
