//! `weft rule list`: a page after the other, so that the first of many rules are shown at once.

use api_model::{FlowTable, Name, Rule, TableNumber};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    client::{Answer, Client},
    error::Error,
    path::ApiPath,
    render::{self, table::Pages},
    session::Session,
};

/// How many rules are asked for at once.
const PAGE: usize = 5000;

/// The rules of one table.
pub(super) async fn of_table(session: &mut Session<'_>, table: TableNumber) -> Result<(), Error> {
    if session.output.json {
        let rules = Paged::of(table).raw(&session.client).await?;
        return session.output.json(&to_json(&rules));
    }
    write(session, [table]).await
}

/// The rules of all tables.
pub(super) async fn of_all(session: &mut Session<'_>) -> Result<(), Error> {
    let tables: Vec<FlowTable> = session.client.get(&ApiPath::v1(["tables"])).await?.parse()?;
    if !session.output.json {
        return write(session, tables.iter().map(|table| table.table)).await;
    }
    let mut all = Vec::new();
    for FlowTable { table, .. } in tables {
        all.push(Raw { table, rules: Paged::of(table).raw(&session.client).await? });
    }
    session.output.json(&to_json(&all))
}

/// Writes the rules of some tables for people.
async fn write(
    session: &mut Session<'_>,
    tables: impl IntoIterator<Item = TableNumber>,
) -> Result<(), Error> {
    let mut pages = Pages::default();
    for table in tables {
        let mut paged = Paged::of(table);
        while let Some(answer) = paged.next(&session.client).await? {
            let rules: Vec<Rule> = answer.parse()?;
            if !rules.is_empty() {
                session.output.text(&render::rules_page(table, &rules, &mut pages))?;
            }
        }
    }
    if pages.is_first() {
        session.output.text(&render::rules_page(TableNumber::default(), &[], &mut pages))?;
    }
    Ok(())
}

/// A table's rules as they came.
#[derive(Serialize)]
struct Raw {
    table: TableNumber,
    rules: Vec<Box<RawValue>>,
}

/// As much of a rule as is needed to go on.
#[derive(Deserialize)]
struct Named {
    name: Name,
}

/// The rules of a table, a page at a time.
struct Paged {
    table: TableNumber,
    cursor: Option<Name>,
    ended: bool,
}

impl Paged {
    fn of(table: TableNumber) -> Self {
        Self { table, cursor: None, ended: false }
    }

    /// The next page, if there is one.
    async fn next(&mut self, client: &Client) -> Result<Option<Answer>, Error> {
        if self.ended {
            return Ok(None);
        }
        let cursor = self.cursor.as_ref().map(ToString::to_string);
        let path = ApiPath::v1(["tables", &self.table.to_string(), "rules"])
            .query([("limit", Some(PAGE.to_string())), ("cursor", cursor)]);
        let answer = client.get(&path).await?;
        let mut rules: Vec<Named> = answer.parse()?;
        self.ended = rules.len() != PAGE;
        self.cursor = rules.pop().map(|last| last.name);
        Ok(Some(answer))
    }

    /// All of them.
    async fn raw(&mut self, client: &Client) -> Result<Vec<Box<RawValue>>, Error> {
        let mut all = Vec::new();
        while let Some(answer) = self.next(client).await? {
            all.extend(answer.parse::<Vec<Box<RawValue>>>()?);
        }
        Ok(all)
    }
}

fn to_json(rules: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(rules).expect("what came as JSON goes as JSON")
}
