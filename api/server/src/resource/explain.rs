//! `/v1/explain`: why a packet fares as it does.

use api_model::{ExplainRequest, Explanation};
use axum::{Json, extract::State};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{api::Api, body::Spec, refusal::Refusal};

pub(crate) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(explain))
}

/// What would become of a packet, and why. Nothing is sent or counted.
#[utoipa::path(post, path = "/v1/explain", tag = "flows", request_body = ExplainRequest,
    responses((status = 200, body = Explanation)))]
async fn explain(
    State(api): State<Api>,
    Spec(request): Spec<ExplainRequest>,
) -> Result<Json<Explanation>, Refusal> {
    api.ask(move |control| control.explain(request)).await.map(Json)
}
