//! `/v1/tables/{table}/rules`: what becomes of packets.

use api_model::{Code, Name, Rule, RuleQuery, RuleSpec, TableNumber};
use axum::{Json, extract::State, http::StatusCode};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{ControlError, Put, api::Api, body::Spec, path::Named, query::Query, refusal::Refusal};

pub(crate) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(list_rules)).routes(routes!(
        get_rule,
        put_rule,
        delete_rule
    ))
}

/// The rules of a table, by name: all, or with a limit a page of so many. A page that is shorter
/// is the last; the name of a page's last rule is the cursor of the next one.
#[utoipa::path(get, path = "/v1/tables/{table}/rules", tag = "rules",
    params(("table" = TableNumber, Path), ("limit" = Option<usize>, Query, maximum = 10_000),
        ("cursor" = Option<Name>, Query)),
    responses((status = 200, body = [Rule])))]
async fn list_rules(
    State(api): State<Api>,
    Named(table): Named<TableNumber>,
    Query(query): Query<RuleQuery>,
) -> Result<Json<Vec<Rule>>, Refusal> {
    query.validate().map_err(|invalid| ControlError::invalid(Code::QueryInvalid, invalid))?;
    api.ask(move |control| control.rules(table, &query)).await.map(Json)
}

/// One rule.
#[utoipa::path(get, path = "/v1/tables/{table}/rules/{name}", tag = "rules",
    params(("table" = TableNumber, Path), ("name" = Name, Path)),
    responses((status = 200, body = Rule)))]
async fn get_rule(
    State(api): State<Api>,
    Named((table, name)): Named<(TableNumber, Name)>,
) -> Result<Json<Rule>, Refusal> {
    api.ask(move |control| control.rule(table, &name)).await.map(Json)
}

/// Makes a rule, or changes it.
#[utoipa::path(put, path = "/v1/tables/{table}/rules/{name}", tag = "rules",
    params(("table" = TableNumber, Path), ("name" = Name, Path)),
    request_body = RuleSpec, responses((status = 201, body = Rule), (status = 200, body = Rule)))]
async fn put_rule(
    State(api): State<Api>,
    Named((table, name)): Named<(TableNumber, Name)>,
    Spec(spec): Spec<RuleSpec>,
) -> Result<Put<Rule>, Refusal> {
    spec.validate(table).map_err(|invalid| ControlError::invalid(Code::RuleInvalid, invalid))?;
    api.ask(move |control| control.put_rule(table, &name, spec)).await
}

/// Forgets a rule.
#[utoipa::path(delete, path = "/v1/tables/{table}/rules/{name}", tag = "rules",
    params(("table" = TableNumber, Path), ("name" = Name, Path)), responses((status = 204)))]
async fn delete_rule(
    State(api): State<Api>,
    Named((table, name)): Named<(TableNumber, Name)>,
) -> Result<StatusCode, Refusal> {
    api.ask(move |control| control.delete_rule(table, &name)).await?;
    Ok(StatusCode::NO_CONTENT)
}
