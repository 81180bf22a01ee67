//! `/v1/workers` and `/v1/stats`: what was done.

use api_model::{Stats, Worker};
use axum::{Json, extract::State};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{api::Api, refusal::Refusal};

pub(crate) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(list_workers)).routes(routes!(get_stats))
}

/// All workers, by number.
#[utoipa::path(get, path = "/v1/workers", tag = "stats",
    responses((status = 200, body = [Worker])))]
async fn list_workers(State(api): State<Api>) -> Result<Json<Vec<Worker>>, Refusal> {
    api.ask(|control| control.workers()).await.map(Json)
}

/// All counters, read between two bursts.
#[utoipa::path(get, path = "/v1/stats", tag = "stats", responses((status = 200, body = Stats)))]
async fn get_stats(State(api): State<Api>) -> Result<Json<Stats>, Refusal> {
    api.ask(|control| control.stats()).await.map(Json)
}
