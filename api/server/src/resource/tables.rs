//! `/v1/tables`: what becomes of packets that no rule is about.

use api_model::{Code, FlowTable, TableNumber, TableSpec};
use axum::{Json, extract::State, http::StatusCode};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{ControlError, api::Api, body::Spec, path::Named, refusal::Refusal};

pub(crate) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(list_tables)).routes(routes!(
        get_table,
        put_table,
        delete_table
    ))
}

/// The tables that have rules or a miss of their own, by number.
#[utoipa::path(get, path = "/v1/tables", tag = "tables",
    responses((status = 200, body = [FlowTable])))]
async fn list_tables(State(api): State<Api>) -> Result<Json<Vec<FlowTable>>, Refusal> {
    api.ask(|control| control.tables()).await.map(Json)
}

/// One table. All that there can be are there.
#[utoipa::path(get, path = "/v1/tables/{table}", tag = "tables",
    params(("table" = TableNumber, Path)), responses((status = 200, body = FlowTable)))]
async fn get_table(
    State(api): State<Api>,
    Named(table): Named<TableNumber>,
) -> Result<Json<FlowTable>, Refusal> {
    api.ask(move |control| control.table(table)).await.map(Json)
}

/// Says what is done with packets that none of a table's rules matches. Its rules stay.
#[utoipa::path(put, path = "/v1/tables/{table}", tag = "tables",
    params(("table" = TableNumber, Path)), request_body = TableSpec,
    responses((status = 200, body = FlowTable)))]
async fn put_table(
    State(api): State<Api>,
    Named(table): Named<TableNumber>,
    Spec(spec): Spec<TableSpec>,
) -> Result<Json<FlowTable>, Refusal> {
    spec.validate(table).map_err(|invalid| ControlError::invalid(Code::TableInvalid, invalid))?;
    api.ask(move |control| control.put_table(table, spec)).await.map(Json)
}

/// Has a table drop packets that none of its rules matches, as at first. Its rules stay.
#[utoipa::path(delete, path = "/v1/tables/{table}", tag = "tables",
    params(("table" = TableNumber, Path)), responses((status = 204)))]
async fn delete_table(
    State(api): State<Api>,
    Named(table): Named<TableNumber>,
) -> Result<StatusCode, Refusal> {
    api.ask(move |control| control.delete_table(table)).await?;
    Ok(StatusCode::NO_CONTENT)
}
