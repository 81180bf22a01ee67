//! Keeps web pages away from the loopback listener.
//!
//! A page that is open in a browser on this machine can send requests to loopback. Its own come with
//! an `Origin`; those of a name that was made to point to loopback come with that name as `Host`.

use std::net::{IpAddr, Ipv6Addr};

use api_model::Code;
use axum::{
    extract::Request,
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::{Peer, refusal::Refusal};

/// Refuses what a browser sent over TCP. No browser can open a Unix socket.
pub(super) async fn refuse_web_pages(request: Request, next: Next) -> Response {
    let over_tcp = matches!(request.extensions().get(), Some(Peer::Tcp(_)));
    if over_tcp && let Err(refusal) = check(request.uri(), request.headers()) {
        return refusal.into_response();
    }
    next.run(request).await
}

fn check(uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
    let forbidden = |detail| Refusal::new(StatusCode::FORBIDDEN, Code::OriginForbidden, detail);
    if let Some(origin) = headers.get(header::ORIGIN) {
        let detail = format!("the request comes from the web page {origin:?}");
        return Err(forbidden(detail).hint("web pages may not use this API"));
    }
    let hosts: Vec<&HeaderValue> = headers.get_all(header::HOST).iter().collect();
    let host_is_loopback = hosts.len() == 1 && hosts[0].to_str().is_ok_and(is_loopback);
    let target_is_loopback = uri.authority().is_none_or(|target| is_loopback(target.as_str()));
    if host_is_loopback && target_is_loopback {
        return Ok(());
    }
    let detail =
        format!("the request is for the host {hosts:?}, which is not this machine's loopback");
    Err(forbidden(detail).hint("send it to localhost, 127.0.0.1 or [::1]"))
}

/// Whether a `Host` is localhost or a loopback address, whatever the port.
fn is_loopback(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let name = authority.host();
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let address = match bare {
        Some(bare) => bare.parse::<Ipv6Addr>().map(IpAddr::V6),
        None => name.parse(),
    };
    let plain = !authority.as_str().contains('@');
    plain && address.map_or(name.eq_ignore_ascii_case("localhost"), |address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_few_names() {
        for good in ["localhost", "LOCALHOST:80", "127.0.0.1", "127.1.2.3:9177", "[::1]", "[::1]:1"]
        {
            assert!(is_loopback(good), "{good}");
        }
        for bad in [
            "",
            "evil.test",
            "localhost.evil.test",
            "127.0.0.1.evil.test",
            "10.0.0.1:9177",
            "0.0.0.0",
            "[::]",
            "[fe80::1]",
            "localhost@evil.test",
            "evil.test@localhost",
            "[localhost]",
        ] {
            assert!(!is_loopback(bad), "{bad:?}");
        }
    }
}
