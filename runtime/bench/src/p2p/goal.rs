use clap::ValueEnum;

use super::{case::Case, results::Results};
use crate::{peer::System, weftd::Stage, workload::RuleSet};

/// What Weft is to be good at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Goal {
    /// One rule, 1 to 100,000 flows, beside Open vSwitch.
    OneRule,
    /// A rule a flow, all to one port, beside Open vSwitch.
    PerFlow,
    /// A million flows, beside one.
    Million,
    /// Two ports connected, beside testpmd.
    Cross,
    /// Ten thousand wildcard rules, beside one rule.
    Wildcard,
    /// A stage that is a module, beside Open vSwitch without one.
    Module,
    /// Every packet of a new flow, and what that does to an established one.
    Misses,
    /// What a flow and a rule take.
    Memory,
}

/// A goal, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Verdict {
    pub(super) work: &'static str,
    pub(super) unit: &'static str,
    /// None if it, or what it is compared to, was not measured.
    pub(super) measured: Option<f64>,
    pub(super) bound: Bound,
}

/// What the measured value is to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Bound {
    AtLeast(f64),
    Under(f64),
}

impl Verdict {
    /// Whether the goal is met.
    pub(super) fn is_met(&self) -> Option<bool> {
        self.measured.map(|value| match self.bound {
            Bound::AtLeast(least) => value >= least,
            Bound::Under(limit) => value < limit,
        })
    }
}

const ONE_RULE: [(u32, &str); 4] = [
    (1, "one rule, 1 flow"),
    (1_000, "one rule, 1 000 flows"),
    (10_000, "one rule, 10 000 flows"),
    (100_000, "one rule, 100 000 flows"),
];
const ONE_FLOW: Case = Case::new(1, RuleSet::One);
const MILLION: Case = Case::new(1_000_000, RuleSet::One);
const PER_FLOW: Case = Case::new(1_000, RuleSet::PerFlow);
const CROSS: Case = Case::new(1, RuleSet::Cross);
const TEN_THOUSAND: Case = Case::new(10_000, RuleSet::One);
const WILDCARD: Case = Case::new(10_000, RuleSet::Wildcard);
const MODULE: Case = Case { stage: Stage::RouterHop, ..Case::new(1_000, RuleSet::One) };

const OVS: &str = "times OVS-DPDK";

impl Goal {
    pub(super) const ALL: [Self; 8] = [
        Self::OneRule,
        Self::PerFlow,
        Self::Million,
        Self::Cross,
        Self::Wildcard,
        Self::Module,
        Self::Misses,
        Self::Memory,
    ];

    /// The rates that it takes.
    pub(super) fn cases(self) -> Vec<Case> {
        match self {
            Self::OneRule => {
                ONE_RULE.iter().map(|(flows, _)| Case::new(*flows, RuleSet::One)).collect()
            }
            Self::PerFlow => vec![PER_FLOW],
            Self::Million => vec![ONE_FLOW, MILLION],
            Self::Cross => vec![CROSS],
            Self::Wildcard => vec![TEN_THOUSAND, WILDCARD],
            Self::Module => vec![MODULE],
            Self::Misses | Self::Memory => Vec::new(),
        }
    }

    /// What became of it.
    pub(super) fn verdicts(self, results: &Results) -> Vec<Verdict> {
        let of = |case: &Case, other: &Case| {
            Some(results.rate(case)?.median / results.rate(other)?.median)
        };
        let verdict = |work, unit, measured, bound| vec![Verdict { work, unit, measured, bound }];
        let ovs = |work, case: &Case| Verdict {
            work,
            unit: OVS,
            measured: results.ratio(case, System::Ovs),
            bound: Bound::AtLeast(2.5),
        };
        match self {
            Self::OneRule => ONE_RULE
                .iter()
                .map(|&(flows, work)| ovs(work, &Case::new(flows, RuleSet::One)))
                .collect(),
            Self::PerFlow => vec![ovs("a rule a flow, 1 000 flows", &PER_FLOW)],
            Self::Million => verdict(
                "one rule, 1 000 000 flows",
                "of its rate at 1 flow",
                of(&MILLION, &ONE_FLOW),
                Bound::AtLeast(0.6),
            ),
            Self::Cross => verdict(
                "cross-connect of two ports",
                "of testpmd mac",
                results.ratio(&CROSS, System::Testpmd),
                Bound::AtLeast(0.9),
            ),
            Self::Wildcard => verdict(
                "10 000 wildcard rules, 10 000 flows",
                "of one rule",
                of(&WILDCARD, &TEN_THOUSAND),
                Bound::AtLeast(0.8),
            ),
            Self::Module => verdict(
                "a module's stage, 1 000 flows",
                OVS,
                results.ratio(&MODULE, System::Ovs),
                Bound::AtLeast(2.0),
            ),
            Self::Misses => misses(results),
            Self::Memory => memory(results),
        }
    }
}

fn misses(results: &Results) -> Vec<Verdict> {
    let median = |what| results.of_misses(what).map(|spread| spread.median);
    vec![
        Verdict {
            work: "new flows, 1 000 wildcard rules",
            unit: "million a second",
            measured: median(|misses| misses.new_alone),
            bound: Bound::AtLeast(1.0),
        },
        Verdict {
            work: "an established flow beside them",
            unit: "of its rate alone",
            measured: median(|misses| misses.established_beside / misses.established_alone),
            bound: Bound::AtLeast(0.9),
        },
    ]
}

fn memory(results: &Results) -> Vec<Verdict> {
    vec![
        Verdict {
            work: "memory of a cached flow",
            unit: "bytes",
            measured: results.memory.map(|memory| memory.bytes_per_flow),
            bound: Bound::Under(200.0),
        },
        Verdict {
            work: "memory of a rule",
            unit: "bytes",
            measured: results.memory.map(|memory| memory.bytes_per_rule),
            bound: Bound::Under(1024.0),
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{p2p::results::tests::results, peer::Peer};

    #[test]
    fn a_goal_is_met_or_missed_or_was_not_measured() {
        let ovs = Peer { system: System::Ovs, flows: 1, rules: RuleSet::One };
        let cases = [(ONE_FLOW, 26.0), (MILLION, 13.0), (PER_FLOW, 20.0)];
        let results = results(&cases, &[(ovs, 10.0)]);
        let met = |goal: Goal| -> Vec<Option<bool>> {
            goal.verdicts(&results).iter().map(Verdict::is_met).collect()
        };
        assert_eq!(met(Goal::OneRule), [Some(true), None, None, None]);
        assert_eq!(met(Goal::Million), [Some(false)]);
        assert_eq!(met(Goal::PerFlow), [None], "Open vSwitch was not measured with these rules");
        assert_eq!(met(Goal::Misses), [None, None]);
    }

    #[test]
    fn memory_is_to_stay_under_its_bound() {
        let mut results = Results::default();
        let memory = super::super::memory::Memory {
            bytes_per_rule: 1_024.0,
            bytes_per_flow: 199.9,
            flows: 100_000,
        };
        results.memory = Some(memory);
        let met: Vec<_> = Goal::Memory.verdicts(&results).iter().map(Verdict::is_met).collect();
        assert_eq!(met, [Some(true), Some(false)]);
    }
}
