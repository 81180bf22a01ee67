//! Answers as people read them. Everything here is a function from a resource to text.

mod module;
mod port;
mod rates;
mod readiness;
mod rule;
mod stage;
mod stats;
mod table;
pub(crate) mod text;
mod worker;

pub(crate) use module::{module, modules};
pub(crate) use port::{port, ports};
pub(crate) use rates::rates;
pub(crate) use readiness::readiness;
pub(crate) use rule::{rule, rules};
pub(crate) use stage::{stage, stages};
pub(crate) use stats::stats;
pub(crate) use worker::workers;

/// Joins what is not empty, a blank line between.
fn sections(sections: impl IntoIterator<Item = String>) -> String {
    let given = sections.into_iter().filter(|section| !section.is_empty());
    given.collect::<Vec<_>>().join("\n\n")
}

/// Joins the items, or says that there are none.
fn listed<T: ToString>(items: &[T]) -> String {
    if items.is_empty() {
        return "none".to_owned();
    }
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// The number of a NUMA node, if it is known.
fn node(node: Option<u32>) -> table::Value {
    node.map_or_else(|| "unknown".into(), Into::into)
}
