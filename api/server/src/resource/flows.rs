//! `/v1/flows`: what the workers keep in their caches.

use api_model::{Code, FlowQuery, Flows};
use axum::{Json, extract::State, http::StatusCode};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{ControlError, api::Api, query::Query, refusal::Refusal};

pub(crate) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(list_flows, flush_flows))
}

/// A page of the flows in the workers' caches; `next` is the cursor of the page behind it.
#[utoipa::path(get, path = "/v1/flows", tag = "flows",
    params(("worker" = Option<u16>, Query), ("cursor" = Option<String>, Query),
        ("limit" = Option<usize>, Query, minimum = 1, maximum = 10_000, example = 1000)),
    responses((status = 200, body = Flows)))]
async fn list_flows(
    State(api): State<Api>,
    Query(query): Query<FlowQuery>,
) -> Result<Json<Flows>, Refusal> {
    query.validate().map_err(|invalid| ControlError::invalid(Code::QueryInvalid, invalid))?;
    api.ask(move |control| control.flows(query)).await.map(Json)
}

/// Empties the workers' caches. The packets that come next are looked up in the tables.
#[utoipa::path(delete, path = "/v1/flows", tag = "flows", responses((status = 204)))]
async fn flush_flows(State(api): State<Api>) -> Result<StatusCode, Refusal> {
    api.ask(|control| control.flush_flows()).await?;
    Ok(StatusCode::NO_CONTENT)
}
