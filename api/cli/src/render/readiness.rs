use api_model::Readiness;

use super::text::escaped;

/// Whether the daemon is ready, and what is amiss.
pub(crate) fn readiness(readiness: &Readiness) -> String {
    let head = if readiness.ready { "alive and ready" } else { "alive, but not ready:" };
    let failing = readiness.failing.iter().map(|reason| format!("\n  {}", escaped(reason)));
    head.to_owned() + &failing.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_amiss_is_a_line_each() {
        assert_eq!(readiness(&Readiness::new(vec![])), "alive and ready");
        let amiss = Readiness::new(vec!["port lan: link is down".into(), "a\u{7}".into()]);
        assert_eq!(readiness(&amiss), "alive, but not ready:\n  port lan: link is down\n  a\\u{7}");
    }
}
