//! Requests without a socket.

use std::sync::Arc;

use api_server::{Limits, router};
use axum::{
    Router,
    body::Body,
    http::{HeaderMap, Request, StatusCode, request::Builder},
};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

use crate::fake::Fake;

pub(crate) struct Client(Router);

/// An answer; of a body that is not JSON, the text.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Client {
    pub(crate) fn new() -> Self {
        Self::with(Fake::default(), Limits::default())
    }

    pub(crate) fn with(fake: Fake, limits: Limits) -> Self {
        Self(router(Arc::new(fake), limits))
    }

    pub(crate) async fn send(&self, request: Builder, body: impl Into<Body>) -> Answer {
        let request = request.body(body.into()).unwrap();
        let (head, body) = self.0.clone().oneshot(request).await.unwrap().into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = || Value::from(String::from_utf8(bytes.to_vec()).unwrap());
        let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| text());
        Answer { status: head.status, headers: head.headers, body }
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        let answer = self.send(Request::get(path), Body::empty()).await;
        (answer.status.as_u16(), answer.body)
    }

    pub(crate) async fn delete(&self, path: &str) -> (u16, Value) {
        let answer = self.send(Request::delete(path), Body::empty()).await;
        (answer.status.as_u16(), answer.body)
    }

    pub(crate) async fn put(&self, path: &str, spec: Value) -> (u16, Value) {
        let request = Request::put(path).header("content-type", "application/json");
        let answer = self.send(request, spec.to_string()).await;
        (answer.status.as_u16(), answer.body)
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        let request = Request::post(path).header("content-type", "application/json");
        let answer = self.send(request, body.to_string()).await;
        (answer.status.as_u16(), answer.body)
    }

    /// The status, code and pointer of a refusal.
    pub(crate) async fn refusal(
        &self,
        method: &str,
        path: &str,
        body: &[u8],
    ) -> (u16, String, Value) {
        let request = Request::builder().method(method).uri(path);
        let answer = self.send(request, body.to_vec()).await;
        assert_eq!(answer.headers["content-type"], "application/problem+json", "{answer:?}");
        assert_eq!(answer.body["status"], answer.status.as_u16(), "{answer:?}");
        let code = answer.body["code"].as_str().unwrap().to_owned();
        (answer.status.as_u16(), code, answer.body["pointer"].clone())
    }
}
