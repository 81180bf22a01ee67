//! A stage's configuration as an argument, and files of JSON or TOML.

use std::{fs, path::Path};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::Error;

type Object = Map<String, Value>;

/// Reads a JSON object.
pub(crate) fn json(text: &str) -> Result<Object, String> {
    from_json(text)
}

/// Reads a file by the format that its name ends with.
pub(crate) fn file<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let invalid = |reason| Error::Content { path: path.to_owned(), reason };
    let parse = match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => from_json,
        Some("toml") => from_toml,
        _ => return Err(invalid("its name ends neither with .json nor with .toml".into())),
    };
    let text =
        fs::read_to_string(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    parse(&text).map_err(invalid)
}

fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn from_toml<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let before = &text[..start];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        format!("{} at line {line}, column {column}", error.message())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(name: &str, text: &str) -> Result<Value, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        let place = folder.path().display().to_string();
        file(&path).map(Value::Object).map_err(|error| error.to_string().replace(&place, ""))
    }

    #[test]
    fn json_and_toml_say_the_same() {
        let expected = json!({"default": "deny", "rules": [{"to": 443}]});
        let json = read("fw.json", r#"{"default": "deny", "rules": [{"to": 443}]}"#);
        let toml = read("fw.toml", "default = \"deny\"\n[[rules]]\nto = 443\n");
        assert_eq!((json, toml), (Ok(expected.clone()), Ok(expected)));
    }

    #[test]
    fn a_file_that_is_no_configuration_is_refused_with_the_place() {
        let json = read("fw.json", "{\n  \"a\": ,\n}").unwrap_err();
        assert_eq!(json, "/fw.json: expected value at line 2 column 8");
        let toml = read("fw.toml", "a = 1\nb =\n").unwrap_err();
        assert!(toml.ends_with("at line 2, column 4"), "{toml}");
        let yaml = read("fw.yaml", "").unwrap_err();
        assert_eq!(yaml, "/fw.yaml: its name ends neither with .json nor with .toml");
        let list = read("fw.json", "[]").unwrap_err();
        assert!(list.starts_with("/fw.json: invalid type: sequence, expected a map"), "{list}");
    }
}
