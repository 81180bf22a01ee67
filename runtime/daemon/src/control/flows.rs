//! The flows in the workers' caches.

use std::sync::Arc;

use api_model::{
    CacheLevel, Code, Flow as Resource, FlowCursor, FlowQuery, Flows, Invalid,
    RuleKey as WrittenKey, TableNumber,
};
use dataplane::{
    classify::Touched,
    worker::{CachedFlow, FlowPage},
};

use super::{
    Daemon,
    refusal::{self, Answer},
    state::State,
};
use crate::{
    describe::{self, Directory},
    plane::Change,
};

/// How many places of its cache a worker tells of between two bursts: it takes microseconds.
const PAGE: usize = 256;

impl Daemon {
    /// The flows behind a place, as many as are asked for, if there are as many.
    pub(super) fn list_flows(&self, query: FlowQuery) -> Answer<Flows> {
        let mut next = Some(self.first_place(query)?);
        let mut flows = Vec::new();
        while let Some(place) = next
            && flows.len() < query.limit
        {
            let page = self.flow_page(place, query.limit - flows.len())?;
            next = match page.next {
                Some(behind) => Some(FlowCursor { place: behind as u64, ..place }),
                None if query.worker.is_some() => None,
                None => Some(FlowCursor { worker: place.worker + 1, place: 0 })
                    .filter(|next| usize::from(next.worker) < self.plane.len()),
            };
            let teller =
                Teller { worker: place.worker, now: page.now, cycles_a_second: self.eal.tsc_hz() };
            let state = self.state();
            let directory = state.directory();
            let told = page.flows.iter().filter_map(|flow| teller.tell(flow, &state, &directory));
            flows.extend(told);
        }
        Ok(Flows { flows, next })
    }

    fn first_place(&self, query: FlowQuery) -> Answer<FlowCursor> {
        let asked = FlowCursor { worker: query.worker.unwrap_or(0), place: 0 };
        let first = query.cursor.unwrap_or(asked);
        let refuse = |field, reason: String| {
            Err(refusal::invalid(Code::QueryInvalid, Invalid::at(&[field], reason)))
        };
        let workers = self.plane.len();
        if usize::from(asked.worker) >= workers {
            return refuse("worker", format!("there is no worker {}", asked.worker));
        }
        if usize::from(first.worker) >= workers {
            return refuse("cursor", format!("there is no worker {}", first.worker));
        }
        if query.worker.is_some_and(|worker| worker != first.worker) {
            return refuse("cursor", "it is of a list of other workers' flows".to_owned());
        }
        Ok(first)
    }

    /// A page of a worker's flows, not more than so many.
    fn flow_page(&self, from: FlowCursor, limit: usize) -> Answer<FlowPage> {
        let page = |most: usize| {
            let from_place = usize::try_from(from.place).unwrap_or(usize::MAX);
            let flows = Vec::with_capacity(most);
            let page = FlowPage { from: from_place, most, flows, ..FlowPage::default() };
            self.plane.flows(from.worker.into(), page).map_err(refusal::stalled)
        };
        let whole = page(PAGE)?;
        // A flow has a place, so that as few places have no more flows.
        if whole.flows.len() > limit { page(limit) } else { Ok(whole) }
    }

    /// Has the workers forget all flows.
    pub(super) fn forget_flows(&self) -> Answer<()> {
        let _changing = self.changing();
        let (revision, tables) = {
            let state = self.state();
            (state.revision, Arc::clone(&state.tables))
        };
        let touched = Arc::new(Touched::Forgotten);
        self.publish_as(revision, |_| {
            vec![Change::Rules(Arc::clone(&tables), Arc::clone(&touched))]
        })?;
        tracing::info!("flows flushed");
        Ok(())
    }
}

/// What a page of flows has in common.
struct Teller {
    worker: u16,
    now: u64,
    cycles_a_second: u64,
}

impl Teller {
    /// A flow as clients read it; `None` if its actions are about what is gone, as is the flow then.
    fn tell(&self, flow: &CachedFlow, state: &State, directory: &Directory) -> Option<Resource> {
        let rules = flow.rules.iter().filter_map(|id| state.rule_keys.get(id));
        Some(Resource {
            worker: self.worker,
            r#match: describe::matched(&flow.key, &flow.mask, directory),
            start_table: TableNumber::new(u8::try_from(flow.key.table).ok()?)?,
            packets: flow.tally.packets,
            bytes: flow.tally.bytes,
            age_ms: self.milliseconds_since(flow.created),
            idle_ms: self.milliseconds_since(flow.used),
            cache: if flow.exact { CacheLevel::Exact } else { CacheLevel::Wildcard },
            rules: rules
                .map(|(table, name)| WrittenKey { table: *table, name: name.clone() })
                .collect(),
            actions: describe::actions(&flow.actions, directory)?,
        })
    }

    fn milliseconds_since(&self, then: u64) -> u64 {
        let cycles = u128::from(self.now.saturating_sub(then));
        let milliseconds = cycles * 1000 / u128::from(self.cycles_a_second.max(1));
        u64::try_from(milliseconds).unwrap_or(u64::MAX)
    }
}
