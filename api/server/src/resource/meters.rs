//! `/v1/meters`: rates that packets are held to.

use api_model::{Code, Meter, MeterSpec, Name};
use axum::{Json, extract::State, http::StatusCode};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{ControlError, Put, api::Api, body::Spec, path::Named, refusal::Refusal};

pub(crate) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(list_meters)).routes(routes!(
        get_meter,
        put_meter,
        delete_meter
    ))
}

/// All meters, by name.
#[utoipa::path(get, path = "/v1/meters", tag = "meters", responses((status = 200, body = [Meter])))]
async fn list_meters(State(api): State<Api>) -> Result<Json<Vec<Meter>>, Refusal> {
    api.ask(|control| control.meters()).await.map(Json)
}

/// One meter.
#[utoipa::path(get, path = "/v1/meters/{name}", tag = "meters", params(("name" = Name, Path)),
    responses((status = 200, body = Meter)))]
async fn get_meter(
    State(api): State<Api>,
    Named(name): Named<Name>,
) -> Result<Json<Meter>, Refusal> {
    api.ask(move |control| control.meter(&name)).await.map(Json)
}

/// Makes a meter, or changes it while packets flow. It begins with full bursts.
#[utoipa::path(put, path = "/v1/meters/{name}", tag = "meters", params(("name" = Name, Path)),
    request_body = MeterSpec, responses((status = 201, body = Meter), (status = 200, body = Meter)))]
async fn put_meter(
    State(api): State<Api>,
    Named(name): Named<Name>,
    Spec(spec): Spec<MeterSpec>,
) -> Result<Put<Meter>, Refusal> {
    spec.validate().map_err(|invalid| ControlError::invalid(Code::MeterInvalid, invalid))?;
    api.ask(move |control| control.put_meter(&name, spec)).await
}

/// Forgets a meter that no rule uses.
#[utoipa::path(delete, path = "/v1/meters/{name}", tag = "meters", params(("name" = Name, Path)),
    responses((status = 204)))]
async fn delete_meter(
    State(api): State<Api>,
    Named(name): Named<Name>,
) -> Result<StatusCode, Refusal> {
    api.ask(move |control| control.delete_meter(&name)).await?;
    Ok(StatusCode::NO_CONTENT)
}
