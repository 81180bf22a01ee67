//! `/v1/groups`: several ways to go on.

use api_model::{Code, Group, GroupSpec, Name};
use axum::{Json, extract::State, http::StatusCode};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{ControlError, Put, api::Api, body::Spec, path::Named, refusal::Refusal};

pub(crate) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(list_groups)).routes(routes!(
        get_group,
        put_group,
        delete_group
    ))
}

/// All groups, by name.
#[utoipa::path(get, path = "/v1/groups", tag = "groups", responses((status = 200, body = [Group])))]
async fn list_groups(State(api): State<Api>) -> Result<Json<Vec<Group>>, Refusal> {
    api.ask(|control| control.groups()).await.map(Json)
}

/// One group.
#[utoipa::path(get, path = "/v1/groups/{name}", tag = "groups", params(("name" = Name, Path)),
    responses((status = 200, body = Group)))]
async fn get_group(
    State(api): State<Api>,
    Named(name): Named<Name>,
) -> Result<Json<Group>, Refusal> {
    api.ask(move |control| control.group(&name)).await.map(Json)
}

/// Makes a group, or changes it while packets flow.
#[utoipa::path(put, path = "/v1/groups/{name}", tag = "groups", params(("name" = Name, Path)),
    request_body = GroupSpec, responses((status = 201, body = Group), (status = 200, body = Group)))]
async fn put_group(
    State(api): State<Api>,
    Named(name): Named<Name>,
    Spec(spec): Spec<GroupSpec>,
) -> Result<Put<Group>, Refusal> {
    spec.validate().map_err(|invalid| ControlError::invalid(Code::GroupInvalid, invalid))?;
    api.ask(move |control| control.put_group(&name, spec)).await
}

/// Forgets a group that no rule uses.
#[utoipa::path(delete, path = "/v1/groups/{name}", tag = "groups", params(("name" = Name, Path)),
    responses((status = 204)))]
async fn delete_group(
    State(api): State<Api>,
    Named(name): Named<Name>,
) -> Result<StatusCode, Refusal> {
    api.ask(move |control| control.delete_group(&name)).await?;
    Ok(StatusCode::NO_CONTENT)
}
