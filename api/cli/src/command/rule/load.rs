//! `weft rule load`: a file of rules, all of them or none.

use std::{collections::BTreeMap, path::PathBuf};

use api_model::{
    Action, Name, PutRule, RuleBatch, RuleOperation, RuleSpec, RulesChanged, TableNumber, TableSpec,
};
use clap::Args;
use serde::Deserialize;

use crate::{
    client::{Answer, Payload},
    command::table,
    error::Error,
    grammar::config,
    path::ApiPath,
    session::Session,
};

/// A file to load.
#[derive(Debug, Args)]
pub(crate) struct Load {
    /// A .toml or .json file: `tables`, as in a configuration, or the `operations` of a batch
    file: PathBuf,
}

/// What is in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    tables: Option<BTreeMap<TableNumber, Table>>,
    operations: Option<Vec<RuleOperation>>,
}

/// A table in a file, which says something of its miss and its classifier or does not.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    miss: Option<Vec<Action>>,
    classifier: Option<Name>,
    #[serde(default)]
    rules: BTreeMap<Name, RuleSpec>,
}

impl Load {
    /// Makes the rules, and then what else was said of the tables.
    pub(super) async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        match config::file(&self.file)? {
            Content { tables: Some(tables), operations: None } => load(session, tables).await,
            Content { tables: None, operations: Some(operations) } => {
                let answer = change(session, &RuleBatch { operations }).await?;
                session.output.show(&answer, describe)
            }
            _ => Err(Error::Content {
                path: self.file,
                reason: "it has either `tables` or `operations`".to_owned(),
            }),
        }
    }
}

async fn load(
    session: &mut Session<'_>,
    tables: BTreeMap<TableNumber, Table>,
) -> Result<(), Error> {
    let (mut operations, mut specs) = (Vec::new(), Vec::new());
    for (table, Table { miss, classifier, rules }) in tables {
        let put = |(name, spec)| RuleOperation::Put(Box::new(PutRule { table, name, spec }));
        operations.extend(rules.into_iter().map(put));
        if miss.is_some() || classifier.is_some() {
            let miss = miss.unwrap_or_else(|| TableSpec::default().miss);
            specs.push((table, TableSpec { miss, classifier }));
        }
    }
    let batch = RuleBatch { operations };
    let answer = change(session, &batch).await.map_err(|error| in_file(error, &batch))?;
    session.output.show(&answer, describe)?;
    for (table, spec) in specs {
        session.client.put(&table::path(table), Payload::json(&spec)).await?;
        session.output.done(&format!("set table {table}"))?;
    }
    Ok(())
}

async fn change(session: &Session<'_>, batch: &RuleBatch) -> Result<Answer, Error> {
    session.client.post(&ApiPath::v1(["rules:batch"]), Payload::json(batch)).await
}

/// The same error, with its place in the file that the batch was made of.
fn in_file(mut error: Error, batch: &RuleBatch) -> Error {
    if let Error::Refused(refusal) = &mut error
        && let Some(pointer) = refusal.pointer.as_deref().and_then(|at| translated(at, batch))
    {
        refusal.pointer = Some(pointer);
    }
    error
}

fn translated(pointer: &str, batch: &RuleBatch) -> Option<String> {
    let (index, rest) = pointer.strip_prefix("/operations/")?.split_once("/put")?;
    let (table, name) = batch.operations.get(index.parse::<usize>().ok()?)?.rule();
    let rest = rest.strip_prefix("/spec").unwrap_or(rest);
    Some(format!("/tables/{table}/rules/{name}{rest}"))
}

fn describe(changed: &RulesChanged) -> String {
    let RulesChanged { revision, created, replaced, unchanged, deleted } = changed;
    format!(
        "revision {revision}, rules: {created} created, {replaced} replaced, {unchanged} \
         unchanged, {deleted} deleted"
    )
}
