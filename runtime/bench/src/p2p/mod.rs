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
        let counts = or(&options.flows, FlowCount::Of(1));
        let replayed = counts.iter().filter_map(|count| match count {
            FlowCount::Of(count) => Some(*count),
            FlowCount::New => None,
        });
        let template = Case {
            rule_count: options.rule_count,
            churn: options.churn,
            ..Case::new(1, RuleSet::One)
        };
        let cases = product(
            &replayed.collect::<Vec<_>>(),
            &or(&options.rules, RuleSet::One),
            &or(&options.size, template.size),
            &or(&options.stage, Stage::None),
            template,
        );
        let misses = counts.contains(&FlowCount::New);
        Self { cases, misses, memory: false, goals: Vec::new() }
    }
}

/// What was given, or else one thing.
fn or<T: Copy>(given: &[T], default: T) -> Vec<T> {
    if given.is_empty() { vec![default] } else { given.to_vec() }
}

/// Measures, prints, and leaves the results behind.
pub(crate) fn run(options: &P2p) -> Result<(), Error> {
    let plan = Plan::new(options);
    let mut report = Report::create(&options.out)?;
    let mut results = Results::default();
    let measured = measure(options, &plan, &mut results);
    // What was measured before something failed is told, too.
    report.results(&results)?;
    report.goals(&plan.goals, &results)?;
    report.finish(&options.out)?;
    measured
}

fn measure(options: &P2p, plan: &Plan, results: &mut Results) -> Result<(), Error> {
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
    Ok(())
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
        let is_plain = |case: &&Case| case.rules == RuleSet::One && case.stage == Stage::None;
        let one_rule = plan.cases.iter().filter(is_plain);
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
