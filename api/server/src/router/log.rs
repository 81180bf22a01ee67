use axum::{extract::Request, middleware::Next, response::Response};

use crate::{Peer, refusal::Refusal};

/// Logs what was changed, and what was to be changed but was refused.
pub(super) async fn log_changes(request: Request, next: Next) -> Response {
    // A question that does not fit into a target is no change, though its method is that of one.
    if request.method().is_safe() || request.uri().path() == "/v1/explain" {
        return next.run(request).await;
    }
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let peer = request.extensions().get::<Peer>().copied();
    let peer = peer.map_or_else(|| "unknown".to_owned(), |peer| peer.to_string());
    let response = next.run(request).await;
    let status = response.status().as_u16();
    match response.extensions().get::<Refusal>() {
        None => tracing::info!(%method, path, status, peer, "changed"),
        Some(Refusal { code, detail, pointer, .. }) => {
            let (code, pointer) = (code.name(), pointer.as_deref().unwrap_or(""));
            // Details quote the client: escaped, they stay on one line.
            tracing::info!(%method, path, status, peer, code, ?pointer, ?detail, "refused");
        }
    }
    response
}
