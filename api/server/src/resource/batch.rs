//! `/v1/rules:batch`: many changes of rules as one.

use api_model::{Code, RuleBatch, RuleOperation, RulesChanged};
use axum::{Json, extract::State};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{api::Api, body::Batch, json, refusal::Refusal};

pub(crate) fn routes() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(routes!(change_rules))
}

/// Makes several changes of rules as one change, or none of them. What is wrong with one of them is
/// pointed at, as in `/operations/17/put/spec/match/l4_dst`.
#[utoipa::path(post, path = "/v1/rules:batch", tag = "rules", request_body = RuleBatch,
    responses((status = 200, body = RulesChanged)))]
async fn change_rules(
    State(api): State<Api>,
    Batch(turn): Batch,
) -> Result<Json<RulesChanged>, Refusal> {
    let change = move |control: &dyn crate::Control| {
        let operations = operations(&turn.body)?;
        drop(turn.body);
        let changed = control.change_rules(operations)?;
        drop(turn.permit);
        Ok(changed)
    };
    api.work_within(api.limits.batch_answer_time, change).await.map(Json)
}

/// Reads a batch, and checks what can be without the daemon.
fn operations(body: &[u8]) -> Result<Vec<RuleOperation>, Refusal> {
    let batch: RuleBatch = json::parse(body)?;
    if let Some(invalid) = batch.invalid_spec() {
        return Err(Refusal::invalid(Code::RuleInvalid, invalid));
    }
    match batch.named_twice() {
        Some(invalid) => Err(Refusal::invalid(Code::BatchInvalid, invalid)),
        None => Ok(batch.operations),
    }
}
