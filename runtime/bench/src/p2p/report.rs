use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::Path,
};

use serde_json::{Value, json};

use super::{
    case::Case,
    goal::{Bound, Goal, Verdict},
    memory::{self, Memory},
    misses,
    results::{Results, Sample},
};
use crate::{error::Error, peer::System, spread::Spread};

/// What is said of the results: a table to people, a line of JSON a measurement to programs.
pub(super) struct Report {
    lines: BufWriter<File>,
}

impl Report {
    /// Begins the file anew.
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::file("make the folder", folder))?;
        }
        let file = File::create(path).map_err(Error::file("write", path))?;
        Ok(Self { lines: BufWriter::new(file) })
    }

    /// Everything that was measured.
    pub(super) fn results(&mut self, results: &Results) -> Result<(), Error> {
        self.cases(results)?;
        self.peers(results)?;
        self.misses(results)?;
        if let Some(memory) = &results.memory {
            self.memory(memory)?;
        }
        Ok(())
    }

    fn cases(&mut self, results: &Results) -> Result<(), Error> {
        if results.cases.is_empty() {
            return Ok(());
        }
        let columns = [
            "flows",
            "rules",
            "size",
            "stage",
            "Mpps",
            "min",
            "max",
            "cycles",
            "of OVS",
            "of testpmd",
        ];
        say(&columns)?;
        for (case, samples) in &results.cases {
            let Some(rate) = results.rate(case) else { continue };
            let ratio = |system| results.ratio(case, system);
            let (ovs, testpmd) = (ratio(System::Ovs), ratio(System::Testpmd));
            self.line(&case_line(case, samples, rate, ovs, testpmd))?;
            say(&[
                &case.flows.to_string(),
                case.rules.name(),
                &case.size.to_string(),
                case.stage.name(),
                &number(Some(rate.median)),
                &number(Some(rate.min)),
                &number(Some(rate.max)),
                &number(median_of(samples, |sample| sample.cycles_per_packet)),
                &number(ovs),
                &number(testpmd),
            ])?;
            warn(case, samples)?;
        }
        Ok(())
    }

    fn peers(&mut self, results: &Results) -> Result<(), Error> {
        for (peer, samples) in &results.peers {
            let Some(rate) = Spread::of(samples) else { continue };
            let (system, flows, rules) = (peer.system.name(), peer.flows, peer.rules.name());
            self.line(&json!({
                "bench": "p2p", "system": system, "flows": flows, "rules": rules, "size": 64,
                "stage": "none", "mpps": rate.median, "mpps_min": rate.min, "mpps_max": rate.max,
                "repeats": samples.len(),
            }))?;
            let text =
                [&number(Some(rate.median)), &number(Some(rate.min)), &number(Some(rate.max))];
            say(&[&flows.to_string(), rules, "64", system, text[0], text[1], text[2]])?;
        }
        Ok(())
    }

    fn misses(&mut self, results: &Results) -> Result<(), Error> {
        let of = |what| results.of_misses(what);
        let Some(rate) = of(|misses| misses.new_alone) else { return Ok(()) };
        let median = |what| of(what).map(|spread| spread.median);
        let lookups = median(|misses| misses.lookups_alone);
        let beside = median(|misses| misses.new_beside);
        let established = median(|misses| misses.established_alone);
        let kept = median(|misses| misses.established_beside / misses.established_alone);
        self.line(&json!({
            "bench": "p2p-new-flows", "system": "weft", "flows": misses::FLOWS,
            "rules": "wildcard", "rule_count": misses::RULES, "size": 64, "stage": "none",
            "mpps": rate.median, "mpps_min": rate.min, "mpps_max": rate.max,
            "misses_mpps": lookups, "mpps_beside": beside, "established_mpps": established,
            "established_kept": kept, "repeats": results.misses.len(),
        }))?;
        let (rate, lookups) = (number(Some(rate.median)), number(lookups));
        print(&format!("new flows: {rate} M/s, {lookups} M/s of them looked up in the tables"))?;
        let (alone, kept, beside) = (number(established), number(kept), number(beside));
        print(&format!(
            "an established flow: {alone} Mpps alone; beside {beside} M/s of new ones it keeps {kept}"
        ))
    }

    fn memory(&mut self, memory: &Memory) -> Result<(), Error> {
        let Memory { bytes_per_rule, bytes_per_flow, flows } = memory;
        self.line(&json!({
            "bench": "p2p-memory", "system": "weft", "flows": memory::COUNT, "rules": "per-flow",
            "rule_count": memory::COUNT, "bytes_per_rule": bytes_per_rule,
            "bytes_per_flow": bytes_per_flow, "cached_flows": flows,
        }))?;
        print(&format!(
            "memory: {bytes_per_rule:.0} bytes a rule, {bytes_per_flow:.0} bytes a flow of {flows}"
        ))
    }

    /// Which goals are met.
    pub(super) fn goals(&mut self, goals: &[Goal], results: &Results) -> Result<(), Error> {
        for goal in goals {
            for verdict in goal.verdicts(results) {
                self.line(&goal_line(&verdict))?;
                print(&goal_text(&verdict))?;
            }
        }
        Ok(())
    }

    /// Writes what is still to be written.
    pub(super) fn finish(mut self, path: &Path) -> Result<(), Error> {
        self.lines.flush().map_err(Error::file("write", path))?;
        print(&format!("results: {}", path.display()))
    }

    fn line(&mut self, value: &Value) -> Result<(), Error> {
        Ok(writeln!(self.lines, "{value}")?)
    }
}

fn case_line(
    case: &Case,
    samples: &[Sample],
    rate: Spread,
    ovs: Option<f64>,
    testpmd: Option<f64>,
) -> Value {
    let first = samples.first();
    let median = |what| median_of(samples, what);
    let mut line = json!({
        "bench": "p2p", "system": "weft", "flows": case.flows, "rules": case.rules.name(),
        "rule_count": first.map(|sample| sample.rules), "size": case.size,
        "stage": case.stage.name(), "mpps": rate.median, "mpps_min": rate.min,
        "mpps_max": rate.max, "repeats": samples.len(),
        "distinct_flows": first.map(|sample| sample.flows),
        "cycles_per_packet": median(|sample| sample.cycles_per_packet),
        "misses_mpps": median(|sample| sample.misses_mpps),
        "dropped": samples.iter().map(|sample| sample.dropped).sum::<u64>(),
        "ratio_ovs": ovs, "ratio_testpmd": testpmd,
    });
    if case.churn > 0 {
        line["churn"] = json!(case.churn);
        line["changes_per_second"] = json!(median(|sample| sample.changes_per_second));
        line["lost"] = json!(samples.iter().map(|sample| sample.lost).sum::<i64>());
    }
    line
}

/// Says what casts doubt on a rate.
fn warn(case: &Case, samples: &[Sample]) -> Result<(), Error> {
    let dropped: u64 = samples.iter().map(|sample| sample.dropped).sum();
    let lost: i64 = samples.iter().map(|sample| sample.lost).sum();
    if case.churn > 0 {
        let changes = number(median_of(samples, |sample| sample.changes_per_second));
        print(&format!("  {changes} changes a second; {lost} packets lost, {dropped} dropped"))?;
    } else if dropped > 0 || lost != 0 {
        print(&format!("  {dropped} packets were dropped and {lost} have no fate"))?;
    }
    Ok(())
}

fn goal_line(verdict: &Verdict) -> Value {
    let (kind, bound) = match verdict.bound {
        Bound::AtLeast(bound) => ("at_least", bound),
        Bound::Under(bound) => ("under", bound),
    };
    json!({
        "bench": "goal", "work": verdict.work, "unit": verdict.unit, kind: bound,
        "measured": verdict.measured, "met": verdict.is_met(),
    })
}

fn goal_text(verdict: &Verdict) -> String {
    let outcome = match verdict.is_met() {
        Some(true) => "met",
        Some(false) => "NOT MET",
        None => "not measured",
    };
    let bound = match verdict.bound {
        Bound::AtLeast(bound) => format!("at least {bound}"),
        Bound::Under(bound) => format!("under {bound}"),
    };
    let measured = number(verdict.measured);
    let Verdict { work, unit, .. } = verdict;
    format!("{work:<36} {measured:>8} {unit:<22} {bound:<14} {outcome}")
}

fn median_of(samples: &[Sample], what: fn(&Sample) -> f64) -> Option<f64> {
    Spread::of(&samples.iter().map(what).collect::<Vec<_>>()).map(|spread| spread.median)
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
}

/// A row of the table.
fn say(cells: &[&str]) -> Result<(), Error> {
    let widths = [9, 9, 5, 11, 8, 8, 8, 8, 8, 11];
    let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:>width$}"));
    print(&padded.collect::<Vec<_>>().join(" "))
}

fn print(line: &str) -> Result<(), Error> {
    Ok(writeln!(io::stdout(), "{line}")?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{p2p::results::tests::results, peer::Peer, workload::RuleSet};

    #[test]
    fn a_measurement_is_one_line_with_its_ratios() {
        let case = Case::new(1, RuleSet::One);
        let ovs = Peer { system: System::Ovs, flows: 1, rules: RuleSet::One };
        let results = results(&[(case, 30.0), (case, 32.0), (case, 31.0)], &[(ovs, 10.0)]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bench/p2p.jsonl");
        let mut report = Report::create(&path).unwrap();
        report.results(&results).unwrap();
        report.finish(&path).unwrap();

        let text = fs::read_to_string(path).unwrap();
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let weft = json!({
            "bench": "p2p", "system": "weft", "flows": 1, "rules": "one", "rule_count": 1,
            "size": 64, "stage": "none", "mpps": 31.0, "mpps_min": 30.0, "mpps_max": 32.0,
            "repeats": 3, "distinct_flows": 1, "cycles_per_packet": 50.0, "misses_mpps": 0.0,
            "dropped": 0, "ratio_ovs": 3.1, "ratio_testpmd": null,
        });
        let peer = json!({
            "bench": "p2p", "system": "ovs-dpdk", "flows": 1, "rules": "one", "size": 64,
            "stage": "none", "mpps": 10.0, "mpps_min": 10.0, "mpps_max": 10.0, "repeats": 1,
        });
        assert_eq!(lines, [weft, peer]);
    }

    #[test]
    fn a_goal_is_told_with_what_was_measured() {
        let verdict = Verdict {
            work: "one rule, 1 flow",
            unit: "times OVS-DPDK",
            measured: Some(2.4),
            bound: Bound::AtLeast(2.5),
        };
        let words: Vec<String> =
            goal_text(&verdict).split_whitespace().map(str::to_owned).collect();
        assert_eq!(words.join(" "), "one rule, 1 flow 2.40 times OVS-DPDK at least 2.5 NOT MET");
        let line = json!({
            "bench": "goal", "work": "one rule, 1 flow", "unit": "times OVS-DPDK",
            "at_least": 2.5, "measured": 2.4, "met": false,
        });
        assert_eq!(goal_line(&verdict), line);
    }
}
