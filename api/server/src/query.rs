use api_model::Code;
use axum::{
    extract::FromRequestParts,
    http::{StatusCode, request::Parts},
};
use serde::de::DeserializeOwned;

use crate::refusal::Refusal;

/// The parameters behind the question mark of a request's target, checked for what is not taken.
pub(crate) struct Query<T>(pub(crate) T);

impl<T, S> FromRequestParts<S> for Query<T>
where
    T: DeserializeOwned + Send,
    S: Send + Sync,
{
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let query = axum::extract::Query::from_request_parts(parts, state).await;
        let axum::extract::Query(query) = query.map_err(|rejection| {
            let detail = rejection.body_text();
            Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, Code::QueryInvalid, detail)
        })?;
        Ok(Self(query))
    }
}
