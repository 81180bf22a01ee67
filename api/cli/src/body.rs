//! Bodies of requests. A large one is sent when the daemon asks for it, so that one which it will
//! not take is refused with the reason rather than with a broken connection.

use std::{convert::Infallible, sync::Arc, time::Duration};

use http_body_util::{
    BodyExt, Full,
    channel::{Channel, Sender},
    combinators::BoxBody,
};
use hyper::{
    Request, StatusCode,
    body::Bytes,
    ext::on_informational,
    header::{CONTENT_LENGTH, EXPECT, HeaderValue},
};
use tokio::{sync::Notify, time::timeout};

/// What a request carries.
pub(crate) type Body = BoxBody<Bytes, Infallible>;

/// The bytes that are sent unasked.
const SMALL: usize = 64 << 10;

/// How long to wait for a server that knows nothing of `Expect` (RFC 9110, 10.1.1).
const PATIENCE: Duration = Duration::from_secs(1);

/// The request with its body.
pub(crate) fn with_body(request: Request<()>, bytes: Bytes) -> Request<Body> {
    if bytes.len() <= SMALL {
        return request.map(|()| Full::new(bytes).boxed());
    }
    let (sender, body) = Channel::new(1);
    let mut request = request.map(|()| body.boxed());
    request.headers_mut().insert(CONTENT_LENGTH, bytes.len().into());
    request.headers_mut().insert(EXPECT, HeaderValue::from_static("100-continue"));

    let asked_for = Arc::new(Notify::new());
    let ask = Arc::clone(&asked_for);
    on_informational(&mut request, move |answer| {
        if answer.status() == StatusCode::CONTINUE {
            ask.notify_one();
        }
    });
    drop(tokio::spawn(send(bytes, sender, asked_for)));
    request
}

async fn send(bytes: Bytes, mut sender: Sender<Bytes>, asked_for: Arc<Notify>) {
    let _asked_or_not = timeout(PATIENCE, asked_for.notified()).await;
    // Where nobody takes it, the answer came first.
    let _untaken = sender.send_data(bytes).await;
}
