//! `/v1/modules`: what stages run.

use api_model::{Module, Name};
use axum::{
    Json,
    extract::State,
    http::{HeaderName, StatusCode, header},
};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{Put, api::Api, body::Upload, path::Named, refusal::Refusal};

pub(crate) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(list_modules, post_module)).routes(routes!(
        get_module,
        put_module,
        delete_module
    ))
}

/// All modules, by name.
#[utoipa::path(get, path = "/v1/modules", tag = "modules",
    responses((status = 200, body = [Module])))]
async fn list_modules(State(api): State<Api>) -> Result<Json<Vec<Module>>, Refusal> {
    api.ask(|control| control.modules()).await.map(Json)
}

/// Keeps a module under the name and version of its manifest.
#[utoipa::path(post, path = "/v1/modules", tag = "modules",
    request_body(content_type = "application/wasm"),
    responses((status = 201, body = Module), (status = 200, body = Module)))]
async fn post_module(
    State(api): State<Api>,
    upload: Upload,
) -> Result<([(HeaderName, String); 1], Put<Module>), Refusal> {
    let kept = keep(&api, None, upload).await?;
    let (Put::Created(module) | Put::Replaced(module)) = &kept;
    Ok(([(header::LOCATION, format!("/v1/modules/{}", module.name))], kept))
}

/// One module.
#[utoipa::path(get, path = "/v1/modules/{name}", tag = "modules", params(("name" = Name, Path)),
    responses((status = 200, body = Module)))]
async fn get_module(
    State(api): State<Api>,
    Named(name): Named<Name>,
) -> Result<Json<Module>, Refusal> {
    api.ask(move |control| control.module(&name)).await.map(Json)
}

/// Keeps a module under a name. Other bytes under a name that is taken are refused.
#[utoipa::path(put, path = "/v1/modules/{name}", tag = "modules", params(("name" = Name, Path)),
    request_body(content_type = "application/wasm"),
    responses((status = 201, body = Module), (status = 200, body = Module)))]
async fn put_module(
    State(api): State<Api>,
    Named(name): Named<Name>,
    upload: Upload,
) -> Result<Put<Module>, Refusal> {
    keep(&api, Some(name), upload).await
}

async fn keep(api: &Api, name: Option<Name>, Upload(turn): Upload) -> Result<Put<Module>, Refusal> {
    let question = move |control: &dyn crate::Control| {
        let kept = control.put_module(name.as_ref(), &turn.body);
        drop(turn.permit);
        kept
    };
    api.ask_within(api.limits.compile_time, question).await
}

/// Forgets a module.
#[utoipa::path(delete, path = "/v1/modules/{name}", tag = "modules", params(("name" = Name, Path)),
    responses((status = 204)))]
async fn delete_module(
    State(api): State<Api>,
    Named(name): Named<Name>,
) -> Result<StatusCode, Refusal> {
    api.ask(move |control| control.delete_module(&name)).await?;
    Ok(StatusCode::NO_CONTENT)
}
