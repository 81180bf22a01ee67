//! Bodies of requests: of the right type, whole, in time, and no larger than they may be.

use std::{error::Error, sync::Arc, time::Duration};

use api_model::Code;
use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    http::{HeaderMap, StatusCode, header},
};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout, timeout_at},
};

use crate::{Limits, api::Api, json, refusal::Refusal};

/// A spec, from JSON.
pub(crate) struct Spec<T>(pub(crate) T);

/// A module's bytes, and its turn among the uploads.
pub(crate) struct Upload(pub(crate) Turn);

/// A batch's bytes, JSON or not, and its turn among the batches.
pub(crate) struct Batch(pub(crate) Turn);

/// A large body that had to wait for its turn.
pub(crate) struct Turn {
    pub(crate) body: Bytes,
    /// Given back when the body is done with.
    pub(crate) permit: OwnedSemaphorePermit,
}

impl<T: DeserializeOwned> FromRequest<Api> for Spec<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Refusal> {
        check_head(request.headers(), &["application/json"], api.limits.json_bytes)?;
        let body = collect(request, api.limits.json_bytes);
        let time = api.limits.json_time;
        let body = timeout(time, body).await.map_err(|_| late(time))??;
        json::parse(&body).map(Self)
    }
}

impl FromRequest<Api> for Upload {
    type Rejection = Refusal;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Refusal> {
        let Limits { module_bytes, module_time, .. } = api.limits;
        let types = ["application/wasm", "application/octet-stream"];
        check_head(request.headers(), &types, module_bytes)?;
        Turn::take(&api.uploads, request, module_bytes, module_time).await.map(Self)
    }
}

impl FromRequest<Api> for Batch {
    type Rejection = Refusal;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Refusal> {
        let Limits { batch_bytes, batch_time, .. } = api.limits;
        check_head(request.headers(), &["application/json"], batch_bytes)?;
        Turn::take(&api.batches, request, batch_bytes, batch_time).await.map(Self)
    }
}

impl Turn {
    /// Waits for a turn, and then for the body.
    async fn take(
        turns: &Arc<Semaphore>,
        request: Request,
        limit: usize,
        time: Duration,
    ) -> Result<Self, Refusal> {
        let deadline = Instant::now() + time;
        let permit = timeout_at(deadline, Arc::clone(turns).acquire_owned()).await;
        let permit = permit.map_err(|_| busy())?.expect("nobody closes the semaphore");
        let body =
            timeout_at(deadline, collect(request, limit)).await.map_err(|_| late(time))??;
        Ok(Self { body, permit })
    }
}

/// Refuses by the head alone what can be.
fn check_head(headers: &HeaderMap, types: &[&str], limit: usize) -> Result<(), Refusal> {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("").trim());
    let unsupported = |detail| {
        Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::MediaTypeUnsupported, detail)
    };
    if let Some(encoding) = text(header::CONTENT_ENCODING) {
        let refusal = unsupported(format!("the body is encoded as {encoding:?}"));
        return Err(refusal.hint("send it plain, without a content-encoding"));
    }
    if let Some(given) = text(header::CONTENT_TYPE) {
        let essence = given.split_once(';').map_or(given, |(essence, _)| essence.trim_end());
        if !types.iter().any(|taken| essence.eq_ignore_ascii_case(taken)) {
            let refusal = unsupported(format!("the body's type is {given:?}"));
            return Err(refusal.hint(format!("send content-type: {}", types[0])));
        }
    }
    let length = text(header::CONTENT_LENGTH).and_then(|length| length.parse::<usize>().ok());
    if length.is_some_and(|length| length > limit) { Err(too_large(limit)) } else { Ok(()) }
}

async fn collect(request: Request, limit: usize) -> Result<Bytes, Refusal> {
    match Limited::new(request.into_body(), limit).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large(limit)),
        Err(error) => Err(broken(&*error)),
    }
}

fn too_large(limit: usize) -> Refusal {
    let detail = format!("the body is larger than {limit} bytes");
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, Code::BodyTooLarge, detail)
}

fn late(time: Duration) -> Refusal {
    let detail = format!("the body did not arrive within {time:?}");
    Refusal::new(StatusCode::REQUEST_TIMEOUT, Code::RequestTimeout, detail)
}

fn busy() -> Refusal {
    let detail = "as many of these as may be at once are being received and made";
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, Code::Unavailable, detail).hint("try again")
}

fn broken(error: &(dyn Error + Send + Sync)) -> Refusal {
    let detail = format!("the body broke off: {error}");
    Refusal::new(StatusCode::BAD_REQUEST, Code::BodyInvalid, detail)
}
