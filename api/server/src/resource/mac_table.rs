//! `/v1/mac-table`: what the action `normal` has learned.

use api_model::{Code, MacTable, MacTableSpec};
use axum::{Json, extract::State, http::StatusCode};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{ControlError, api::Api, body::Spec, refusal::Refusal};

pub(crate) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(get_mac_table, put_mac_table, delete_mac_table))
}

/// The addresses that are known.
#[utoipa::path(get, path = "/v1/mac-table", tag = "mac-table",
    responses((status = 200, body = MacTable)))]
async fn get_mac_table(State(api): State<Api>) -> Result<Json<MacTable>, Refusal> {
    api.ask(|control| control.mac_table()).await.map(Json)
}

/// Says how many addresses are remembered, and for how long. What was learned before is forgotten.
#[utoipa::path(put, path = "/v1/mac-table", tag = "mac-table", request_body = MacTableSpec,
    responses((status = 200, body = MacTable)))]
async fn put_mac_table(
    State(api): State<Api>,
    Spec(spec): Spec<MacTableSpec>,
) -> Result<Json<MacTable>, Refusal> {
    spec.validate().map_err(|invalid| ControlError::invalid(Code::MacTableInvalid, invalid))?;
    api.ask(move |control| control.put_mac_table(spec)).await.map(Json)
}

/// Forgets all addresses. They are learned again.
#[utoipa::path(delete, path = "/v1/mac-table", tag = "mac-table", responses((status = 204)))]
async fn delete_mac_table(State(api): State<Api>) -> Result<StatusCode, Refusal> {
    api.ask(|control| control.clear_mac_table()).await?;
    Ok(StatusCode::NO_CONTENT)
}
