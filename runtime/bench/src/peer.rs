//! Other systems, measured by scripts that are not part of the project. Each prints a JSON object
//! with its rate as `mpps`.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use serde::Deserialize;

use crate::{error::Error, workload::RuleSet};

/// More flows do not fit into the peers' own packet buffers.
const MOST_FLOWS: u32 = 100_000;
/// What their scripts replay.
const SIZE: u16 = 64;

/// One measurement of another system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Peer {
    pub(crate) system: System,
    pub(crate) flows: u32,
    /// One, or a rule a flow.
    pub(crate) rules: RuleSet,
}

/// The systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum System {
    /// Open vSwitch with DPDK.
    Ovs,
    /// DPDK's own forwarder, which writes Ethernet addresses and looks at nothing.
    Testpmd,
}

impl System {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ovs => "ovs-dpdk",
            Self::Testpmd => "testpmd",
        }
    }
}

#[derive(Deserialize)]
struct Answer {
    mpps: f64,
}

impl Peer {
    /// What is comparable to a measurement of Weft: the same frames, and rules that the scripts
    /// know, or one rule for those that forward everything.
    pub(crate) fn beside(flows: u32, rules: RuleSet, size: u16) -> Vec<Self> {
        let rules = match rules {
            RuleSet::One | RuleSet::Cross => RuleSet::One,
            RuleSet::PerFlow => RuleSet::PerFlow,
            RuleSet::Wildcard | RuleSet::Acl | RuleSet::Fw | RuleSet::Ipc => return Vec::new(),
        };
        if flows > MOST_FLOWS || size != SIZE {
            return Vec::new();
        }
        let testpmd = Self { system: System::Testpmd, flows, rules: RuleSet::One };
        vec![Self { system: System::Ovs, flows, rules }, testpmd]
    }

    /// Runs its script, and returns its rate in millions of packets a second.
    pub(crate) fn measure(self, folder: &Path, duration: Duration) -> Result<f64, Error> {
        let (script, mode) = match self.system {
            System::Ovs => ("ovs.sh", self.rules.name()),
            System::Testpmd => ("testpmd.sh", "mac"),
        };
        let script = folder.join(script);
        let output = Command::new(&script)
            .args([&self.flows.to_string(), mode, &duration.as_secs_f64().to_string()])
            .stdin(Stdio::null())
            .output()
            .map_err(|source| Error::Run {
                path: script.clone(),
                source,
                hint: "--peers names a folder with testpmd.sh and ovs.sh",
            })?;
        let said = String::from_utf8_lossy(&output.stdout);
        let answer: Option<Answer> = said.lines().find_map(|line| serde_json::from_str(line).ok());
        match answer {
            Some(answer) if output.status.success() => Ok(answer.mpps),
            _ => {
                let said = format!("{said}{}", String::from_utf8_lossy(&output.stderr));
                Err(Error::Peer { script, status: output.status, said })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    fn folder(script: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ovs.sh");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        folder
    }

    const OVS: Peer = Peer { system: System::Ovs, flows: 7, rules: RuleSet::PerFlow };

    #[test]
    fn a_script_is_told_flows_rules_and_seconds() {
        let script = r#"[ "$*" = "7 per-flow 1.5" ] && echo '{"peer": "x", "mpps": 8.25}'"#;
        let rate = OVS.measure(folder(script).path(), Duration::from_millis(1500));
        assert_eq!(rate.unwrap(), 8.25);
    }

    #[test]
    fn what_a_failing_script_said_is_shown() {
        let folder = folder("echo no hugepages >&2; exit 3");
        let failed = OVS.measure(folder.path(), Duration::from_secs(1)).unwrap_err().to_string();
        assert!(failed.contains("exit status: 3") && failed.contains("no hugepages"), "{failed}");
    }

    #[test]
    fn peers_stand_beside_what_they_can_do() {
        let systems = |flows, rules, size| {
            Peer::beside(flows, rules, size).iter().map(|peer| peer.system).collect::<Vec<_>>()
        };
        assert_eq!(systems(1, RuleSet::Cross, 64), [System::Ovs, System::Testpmd]);
        assert_eq!(systems(100_000, RuleSet::PerFlow, 64).len(), 2);
        assert_eq!(systems(100_001, RuleSet::One, 64), []);
        assert_eq!(systems(1, RuleSet::One, 128), []);
        assert_eq!(systems(1, RuleSet::Acl, 64), []);
    }
}
