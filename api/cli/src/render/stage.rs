use api_model::{OnFault, Stage};

use super::{
    sections,
    stats::{own_counters, verdicts},
    table::Table,
};

/// A line for each stage.
pub(crate) fn stages(stages: &[Stage]) -> String {
    let headings = ["STAGE", "MODULE", "GENERATION", "ON FAULT", "PACKETS", "DROPPED", "FAULTS"];
    let table = Table::new(headings).rows(stages, |Stage { name, spec, status }| {
        let faults = status.faults;
        [
            name.into(),
            (&spec.module).into(),
            status.generation.into(),
            on_fault(spec.on_fault).into(),
            status.packets.into(),
            status.verdicts.drop.into(),
            (faults.trap + faults.deadline + faults.bad_verdict).into(),
        ]
    });
    table.render()
}

/// All of one stage.
pub(crate) fn stage(stage: &Stage) -> String {
    let Stage { name, spec, status } = stage;
    let config = serde_json::to_string(&spec.config).expect("an object of JSON has a text");
    let facts = Table::untitled()
        .row(["stage".into(), name.into()])
        .row(["module".into(), (&spec.module).into()])
        .row(["digest".into(), status.module_digest.as_str().into()])
        .row(["generation".into(), status.generation.to_string().into()])
        .row(["config".into(), config.into()])
        .row(["on fault".into(), on_fault(spec.on_fault).into()])
        .row(["memory limit".into(), format!("{} bytes", spec.memory_limit_bytes).into()])
        .row(["deadline".into(), format!("{} us", spec.deadline_us).into()])
        .row(["log lines lost".into(), status.log_lines_lost.to_string().into()]);
    sections([facts.render(), verdicts([(name, status)]), own_counters([(name, status)])])
}

fn on_fault(on_fault: OnFault) -> &'static str {
    match on_fault {
        OnFault::Drop => "drop",
        OnFault::Bypass => "bypass",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fw() -> Stage {
        serde_json::from_value(json!({
            "name": "fw",
            "spec": {
                "module": "firewall@1.0.0", "config": {"default": "allow"}, "on_fault": "bypass",
                "memory_limit_bytes": 16_777_216, "deadline_us": 10_000,
            },
            "status": {
                "module_digest": "sha256:00", "generation": 2, "packets": 40, "batches": 9,
                "counters": {"allowed": 31, "denied": 4},
                "verdicts": {"next": 31, "drop": 4, "output": 0, "goto": 0},
                "faults": {"trap": 1, "deadline": 2, "bad_verdict": 2},
                "unavailable_packets": 6, "log_lines_lost": 5,
            },
        }))
        .unwrap()
    }

    #[test]
    fn a_stage_is_a_line_of_a_table() {
        assert_eq!(
            stages(&[fw()]),
            "STAGE  MODULE          GENERATION  ON FAULT  PACKETS  DROPPED  FAULTS\n\
             fw     firewall@1.0.0           2  bypass         40        4       5"
        );
    }

    #[test]
    fn one_stage_is_shown_with_its_verdicts_and_counters() {
        assert_eq!(
            stage(&fw()),
            "stage           fw\n\
             module          firewall@1.0.0\n\
             digest          sha256:00\n\
             generation      2\n\
             config          {\"default\":\"allow\"}\n\
             on fault        bypass\n\
             memory limit    16777216 bytes\n\
             deadline        10000 us\n\
             log lines lost  5\n\n\
             STAGE  GENERATION  PACKETS  BATCHES  NEXT  DROP  OUTPUT  GOTO  TRAPS  DEADLINES  BAD VERDICTS  UNAVAILABLE\n\
             fw              2       40        9    31     4       0     0      1          2             2            6\n\n\
             STAGE  COUNTER  COUNT\n\
             fw     allowed     31\n\
             fw     denied       4"
        );
    }
}
