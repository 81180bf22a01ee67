use serde::de::DeserializeOwned;

use crate::{client::Client, error::Error, output::Output, path::ApiPath};

/// A daemon to ask and a place to answer to.
pub(crate) struct Session<'a> {
    /// Asks the daemon.
    pub(crate) client: Client,
    /// Writes what it answers.
    pub(crate) output: Output<'a>,
}

impl Session<'_> {
    /// Shows the resource at a path.
    pub(crate) async fn show<T: DeserializeOwned>(
        &mut self,
        path: ApiPath,
        render: impl FnOnce(&T) -> String,
    ) -> Result<(), Error> {
        let answer = self.client.get(&path).await?;
        self.output.show(&answer, render)
    }

    /// Shows the resources at a path.
    pub(crate) async fn list<T: DeserializeOwned>(
        &mut self,
        path: ApiPath,
        render: impl FnOnce(&[T]) -> String,
    ) -> Result<(), Error> {
        self.show(path, |resources: &Vec<T>| render(resources)).await
    }

    /// Deletes the resource at a path; `what` names it, such as `port lan`.
    pub(crate) async fn delete(&mut self, path: ApiPath, what: &str) -> Result<(), Error> {
        self.client.delete(&path).await?;
        self.output.done(&format!("deleted {what}"))
    }
}
