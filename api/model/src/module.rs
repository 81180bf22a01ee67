use serde::{Deserialize, Serialize};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr, Schema,
        schema::{ArrayBuilder, ObjectBuilder, Type},
    },
};
use weft_abi::Manifest;

use crate::Name;

/// An uploaded WebAssembly module. Its bytes never change under its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Module {
    /// What stages call it by; `name@version` of its manifest, if the client gave none.
    pub name: Name,
    /// The SHA-256 of its bytes, as `sha256:` and 64 hexadecimal digits.
    pub digest: String,
    /// How many bytes were uploaded.
    pub size_bytes: u64,
    /// What it says of itself.
    #[schema(schema_with = manifest_schema)]
    pub manifest: Manifest,
    /// The stages that run it.
    pub used_by: Vec<Name>,
}

/// The manifest's own crate is for guests and knows no OpenAPI.
fn manifest_schema() -> RefOr<Schema> {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let number = || ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0));
    let flag = || ObjectBuilder::new().schema_type(Type::Boolean);
    let map = || {
        ObjectBuilder::new()
            .property("name", text())
            .property("kind", text().enum_values(Some(["hash", "lru", "lpm", "array"])))
            .property("key_bytes", number())
            .property("value_bytes", number())
            .property("entries", number())
            .property("scope", text().enum_values(Some(["worker", "shared"])))
            .property("idle_ms", number())
            .property("layout", number())
    };
    let texts = || ArrayBuilder::new().items(String::schema());
    ObjectBuilder::new()
        .property("name", text())
        .property("version", text())
        .property("abi", number())
        .property("abi_oldest", number())
        .property("kind", text().enum_values(Some(["stage", "classifier"])))
        .property("access", texts())
        .property("window", number())
        .property("writes", flag())
        .property("drop_reasons", texts())
        .property("counters", texts())
        .property("histograms", texts())
        .property("capabilities", texts())
        .property("maps", ArrayBuilder::new().items(map()))
        .property("payload", flag())
        .property("tick_ms", number())
        .property("config_schema", ObjectBuilder::new().schema_type(Type::Object))
        .into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_schema_of_a_manifest_names_its_fields() {
        let manifest: Manifest =
            serde_json::from_value(json!({"name": "firewall", "version": "1.0.0",
            "abi_oldest": 1, "config_schema": {},
            "histograms": ["h"], "capabilities": ["log"], "payload": true, "tick_ms": 1, "maps": [
                {"name": "m", "kind": "lru", "key_bytes": 4, "value_bytes": 8, "entries": 9}
            ]}))
            .unwrap();
        let keys = |value: Value| -> BTreeSet<String> {
            value.as_object().unwrap().keys().cloned().collect()
        };
        let schema = serde_json::to_value(manifest_schema()).unwrap();
        assert_eq!(keys(schema["properties"].clone()), keys(json!(manifest)));
    }
}
