//! Modules: what is uploaded, and what becomes of it.

use axum::{body::Body, http::Request};
use serde_json::{Value, json};

use crate::client::Client;

const WASM: &str = "\0asm\x01\0\0\0";

fn firewall() -> Value {
    json!({
        "name": "firewall@1.0.0", "digest": "sha256:00", "size_bytes": 8, "used_by": [],
        "manifest": {"name": "firewall", "version": "1.0.0", "abi": 1, "kind": "stage", "access": ["window"],
            "window": 128, "writes": false, "drop_reasons": [], "counters": []},
    })
}

#[tokio::test]
async fn a_module_is_named_by_its_manifest_and_kept_once() {
    let api = Client::new();
    for status in [201, 200] {
        let answer = api.send(Request::post("/v1/modules"), WASM).await;
        assert_eq!((answer.status.as_u16(), answer.body), (status, firewall()));
        assert_eq!(answer.headers["location"], "/v1/modules/firewall@1.0.0");
    }
    assert_eq!(api.get("/v1/modules").await, (200, json!([firewall()])));
    assert_eq!(api.get("/v1/modules/firewall@1.0.0").await, (200, firewall()));
}

#[tokio::test]
async fn a_module_is_put_under_a_name_and_its_bytes_stay() {
    let api = Client::new();
    let put = || Request::put("/v1/modules/fw").header("content-type", "application/wasm");
    assert_eq!(api.send(put(), WASM).await.status, 201);
    assert_eq!(api.send(put(), WASM).await.status, 200);
    let answer = api.send(put(), format!("{WASM}more")).await;
    let expected = json!({
        "type": "urn:weft:problem:module-exists", "title": "Module exists", "status": 409,
        "detail": "module fw has other bytes", "code": "module-exists",
        "hint": "give the new one another version",
    });
    assert_eq!(answer.body, expected);
    assert_eq!(api.get("/v1/modules/fw").await.1["size_bytes"], 8);
}

#[tokio::test]
async fn a_module_in_use_is_not_deleted() {
    let api = Client::new();
    api.send(Request::post("/v1/modules"), WASM).await;
    assert_eq!(api.put("/v1/stages/fw", json!({"module": "firewall@1.0.0"})).await.0, 201);
    let refused = api.refusal("DELETE", "/v1/modules/firewall@1.0.0", b"").await;
    assert_eq!(refused, (409, "module-in-use".into(), Value::Null));
    assert_eq!(api.delete("/v1/stages/fw").await.0, 204);
    assert_eq!(api.delete("/v1/modules/firewall@1.0.0").await.0, 204);
    assert_eq!(api.delete("/v1/modules/firewall@1.0.0").await.0, 404);
}

#[tokio::test]
async fn what_is_no_module_is_refused_with_the_reason() {
    let answer = Client::new().send(Request::post("/v1/modules"), Body::from("\x7fELF")).await;
    let expected = json!({
        "type": "urn:weft:problem:module-invalid", "title": "Module invalid", "status": 422,
        "detail": "not WebAssembly: no magic number at byte 0", "code": "module-invalid",
    });
    assert_eq!(answer.body, expected);
}
