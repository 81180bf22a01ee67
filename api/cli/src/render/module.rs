use api_model::Module;

use super::{listed, table::Table};

/// A line for each module.
pub(crate) fn modules(modules: &[Module]) -> String {
    let table = Table::new(["MODULE", "BYTES", "WRITES", "WINDOW", "USED BY", "DIGEST"]);
    let table = table.rows(modules, |module| {
        [
            (&module.name).into(),
            module.size_bytes.into(),
            yes_or_no(module.manifest.writes).into(),
            module.manifest.window.into(),
            listed(&module.used_by).into(),
            short(&module.digest).into(),
        ]
    });
    table.render()
}

/// All of one module.
pub(crate) fn module(module: &Module) -> String {
    let manifest = &module.manifest;
    Table::untitled()
        .row(["module".into(), (&module.name).into()])
        .row(["digest".into(), module.digest.as_str().into()])
        .row(["size".into(), format!("{} bytes", module.size_bytes).into()])
        .row(["says it is".into(), format!("{} {}", manifest.name, manifest.version).into()])
        .row(["built for ABI".into(), manifest.abi.to_string().into()])
        .row(["window".into(), format!("{} bytes", manifest.window).into()])
        .row(["writes".into(), yes_or_no(manifest.writes).into()])
        .row(["drop reasons".into(), listed(&manifest.drop_reasons).into()])
        .row(["counters".into(), listed(&manifest.counters).into()])
        .row(["used by".into(), listed(&module.used_by).into()])
        .render()
}

fn yes_or_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

/// Enough of a digest to tell modules apart by eye.
fn short(digest: &str) -> String {
    digest.chars().take("sha256:".len() + 12).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn firewall() -> Module {
        let digest = format!("sha256:{}", "0123456789abcdef".repeat(4));
        serde_json::from_value(json!({
            "name": "firewall@1.0.0", "digest": digest, "size_bytes": 48_211, "used_by": ["fw"],
            "manifest": {
                "name": "firewall", "version": "1.0.0", "abi": 1, "kind": "stage", "access": ["window"],
            "window": 128,
                "writes": false, "drop_reasons": ["denied-by-rule", "denied\nby-default"],
                "counters": [],
            },
        }))
        .unwrap()
    }

    #[test]
    fn a_module_is_a_line_of_a_table() {
        assert_eq!(
            modules(&[firewall()]),
            "MODULE          BYTES  WRITES  WINDOW  USED BY  DIGEST\n\
             firewall@1.0.0  48211  no         128  fw       sha256:0123456789ab"
        );
    }

    #[test]
    fn one_module_is_shown_with_all_that_it_says_made_safe() {
        let digest = "0123456789abcdef".repeat(4);
        assert_eq!(
            module(&firewall()),
            format!(
                "module         firewall@1.0.0\n\
                 digest         sha256:{digest}\n\
                 size           48211 bytes\n\
                 says it is     firewall 1.0.0\n\
                 built for ABI  1\n\
                 window         128 bytes\n\
                 writes         no\n\
                 drop reasons   denied-by-rule,denied\\u{{a}}by-default\n\
                 counters       none\n\
                 used by        fw"
            )
        );
    }
}
