use std::fmt;

use crate::{
    peer::Peer,
    weftd::Stage,
    workload::{Flows, RuleSet, Workload},
};

/// What one rate is measured of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Case {
    pub(super) flows: u32,
    pub(super) rules: RuleSet,
    /// Of the sets that have no number of their own.
    pub(super) rule_count: u16,
    pub(super) size: u16,
    pub(super) stage: Stage,
    /// Changes of rules a second meanwhile.
    pub(super) churn: u32,
}

impl Case {
    /// So many flows, rules of a set, and nothing special.
    pub(super) const fn new(flows: u32, rules: RuleSet) -> Self {
        Self { flows, rules, rule_count: 10_000, size: 64, stage: Stage::None, churn: 0 }
    }

    pub(super) fn workload(&self, seed: u64) -> Workload {
        Workload::new(self.rules, self.rule_count, Flows::Replayed(self.flows), seed)
    }

    /// The other systems' measurements that it is set in relation to.
    pub(super) fn peers(&self) -> Vec<Peer> {
        Peer::beside(self.flows, self.rules, self.size)
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { flows, rules, size, stage, .. } = self;
        write!(f, "{flows} flows, rules {}, {size} bytes", rules.name())?;
        if *stage != Stage::None {
            write!(f, ", stage {}", stage.name())?;
        }
        Ok(())
    }
}

/// All combinations, in the order of flows, rules, size and stage.
pub(super) fn product(
    flows: &[u32],
    rules: &[RuleSet],
    sizes: &[u16],
    stages: &[Stage],
    template: Case,
) -> Vec<Case> {
    let mut cases = Vec::new();
    for &flows in flows {
        for &rules in rules {
            for &size in sizes {
                let of = |&stage: &Stage| Case { flows, rules, size, stage, ..template };
                cases.extend(stages.iter().map(of));
            }
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_has_every_combination_once() {
        let template = Case { churn: 5, ..Case::new(1, RuleSet::One) };
        let stages = [Stage::None, Stage::RouterHop];
        let cases = product(&[1, 1_000], &[RuleSet::One, RuleSet::Acl], &[64], &stages, template);
        assert_eq!(cases.len(), 8);
        let last = Case { flows: 1_000, rules: RuleSet::Acl, stage: Stage::RouterHop, ..template };
        assert_eq!(cases.last(), Some(&last));
        let distinct: std::collections::BTreeSet<_> = cases.iter().collect();
        assert_eq!(distinct.len(), 8);
    }
}
