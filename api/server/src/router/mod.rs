//! All routes in one router, with what applies to each of them.

mod document;
mod log;
mod origin;

use std::sync::Arc;

use api_model::Code;
use axum::{
    Router,
    http::{Method, StatusCode, Uri},
    middleware::from_fn,
};
use utoipa::openapi::OpenApi;

use crate::{Control, Limits, api::Api, refusal::Refusal};

/// The API over `control`. It opens no socket; see [`serve`](crate::serve).
pub fn router(control: Arc<dyn Control>, limits: Limits) -> Router {
    let (routes, _) = document::routes();
    routes
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(from_fn(origin::refuse_web_pages))
        .layer(from_fn(log::log_changes))
        .with_state(Api::new(control, limits))
}

/// The API's description, as served at `/openapi.json`.
#[must_use]
pub fn openapi() -> OpenApi {
    document::routes().1
}

async fn no_route(uri: Uri) -> Refusal {
    let detail = format!("there is nothing at {}", uri.path());
    Refusal::new(StatusCode::NOT_FOUND, Code::RouteNotFound, detail)
        .hint("/openapi.json lists what there is")
}

async fn no_method(method: Method, uri: Uri) -> Refusal {
    let detail = format!("{} does not know {method}", uri.path());
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, Code::MethodNotAllowed, detail)
}
