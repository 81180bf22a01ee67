//! `weft stats`: what was counted.

use std::time::{Duration, Instant};

use api_model::Stats;

use crate::{client::Answer, error::Error, grammar::size, path::ApiPath, render, session::Session};

/// How often to look.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Look again and again, this long apart, and show what changed in between
    #[arg(long, value_name = "SECONDS", value_parser = size::seconds)]
    watch: Option<Duration>,
}

impl Arguments {
    /// Shows the counters, once or until it is stopped.
    pub(crate) async fn run(self, session: &mut Session<'_>) -> Result<(), Error> {
        match self.watch {
            None => session.show(ApiPath::v1(["stats"]), render::stats).await,
            Some(pause) => watch(session, pause).await,
        }
    }
}

async fn watch(session: &mut Session<'_>, pause: Duration) -> Result<(), Error> {
    let mut before = None;
    loop {
        let answer = session.client.get(&ApiPath::v1(["stats"])).await?;
        before = Some(round(session, &answer, before)?);
        session.output.sink.flush()?;
        tokio::time::sleep(pause).await;
    }
}

/// Counters and when they were read.
type Reading = (Instant, Stats);

/// Shows one answer, and what changed since the one before.
fn round(
    session: &mut Session<'_>,
    answer: &Answer,
    before: Option<Reading>,
) -> Result<Reading, Error> {
    let now = (Instant::now(), answer.parse::<Stats>()?);
    session.output.clear()?;
    session.output.show(answer, render::stats)?;
    if let Some((then, stats)) = before {
        let rates = render::rates(&stats, &now.1, now.0.duration_since(then));
        session.output.done(&format!("\n{rates}"))?;
    }
    // A blank line parts the rounds where they are not shown in one another's place.
    if !session.output.terminal {
        session.output.done("")?;
    }
    Ok(now)
}
