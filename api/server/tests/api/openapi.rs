//! The description of the API, against the API.

use std::collections::BTreeSet;

use axum::{body::Body, http::Request};
use serde_json::Value;

use crate::client::Client;

const OPERATIONS: [&str; 42] = [
    "DELETE /v1/flows",
    "DELETE /v1/groups/{name}",
    "DELETE /v1/mac-table",
    "DELETE /v1/meters/{name}",
    "DELETE /v1/modules/{name}",
    "DELETE /v1/ports/{name}",
    "DELETE /v1/stages/{name}",
    "DELETE /v1/tables/{table}",
    "DELETE /v1/tables/{table}/rules/{name}",
    "GET /healthz",
    "GET /openapi.json",
    "GET /readyz",
    "GET /v1/flows",
    "GET /v1/groups",
    "GET /v1/groups/{name}",
    "GET /v1/mac-table",
    "GET /v1/meters",
    "GET /v1/meters/{name}",
    "GET /v1/modules",
    "GET /v1/modules/{name}",
    "GET /v1/ports",
    "GET /v1/ports/{name}",
    "GET /v1/stages",
    "GET /v1/stages/{name}",
    "GET /v1/stats",
    "GET /v1/tables",
    "GET /v1/tables/{table}",
    "GET /v1/tables/{table}/rules",
    "GET /v1/tables/{table}/rules/{name}",
    "GET /v1/workers",
    "GET /version",
    "POST /v1/explain",
    "POST /v1/modules",
    "POST /v1/rules:batch",
    "PUT /v1/groups/{name}",
    "PUT /v1/mac-table",
    "PUT /v1/meters/{name}",
    "PUT /v1/modules/{name}",
    "PUT /v1/ports/{name}",
    "PUT /v1/stages/{name}",
    "PUT /v1/tables/{table}",
    "PUT /v1/tables/{table}/rules/{name}",
];

async fn document() -> Value {
    let (status, document) = Client::new().get("/openapi.json").await;
    assert_eq!(status, 200);
    document
}

fn operations(document: &Value) -> Vec<(String, &str, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    let each = paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().iter();
        methods.map(move |(method, operation)| (method.to_uppercase(), path.as_str(), operation))
    });
    each.collect()
}

#[tokio::test]
async fn it_lists_every_operation() {
    let document = document().await;
    let listed: BTreeSet<String> =
        operations(&document).iter().map(|(method, path, _)| format!("{method} {path}")).collect();
    assert_eq!(listed, OPERATIONS.map(str::to_owned).into());
}

#[tokio::test]
async fn each_operation_is_there_and_has_a_name_of_its_own() {
    let (document, api) = (document().await, Client::new());
    let mut names = BTreeSet::new();
    for (method, path, operation) in operations(&document) {
        let uri = path.replace("{name}", "x").replace("{table}", "0");
        let request = Request::builder().method(method.as_str()).uri(uri);
        let code = api.send(request, Body::empty()).await.body["code"].clone();
        assert!(
            code != "route-not-found" && code != "method-not-allowed",
            "{method} {path}: {code}"
        );
        assert!(names.insert(operation["operationId"].as_str().unwrap()), "{method} {path}");
        for (status, response) in operation["responses"].as_object().unwrap() {
            let description = response["description"].as_str().unwrap();
            assert!(!description.is_empty(), "{method} {path} {status}");
        }
        let refused = &operation["responses"]["default"]["content"]["application/problem+json"];
        assert_eq!(refused["schema"]["$ref"], "#/components/schemas/Problem", "{method} {path}");
    }
}

#[tokio::test]
async fn every_reference_in_it_leads_somewhere() {
    let document = document().await;
    let mut seen = 0;
    each_reference(&document, &mut |reference| {
        let place = reference.strip_prefix('#').unwrap();
        assert!(document.pointer(place).is_some(), "{reference}");
        seen += 1;
    });
    assert!(seen > 50, "{seen}");
}

fn each_reference(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::Object(object) => object.iter().for_each(|(key, value)| match value {
            Value::String(reference) if key == "$ref" => found(reference),
            other => each_reference(other, found),
        }),
        Value::Array(items) => items.iter().for_each(|item| each_reference(item, found)),
        _ => {}
    }
}
