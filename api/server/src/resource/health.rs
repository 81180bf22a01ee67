//! `/healthz`, `/readyz` and `/version`: what runs, and whether it does.

use api_model::{Readiness, Version};
use axum::{Json, extract::State, http::StatusCode};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{api::Api, refusal::Refusal};

pub(crate) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(healthz))
        .routes(routes!(readyz))
        .routes(routes!(get_version))
}

/// Answers while the process does; asks nobody else.
#[utoipa::path(get, path = "/healthz", tag = "health", responses((status = 200, body = str)))]
async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether packets are handled as they should be, and if not, why.
#[utoipa::path(get, path = "/readyz", tag = "health",
    responses((status = 200, body = Readiness), (status = 503, body = Readiness)))]
async fn readyz(State(api): State<Api>) -> Result<(StatusCode, Json<Readiness>), Refusal> {
    let readiness = api.ask(|control| Ok(control.readiness())).await?;
    let status = if readiness.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    Ok((status, Json(readiness)))
}

/// What runs.
#[utoipa::path(get, path = "/version", tag = "health", responses((status = 200, body = Version)))]
async fn get_version(State(api): State<Api>) -> Result<Json<Version>, Refusal> {
    api.ask(|control| Ok(control.version())).await.map(Json)
}
