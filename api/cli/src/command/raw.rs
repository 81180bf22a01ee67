//! `weft get`: any answer of the API, for scripts.

use crate::{error::Error, path::ApiPath, session::Session};

/// What to get.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The path of a resource, such as /v1/stats
    path: ApiPath,
}

impl Arguments {
    /// Prints the answer.
    pub(crate) async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        let answer = session.client.get(&self.path).await?;
        session.output.json(&answer.body)
    }
}
