//! `weft flow`: what the workers keep in their caches.

use api_model::Flows;
use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    client::Answer, error::Error, path::ApiPath, render, render::table::Pages, session::Session,
};

/// The most flows that are asked for at once.
const PAGE: usize = 5000;

/// What is done with flows.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the flows in the workers' caches, with what they match and what is done with them
    List(List),
    /// Empty the workers' caches; the packets that come next are looked up in the tables
    Flush,
}

/// Which flows.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only those of this worker
    #[arg(long)]
    worker: Option<u16>,
    /// At most so many
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
}

/// Flows as they came.
#[derive(Default, Serialize, Deserialize)]
struct Raw {
    flows: Vec<Box<RawValue>>,
    next: Option<String>,
}

impl Command {
    /// Does it.
    pub(crate) async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        match self {
            Self::List(list) => list.run(session).await,
            Self::Flush => {
                session.client.delete(&ApiPath::v1(["flows"])).await?;
                session.output.done("flushed the flows of all workers")
            }
        }
    }
}

impl List {
    async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        let (mut all, mut pages) = (Raw::default(), Pages::default());
        let mut wanted = self.limit.unwrap_or(usize::MAX);
        while wanted > 0 {
            let answer = self.page(session, wanted.min(PAGE), all.next.take()).await?;
            let Raw { flows, next } = answer.parse()?;
            wanted = wanted.saturating_sub(flows.len());
            all.next = next;
            if session.output.json {
                all.flows.extend(flows);
            } else if !flows.is_empty() || pages.is_first() {
                let Flows { flows, .. } = answer.parse()?;
                session.output.text(&render::flows_page(&flows, &mut pages))?;
            }
            if all.next.is_none() {
                break;
            }
        }
        if session.output.json { session.output.json(&to_json(&all)) } else { Ok(()) }
    }

    async fn page(
        &self,
        session: &Session<'_>,
        limit: usize,
        cursor: Option<String>,
    ) -> Result<Answer, Error> {
        let worker = self.worker.map(|worker| worker.to_string());
        let parameters =
            [("worker", worker), ("limit", Some(limit.to_string())), ("cursor", cursor)];
        session.client.get(&ApiPath::v1(["flows"]).query(parameters)).await
    }
}

fn to_json(flows: &Raw) -> Vec<u8> {
    serde_json::to_vec(flows).expect("what came as JSON goes as JSON")
}
