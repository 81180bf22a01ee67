//! Modules in WebAssembly's text form that do the one thing a test is about.

use std::fmt::Write;

use serde_json::json;

/// Where a [`Guest`] has its batch area: past what the host writes the configuration into.
const BATCH: u32 = 65_536;

/// A module that lets every packet pass, but for what is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guest {
    /// What it imports, as text.
    pub imports: String,
    /// The pages of its memory at the start.
    pub pages: u32,
    /// The names of its exports that are left out.
    pub without: Vec<&'static str>,
    /// What its initialisation does before it succeeds.
    pub init: String,
    /// What it does with a packet, whose descriptor is at `$d`, before it lets it pass.
    pub each: String,
}

impl Default for Guest {
    fn default() -> Self {
        Self {
            imports: String::new(),
            pages: 4,
            without: Vec::new(),
            init: String::new(),
            each: String::new(),
        }
    }
}

impl Guest {
    /// The module's bytes.
    ///
    /// # Panics
    ///
    /// Panics if a part is not in the text format.
    #[must_use]
    pub fn wasm(&self) -> Vec<u8> {
        let text = self.text();
        wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    /// The module's bytes, with more in it that nobody calls.
    ///
    /// # Panics
    ///
    /// Panics if a part is not in the text format.
    #[must_use]
    pub fn wasm_with(&self, more: &str) -> Vec<u8> {
        let text = self.text();
        let text = format!("{} {more})", text.strip_suffix(')').expect("it ends in a bracket"));
        wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}"))
    }

    fn text(&self) -> String {
        let manifest = json!({
            "name": "subject",
            "version": "1.0.0",
            "drop_reasons": ["disliked"],
        });
        let manifest = manifest.to_string().replace('"', "\\\"");
        let Self { imports, pages, init, each, .. } = self;
        let mut text = format!(
            "(module {imports} (@custom \"weft.manifest\" \"{manifest}\") (memory $memory {pages})"
        );
        let functions = [
            ("weft_abi_version", "(result i32)", "i32.const 1"),
            ("weft_alloc", "(param i32) (result i32)", "i32.const 1024"),
            ("weft_init", "(param i32 i32) (result i64)", &format!("{init} i64.const 0")),
            ("weft_batch", "(param i32 i32) (result i32)", &format!("i32.const {BATCH}")),
            ("weft_process", "(param $n i32)", &for_each(each)),
        ];
        for (name, signature, body) in functions {
            let export =
                if self.without.contains(&name) { "" } else { &format!("(export \"{name}\")") };
            write!(text, "\n(func {export} {signature} {body})").expect("a string takes all text");
        }
        text + "(export \"memory\" (memory $memory)))"
    }
}

/// The body of `weft_process`: what is not decided in the end gets the verdict "next".
fn for_each(each: &str) -> String {
    format!(
        "(local $i i32) (local $d i32) (local.set $d (i32.const {BATCH}))
        (block $done (loop $more
          (br_if $done (i32.ge_u (local.get $i) (local.get $n)))
          {each}
          (if (i32.eq (i32.load offset=36 (local.get $d)) (i32.const -1))
            (then (i32.store offset=36 (local.get $d) (i32.const 0))))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (local.set $d (i32.add (local.get $d) (i32.const 48)))
          (br $more)))"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_innocent_guest_has_all_exports_and_a_manifest() {
        let wasm = Guest::default().wasm();
        let holds = |text: &str| wasm.windows(text.len()).any(|bytes| bytes == text.as_bytes());
        for text in ["weft.manifest", "\"name\":\"subject\"", "weft_process", "weft_alloc"] {
            assert!(holds(text), "{text}");
        }
    }

    #[test]
    fn an_export_can_be_left_out() {
        let guest = Guest { without: vec!["weft_process"], ..Guest::default() };
        assert!(!guest.wasm().windows(12).any(|bytes| bytes == b"weft_process"));
    }
}
