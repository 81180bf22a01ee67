//! `weft status`: whether the daemon is alive, and ready.

use api_model::Readiness;
use hyper::Method;

use crate::{client::Payload, error::Error, path::ApiPath, render, session::Session};

/// Shows whether it is, and fails if it is not.
pub(crate) async fn run(session: &mut Session<'_>) -> Result<(), Error> {
    session.client.get(&ApiPath::fixed("/healthz")).await?;
    let ready = ApiPath::fixed("/readyz");
    let answer = session.client.ask(Method::GET, &ready, Payload::Empty).await?;
    // What is amiss is no refusal, though its status is that of one.
    let readiness = match answer.parse::<Readiness>() {
        Ok(readiness) => readiness,
        Err(shape) => return Err(answer.accepted().err().unwrap_or(shape)),
    };
    session.output.show(&answer, render::readiness)?;
    if readiness.ready { Ok(()) } else { Err(Error::NotReady) }
}
