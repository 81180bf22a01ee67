//! The API's description, made of the handlers' own.

use std::sync::LazyLock;

use api_model::Problem;
use axum::{Json, Router};
use utoipa::{
    OpenApi,
    openapi::{
        ContentBuilder, Ref, RefOr, ResponseBuilder,
        path::{Operation, PathItem},
    },
};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    api::Api,
    resource::{
        batch, explain, flows, groups, health, mac_table, meters, modules, ports, rules, stages,
        stats, tables,
    },
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
        .merge(meters::routes())
        .merge(groups::routes())
        .merge(mac_table::routes())
        .merge(tables::routes())
        .merge(rules::routes())
        .merge(batch::routes())
        .merge(flows::routes())
        .merge(explain::routes())
        .merge(stats::routes())
        .merge(health::routes())
        .routes(routes!(get_openapi))
        .split_for_parts();
    document.paths.paths.values_mut().flat_map(operations).for_each(complete);
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

/// Says what all operations have in common.
fn complete(operation: &mut Operation) {
    let responses = &mut operation.responses.responses;
    for (status, response) in responses.iter_mut() {
        if let RefOr::T(response) = response {
            meaning(status).clone_into(&mut response.description);
        }
    }
    let schema = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    let refused = ResponseBuilder::new()
        .description(meaning("default"))
        .content("application/problem+json", schema)
        .build();
    responses.insert("default".to_owned(), refused.into());
}

fn meaning(status: &str) -> &'static str {
    match status {
        "200" => "What there is now",
        "201" => "It was not there before; what there is now",
        "204" => "It is gone",
        "503" => "What is amiss",
        _ => "The request was refused",
    }
}
