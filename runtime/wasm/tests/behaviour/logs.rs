//! What modules write to the log.

use dataplane::stage::Verdict;
use wasm::{Level, LogLine};
use weft_abi::imports::MAX_LOG_LINE;

use crate::{
    guest::Act,
    harness::{act, deploy, run},
};

#[test]
fn a_line_is_escaped_and_has_its_level() {
    let mut deployed = deploy(1);
    let mut frames = [Act::Log(8).frame(64)];
    frames[0].0[8..16].copy_from_slice(b"a\x1b[2J\r\n\xff");
    run(&mut deployed.stages[0], &mut frames);
    let lines: Vec<LogLine> = deployed.stats.drain_log().collect();
    let text = "a\\u{1b}[2J\\u{d}\\u{a}\u{fffd}".to_owned();
    assert_eq!(lines, [LogLine { level: Level::Warn, text, cut: false }]);
    assert_eq!(deployed.stats.drain_log().count(), 0);
}

#[test]
fn a_line_is_cut_at_its_limit() {
    let mut deployed = deploy(1);
    for (length, cut) in [(MAX_LOG_LINE, false), (MAX_LOG_LINE + 1, true), (50_000, true)] {
        act(&mut deployed.stages[0], &[Act::Log(u32::try_from(length).unwrap())]);
        let line = deployed.stats.drain_log().next().unwrap();
        assert_eq!(line.cut, cut, "{length} bytes");
    }
}

#[test]
fn a_flood_is_cut_to_the_rate_and_counted() {
    let mut deployed = deploy(1);
    let lines = 10_000;
    assert_eq!(act(&mut deployed.stages[0], &[Act::LogFlood(lines)]), [Verdict::Next]);
    let kept = deployed.stats.drain_log().count() as u64;
    // A burst, and the few that the time of the test allows.
    assert!((64..=128).contains(&kept), "{kept} lines");
    assert_eq!(deployed.stats.totals().log_lines_lost, u64::from(lines) - kept);
}
