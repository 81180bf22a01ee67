use std::collections::BTreeMap;

use super::{case::Case, memory::Memory, misses::Misses};
use crate::{
    peer::{Peer, System},
    spread::Spread,
};

/// One measurement of Weft.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sample {
    /// Millions of packets a second that left.
    pub(super) mpps: f64,
    /// Millions of lookups a second that no cache could answer.
    pub(super) misses_mpps: f64,
    pub(super) cycles_per_packet: f64,
    /// Packets that no rule let through: there should be none.
    pub(super) dropped: u64,
    /// Packets without a fate: there must be none.
    pub(super) lost: i64,
    pub(super) changes_per_second: f64,
    /// How many flows there really were, as some rules leave little choice.
    pub(super) flows: usize,
    /// The rules that the daemon was given.
    pub(super) rules: usize,
}

/// All that was measured.
#[derive(Debug, Default)]
pub(super) struct Results {
    pub(super) cases: BTreeMap<Case, Vec<Sample>>,
    pub(super) peers: BTreeMap<Peer, Vec<f64>>,
    pub(super) misses: Vec<Misses>,
    pub(super) memory: Option<Memory>,
}

impl Results {
    pub(super) fn add(&mut self, case: Case, sample: Sample) {
        self.cases.entry(case).or_default().push(sample);
    }

    pub(super) fn add_peer(&mut self, peer: Peer, mpps: f64) {
        self.peers.entry(peer).or_default().push(mpps);
    }

    /// Whether a peer was not measured yet in a round, the first of which is 1.
    pub(super) fn is_due(&self, peer: Peer, round: u32) -> bool {
        self.peers.get(&peer).is_none_or(|samples| samples.len() < round as usize)
    }

    /// The rate of a case.
    pub(super) fn rate(&self, case: &Case) -> Option<Spread> {
        let samples = self.cases.get(case)?;
        Spread::of(&samples.iter().map(|sample| sample.mpps).collect::<Vec<_>>())
    }

    /// How many times as fast a case is as another system at the same.
    pub(super) fn ratio(&self, case: &Case, system: System) -> Option<f64> {
        let peer = case.peers().into_iter().find(|peer| peer.system == system)?;
        let peer = Spread::of(self.peers.get(&peer)?)?;
        Some(self.rate(case)?.median / peer.median)
    }

    /// What was measured with new flows, of all repeats.
    pub(super) fn of_misses(&self, what: fn(&Misses) -> f64) -> Option<Spread> {
        Spread::of(&self.misses.iter().map(what).collect::<Vec<_>>())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::workload::RuleSet;

    /// Results of one repeat: rates of cases in millions, and of peers.
    pub(crate) fn results(cases: &[(Case, f64)], peers: &[(Peer, f64)]) -> Results {
        let mut results = Results::default();
        for &(case, mpps) in cases {
            let sample = Sample {
                mpps,
                misses_mpps: 0.0,
                cycles_per_packet: 50.0,
                dropped: 0,
                lost: 0,
                changes_per_second: 0.0,
                flows: case.flows as usize,
                rules: 1,
            };
            results.add(case, sample);
        }
        for &(peer, mpps) in peers {
            results.add_peer(peer, mpps);
        }
        results
    }

    #[test]
    fn a_ratio_is_of_medians_and_of_the_same_work() {
        let case = Case::new(1_000, RuleSet::PerFlow);
        let ovs = Peer { system: System::Ovs, flows: 1_000, rules: RuleSet::PerFlow };
        let mut results = results(&[(case, 20.0), (case, 40.0), (case, 30.0)], &[(ovs, 10.0)]);
        assert_eq!(results.ratio(&case, System::Ovs), Some(3.0));
        assert_eq!(results.ratio(&case, System::Testpmd), None);
        assert_eq!(results.ratio(&Case::new(1, RuleSet::PerFlow), System::Ovs), None);
        assert!(!results.is_due(ovs, 1) && results.is_due(ovs, 2));
        results.add_peer(ovs, 12.0);
        assert!(!results.is_due(ovs, 2));
    }
}
