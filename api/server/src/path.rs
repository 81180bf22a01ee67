use api_model::Code;
use axum::{
    extract::{FromRequestParts, Path},
    http::{StatusCode, request::Parts},
};
use serde::de::DeserializeOwned;

use crate::refusal::Refusal;

/// The names and numbers in a request's path, percent-decoded and checked.
pub(crate) struct Named<T>(pub(crate) T);

impl<T, S> FromRequestParts<S> for Named<T>
where
    T: DeserializeOwned + Send,
    S: Send + Sync,
{
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let Path(named) = Path::from_request_parts(parts, state).await.map_err(|rejection| {
            let detail = rejection.body_text();
            Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, Code::PathInvalid, detail)
        })?;
        Ok(Self(named))
    }
}
