//! The API's description, made of the handlers' own.

use std::sync::LazyLock;

use api_model::Problem;
use axum::{Json, Router};
use utoipa::{
    OpenApi,
    openapi::{
        ContentBuilder, Ref, ResponseBuilder,
        path::{Operation, PathItem},
    },
};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    api::Api,
    resource::{health, modules, ports, rules, stages, stats},
};

#[derive(OpenApi)]
#[openapi(
    info(title = "Weft", description = "The management API of a packet dataplane"),
    components(schemas(Problem))
)]
struct Head;

/// The routes, and the document that describes them.
pub(super) fn routes() -> (Router<Api>, utoipa::openapi::OpenApi) {
    let (routes, mut document) = OpenApiRouter::with_openapi(Head::openapi())
        .merge(ports::routes())
        .merge(modules::routes())
        .merge(stages::routes())
        .merge(rules::routes())
        .merge(stats::routes())
        .merge(health::routes())
        .routes(routes!(get_openapi))
        .split_for_parts();
    document.paths.paths.values_mut().flat_map(operations).for_each(add_problem);
    (routes, document)
}

/// This document.
#[utoipa::path(get, path = "/openapi.json", tag = "health",
    responses((status = 200, body = Object)))]
async fn get_openapi() -> Json<&'static utoipa::openapi::OpenApi> {
    static DOCUMENT: LazyLock<utoipa::openapi::OpenApi> = LazyLock::new(|| routes().1);
    Json(&DOCUMENT)
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.put, &mut item.post, &mut item.delete].into_iter().flatten()
}

/// Every operation may be refused.
fn add_problem(operation: &mut Operation) {
    let schema = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    let refused = ResponseBuilder::new()
        .description("It was refused")
        .content("application/problem+json", schema)
        .build();
    operation.responses.responses.insert("default".to_owned(), refused.into());
}
