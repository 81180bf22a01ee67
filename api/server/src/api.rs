use std::{sync::Arc, time::Duration};

use api_model::Code;
use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::Serialize;
use tokio::{sync::Semaphore, task::spawn_blocking, time::timeout};

use crate::{Control, ControlError, Limits, Put, refusal::Refusal};

/// What every handler has at hand.
#[derive(Clone)]
pub(crate) struct Api {
    control: Arc<dyn Control>,
    pub(crate) limits: Limits,
    pub(crate) uploads: Arc<Semaphore>,
    pub(crate) batches: Arc<Semaphore>,
}

impl Api {
    pub(crate) fn new(control: Arc<dyn Control>, limits: Limits) -> Self {
        let [uploads, batches] =
            [limits.uploads, limits.batches].map(|most| Arc::new(Semaphore::new(most)));
        Self { control, limits, uploads, batches }
    }

    /// Asks the daemon, on a thread that may block.
    pub(crate) async fn ask<T, F>(&self, question: F) -> Result<T, Refusal>
    where
        T: Send + 'static,
        F: FnOnce(&dyn Control) -> Result<T, ControlError> + Send + 'static,
    {
        self.ask_within(self.limits.answer_time, question).await
    }

    /// The same for what may take longer than usual.
    pub(crate) async fn ask_within<T, F>(&self, time: Duration, question: F) -> Result<T, Refusal>
    where
        T: Send + 'static,
        F: FnOnce(&dyn Control) -> Result<T, ControlError> + Send + 'static,
    {
        self.work_within(time, |control| question(control).map_err(Refusal::from)).await
    }

    /// The same for what may be refused before the daemon is asked.
    pub(crate) async fn work_within<T, F>(&self, time: Duration, work: F) -> Result<T, Refusal>
    where
        T: Send + 'static,
        F: FnOnce(&dyn Control) -> Result<T, Refusal> + Send + 'static,
    {
        let control = Arc::clone(&self.control);
        match timeout(time, spawn_blocking(move || work(&*control))).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(panic)) => Err(failed(&panic)),
            Err(_) => Err(late(time)),
        }
    }
}

fn failed(panic: &tokio::task::JoinError) -> Refusal {
    tracing::error!(%panic, "a request made the daemon fail");
    let detail = "the daemon failed on this request; its log says where";
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, Code::Internal, detail)
}

fn late(time: Duration) -> Refusal {
    let detail = format!("the daemon did not finish within {time:?}");
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, Code::TimedOut, detail)
        .hint("what was asked may still happen: look before you ask again")
}

impl<T: Serialize> IntoResponse for Put<T> {
    fn into_response(self) -> Response {
        match self {
            Self::Created(now) => (StatusCode::CREATED, Json(now)).into_response(),
            Self::Replaced(now) => Json(now).into_response(),
        }
    }
}
