//! Answers as people read them. Everything here is a function from a resource to text.

mod explanation;
mod flow;
mod module;
mod port;
mod rates;
mod readiness;
mod rule;
mod stage;
mod stats;
mod steering;
pub(crate) mod table;
mod tables;
pub(crate) mod text;
mod worker;

pub(crate) use explanation::explanation;
pub(crate) use flow::flows_page;
pub(crate) use module::{module, modules};
pub(crate) use port::{port, ports};
pub(crate) use rates::rates;
pub(crate) use readiness::readiness;
pub(crate) use rule::{rule, rules_page};
pub(crate) use stage::{stage, stages};
pub(crate) use stats::stats;
pub(crate) use steering::{group, groups, mac_table, meter, meters};
pub(crate) use tables::tables;
pub(crate) use worker::workers;

use api_model::Action;

use crate::grammar::action;

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

/// Actions in their order, as the command line takes them.
fn actions(actions: &[Action]) -> String {
    actions.iter().map(action::format).collect::<Vec<_>>().join(" ")
}

/// The number of a NUMA node, if it is known.
fn node(node: Option<u32>) -> table::Value {
    node.map_or_else(|| "unknown".into(), Into::into)
}
