//! `/v1/ports`: where packets enter and leave.

use api_model::{Code, Name, Port, PortSpec};
use axum::{Json, extract::State, http::StatusCode};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{ControlError, Put, api::Api, body::Spec, path::Named, refusal::Refusal};

pub(crate) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(list_ports)).routes(routes!(
        get_port,
        put_port,
        delete_port
    ))
}

/// All ports, by name.
#[utoipa::path(get, path = "/v1/ports", tag = "ports", responses((status = 200, body = [Port])))]
async fn list_ports(State(api): State<Api>) -> Result<Json<Vec<Port>>, Refusal> {
    api.ask(|control| control.ports()).await.map(Json)
}

/// One port.
#[utoipa::path(get, path = "/v1/ports/{name}", tag = "ports", params(("name" = Name, Path)),
    responses((status = 200, body = Port)))]
async fn get_port(State(api): State<Api>, Named(name): Named<Name>) -> Result<Json<Port>, Refusal> {
    api.ask(move |control| control.port(&name)).await.map(Json)
}

/// Attaches a port, or changes it.
#[utoipa::path(put, path = "/v1/ports/{name}", tag = "ports", params(("name" = Name, Path)),
    request_body = PortSpec, responses((status = 201, body = Port), (status = 200, body = Port)))]
async fn put_port(
    State(api): State<Api>,
    Named(name): Named<Name>,
    Spec(spec): Spec<PortSpec>,
) -> Result<Put<Port>, Refusal> {
    spec.validate().map_err(|invalid| ControlError::invalid(Code::PortInvalid, invalid))?;
    api.ask(move |control| control.put_port(&name, spec)).await
}

/// Detaches a port.
#[utoipa::path(delete, path = "/v1/ports/{name}", tag = "ports", params(("name" = Name, Path)),
    responses((status = 204)))]
async fn delete_port(
    State(api): State<Api>,
    Named(name): Named<Name>,
) -> Result<StatusCode, Refusal> {
    api.ask(move |control| control.delete_port(&name)).await?;
    Ok(StatusCode::NO_CONTENT)
}
