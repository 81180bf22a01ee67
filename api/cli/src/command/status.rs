//! `weft status`: whether the daemon is alive, and ready.

use api_model::Readiness;
use hyper::{Method, StatusCode};

use crate::{client::Payload, error::Error, path::ApiPath, render, session::Session};

/// Shows whether it is, and fails if it is not.
pub(crate) async fn run(session: &mut Session<'_>) -> Result<(), Error> {
    session.client.get(&ApiPath::fixed("/healthz")).await?;
    let answer =
        session.client.ask(Method::GET, &ApiPath::fixed("/readyz"), Payload::Empty).await?;
    // What is amiss comes with this status.
    let answer = match answer.status {
        StatusCode::SERVICE_UNAVAILABLE => answer,
        _ => answer.accepted()?,
    };
    session.output.show(&answer, render::readiness)?;
    let readiness: Readiness = answer.parse()?;
    if readiness.ready { Ok(()) } else { Err(Error::NotReady) }
}
