//! `/v1/stages`: modules in service.

use api_model::{Code, Name, Stage, StageSpec};
use axum::{Json, extract::State, http::StatusCode};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{ControlError, Put, api::Api, body::Spec, path::Named, refusal::Refusal};

pub(crate) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(list_stages)).routes(routes!(
        get_stage,
        put_stage,
        delete_stage
    ))
}

/// All stages, by name.
#[utoipa::path(get, path = "/v1/stages", tag = "stages", responses((status = 200, body = [Stage])))]
async fn list_stages(State(api): State<Api>) -> Result<Json<Vec<Stage>>, Refusal> {
    api.ask(|control| control.stages()).await.map(Json)
}

/// One stage.
#[utoipa::path(get, path = "/v1/stages/{name}", tag = "stages", params(("name" = Name, Path)),
    responses((status = 200, body = Stage)))]
async fn get_stage(
    State(api): State<Api>,
    Named(name): Named<Name>,
) -> Result<Json<Stage>, Refusal> {
    api.ask(move |control| control.stage(&name)).await.map(Json)
}

/// Makes a stage, or swaps it while packets flow.
#[utoipa::path(put, path = "/v1/stages/{name}", tag = "stages", params(("name" = Name, Path)),
    request_body = StageSpec, responses((status = 201, body = Stage), (status = 200, body = Stage)))]
async fn put_stage(
    State(api): State<Api>,
    Named(name): Named<Name>,
    Spec(spec): Spec<StageSpec>,
) -> Result<Put<Stage>, Refusal> {
    spec.validate().map_err(|invalid| ControlError::invalid(Code::StageInvalid, invalid))?;
    api.ask(move |control| control.put_stage(&name, spec)).await
}

/// Takes a stage out of service.
#[utoipa::path(delete, path = "/v1/stages/{name}", tag = "stages", params(("name" = Name, Path)),
    responses((status = 204)))]
async fn delete_stage(
    State(api): State<Api>,
    Named(name): Named<Name>,
) -> Result<StatusCode, Refusal> {
    api.ask(move |control| control.delete_stage(&name)).await?;
    Ok(StatusCode::NO_CONTENT)
}
