//! What ports, modules and stages have in common: they are listed, shown and deleted by name.

use api_model::Name;
use clap::Subcommand;
use serde::de::DeserializeOwned;

use crate::{
    client::{Answer, Payload},
    error::Error,
    path::ApiPath,
    session::Session,
};

/// A kind of resource, and how people read it.
pub(super) struct Kind<T> {
    /// What one is called; what all are called, with an s.
    pub(super) noun: &'static str,
    /// A line for each.
    pub(super) lines: fn(&[T]) -> String,
    /// All of one.
    pub(super) whole: fn(&T) -> String,
}

/// What is done with every kind.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List them all
    List,
    /// Show one with all that there is to know of it
    Show {
        /// Its name
        name: Name,
    },
    /// Delete one that nothing uses any more
    Delete {
        /// Its name
        name: Name,
    },
}

impl<T: DeserializeOwned> Kind<T> {
    /// Does it.
    pub(super) async fn run(
        &self,
        command: Command,
        session: &mut Session<'_>,
    ) -> Result<(), Error> {
        match command {
            Command::List => session.list(self.all(), self.lines).await,
            Command::Show { name } => session.show(self.path(&name), self.whole).await,
            Command::Delete { name } => {
                session.delete(self.path(&name), &format!("{} {name}", self.noun)).await
            }
        }
    }

    /// Creates or replaces one, and shows its line.
    pub(super) async fn put(
        &self,
        session: &mut Session<'_>,
        name: &Name,
        payload: Payload,
    ) -> Result<(), Error> {
        let answer = session.client.put(&self.path(name), payload).await?;
        self.show_line(session, &answer)
    }

    /// Shows the line of the one that is answered.
    pub(super) fn show_line(
        &self,
        session: &mut Session<'_>,
        answer: &Answer,
    ) -> Result<(), Error> {
        session.output.show(answer, |resource| (self.lines)(std::slice::from_ref(resource)))
    }

    /// The path of one.
    pub(super) fn path(&self, name: &Name) -> ApiPath {
        ApiPath::v1([&format!("{}s", self.noun), name.as_str()])
    }

    /// The path of all.
    pub(super) fn all(&self) -> ApiPath {
        ApiPath::v1([&format!("{}s", self.noun)])
    }
}
