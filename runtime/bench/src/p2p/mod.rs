//! From a port to a port: the rate of one worker, by what it has to do.

mod bench;
mod case;
mod churn;
mod goal;
mod memory;
mod misses;
mod report;
mod results;

use crate::{
    arguments::{FlowCount, P2p},
    error::Error,
    weftd::Stage,
    workload::RuleSet,
};
use bench::{Bench, say};
use case::{Case, product};
pub(crate) use goal::Goal;
use report::Report;
use results::Results;

/// What is to be measured.
struct Plan {
    cases: Vec<Case>,
    /// Whether new flows are measured, beside an established one.
    misses: bool,
    memory: bool,
    /// What is then said.
    goals: Vec<Goal>,
}

impl Plan {
    fn new(options: &P2p) -> Self {
        if options.is_sweep() { Self::sweep(options) } else { Self::goals(options) }
    }

    fn goals(options: &P2p) -> Self {
        let goals =
            if options.goals.is_empty() { Goal::ALL.to_vec() } else { options.goals.clone() };
        let mut cases: Vec<Case> = goals.iter().flat_map(|goal| goal.cases()).collect();
        // What several goals need is measured once.
        cases.sort_unstable();
        cases.dedup();
        let (misses, memory) = (goals.contains(&Goal::Misses), goals.contains(&Goal::Memory));
        Self { cases, misses, memory, goals }
    }

    fn sweep(options: &P2p) -> Self {
        let or = |given: &[FlowCount]| {
            if given.is_empty() { vec![FlowCount::Of(1)] } else { given.to_vec() }
        };
        let all = or(&options.flows);
        let flows: Vec<u32> = all
            .iter()
            .filter_map(|count| match count {
                FlowCount::Of(count) => Some(*count),
                FlowCount::New => None,
            })
            .collect();
        let rules = if options.rules.is_empty() { &[RuleSet::One] } else { &options.rules[..] };
        let sizes = if options.size.is_empty() { &[64] } else { &options.size[..] };
        let stages = if options.stage.is_empty() { &[Stage::None] } else { &options.stage[..] };
        let template = Case {
            rule_count: options.rule_count,
            churn: options.churn,
            ..Case::new(1, RuleSet::One)
        };
        let cases = product(&flows, rules, sizes, stages, template);
        Self { cases, misses: all.contains(&FlowCount::New), memory: false, goals: Vec::new() }
    }
}

/// Measures, prints, and leaves the results behind.
pub(crate) fn run(options: &P2p) -> Result<(), Error> {
    let plan = Plan::new(options);
    let mut report = Report::create(&options.out)?;
    let results = measure(options, &plan)?;
    report.results(&results)?;
    report.goals(&plan.goals, &results)?;
    report.finish(&options.out)
}

fn measure(options: &P2p, plan: &Plan) -> Result<Results, Error> {
    let mut results = Results::default();
    let mut bench = Bench::new(options)?;
    for round in 1..=options.repeats.get() {
        for case in &plan.cases {
            say(&format!("round {round} of {}: {case}", options.repeats));
            results.add(*case, bench.measure(case)?);
            for peer in case.peers() {
                if let Some(folder) = &options.peers
                    && results.is_due(peer, round)
                {
                    results.add_peer(peer, peer.measure(folder, options.seconds)?);
                }
            }
        }
        if plan.misses {
            say(&format!("round {round} of {}: new flows", options.repeats));
            results.misses.push(misses::measure(&mut bench)?);
        }
    }
    if plan.memory {
        say("memory");
        results.memory = Some(memory::measure(&mut bench)?);
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::arguments::{Arguments, Command};

    fn plan(words: &[&str]) -> Plan {
        let arguments = Arguments::parse_from([&["weft-bench", "p2p"], words].concat());
        let Command::P2p(options) = arguments.command;
        Plan::new(&options)
    }

    #[test]
    fn without_a_wish_all_goals_are_measured_and_nothing_twice() {
        let plan = plan(&[]);
        assert_eq!(plan.goals, Goal::ALL);
        assert!(plan.misses && plan.memory);
        let one_rule = plan.cases.iter().filter(|case| case.rules == RuleSet::One);
        let flows: Vec<u32> = one_rule.map(|case| case.flows).collect();
        assert_eq!(flows, [1, 1_000, 10_000, 100_000, 1_000_000]);
    }

    #[test]
    fn a_sweep_measures_what_it_is_told() {
        let plan = plan(&["--flows", "5,new", "--rules", "acl,fw", "--churn", "9"]);
        let acl = Case { churn: 9, ..Case::new(5, RuleSet::Acl) };
        assert_eq!(plan.cases, [acl, Case { rules: RuleSet::Fw, ..acl }]);
        assert!(plan.misses && !plan.memory && plan.goals.is_empty());
    }
}
