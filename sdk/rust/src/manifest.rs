//! Writes a module's manifest while it is compiled. For [`export!`](crate::export).

use crate::{Classifier, Names, Stage};

/// What a manifest says, before it is text.
#[derive(Debug, Clone, Copy)]
pub struct Parts {
    name: &'static str,
    version: &'static str,
    kind: &'static str,
    payload: bool,
    window: u32,
    writes: bool,
    drop_reasons: &'static [&'static str],
    counters: &'static [&'static str],
}

impl Parts {
    /// Those of a stage.
    ///
    /// # Panics
    ///
    /// Panics, so that the module does not compile, if one of them is not what the host accepts.
    #[must_use]
    pub const fn of<S: Stage>(name: &'static str, version: &'static str) -> Self {
        check_names(&[name]);
        check_version(version);
        assert!(0 < S::WINDOW && S::WINDOW <= weft_abi::MAX_WINDOW, "no such window");
        Self {
            name,
            version,
            kind: "stage",
            payload: false,
            window: S::WINDOW,
            writes: S::WRITES,
            drop_reasons: S::Reason::NAMES,
            counters: S::Counter::NAMES,
        }
    }

    /// Those of a classifier.
    ///
    /// # Panics
    ///
    /// Panics, so that the module does not compile, if one of them is not what the host accepts.
    #[must_use]
    pub const fn of_classifier<C: Classifier>(name: &'static str, version: &'static str) -> Self {
        check_names(&[name]);
        check_version(version);
        assert!(C::WINDOW <= weft_abi::MAX_WINDOW, "no such window");
        Self {
            name,
            version,
            kind: "classifier",
            payload: C::PAYLOAD,
            window: C::WINDOW,
            writes: false,
            drop_reasons: &[],
            counters: &[],
        }
    }

    /// How long the text is.
    #[must_use]
    pub const fn length(&self) -> usize {
        self.write::<0>().length
    }

    /// The text, which is JSON.
    ///
    /// # Panics
    ///
    /// Panics if `N` is not its [`length`](Self::length).
    #[must_use]
    pub const fn text<const N: usize>(&self) -> [u8; N] {
        let text = self.write::<N>();
        assert!(text.length == N, "N is the text's length");
        text.bytes
    }

    const fn write<const N: usize>(&self) -> Text<N> {
        let mut text = Text { bytes: [0; N], length: 0 };
        text.push("{\"name\":\"");
        text.push(self.name);
        text.push("\",\"version\":\"");
        text.push(self.version);
        text.push("\",\"abi\":");
        text.push_number(weft_abi::VERSION);
        text.push(",\"kind\":\"");
        text.push(self.kind);
        if self.payload {
            text.push("\",\"payload\":true,\"window\":");
        } else {
            text.push("\",\"window\":");
        }
        text.push_number(self.window);
        text.push(",\"writes\":");
        text.push(if self.writes { "true" } else { "false" });
        text.push(",\"drop_reasons\":");
        text.push_list(self.drop_reasons);
        text.push(",\"counters\":");
        text.push_list(self.counters);
        text.push("}");
        text
    }
}

/// Text whose length is counted even where it does not fit.
struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Text<N> {
    const fn push(&mut self, text: &str) {
        let mut place = 0;
        while place < text.len() {
            self.push_byte(text.as_bytes()[place]);
            place += 1;
        }
    }

    const fn push_byte(&mut self, byte: u8) {
        if self.length < N {
            self.bytes[self.length] = byte;
        }
        self.length += 1;
    }

    const fn push_number(&mut self, number: u32) {
        if number > 9 {
            self.push_number(number / 10);
        }
        self.push_byte(b'0' + (number % 10) as u8);
    }

    const fn push_list(&mut self, names: &[&str]) {
        self.push("[");
        let mut place = 0;
        while place < names.len() {
            self.push(if place == 0 { "\"" } else { ",\"" });
            self.push(names[place]);
            self.push("\"");
            place += 1;
        }
        self.push("]");
    }
}

const fn check_version(version: &str) {
    let mut place = 0;
    while place < version.len() {
        let byte = version.as_bytes()[place];
        assert!(
            byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+' | b'_' | b'~'),
            "a version is letters, digits and .-+_~"
        );
        place += 1;
    }
    assert!(!version.is_empty(), "WEFT_MODULE_VERSION is empty");
}

/// Stops the compiler at a name that the host would refuse.
///
/// # Panics
///
/// Panics if a name is there twice or is not lower-case letters, digits and hyphens.
pub const fn check_names(names: &[&str]) {
    let mut place = 0;
    while place < names.len() {
        assert!(is_name(names[place]), "a name is lower-case letters, digits and hyphens");
        let mut earlier = 0;
        while earlier < place {
            assert!(!is_same(names[earlier], names[place]), "a name is there twice");
            earlier += 1;
        }
        place += 1;
    }
}

const fn is_name(name: &str) -> bool {
    let mut place = 0;
    while place < name.len() {
        if !matches!(name.as_bytes()[place], b'a'..=b'z' | b'0'..=b'9' | b'-') {
            return false;
        }
        place += 1;
    }
    !name.is_empty()
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut place = 0;
    while place < one.len() && one[place] == other[place] {
        place += 1;
    }
    place == one.len()
}

#[cfg(test)]
mod tests {
    use weft_abi::{Access, Kind, Manifest};

    use super::*;
    use crate::{ConfigError, Counters, NoConfig, NoNames, Packet, Verdict};

    crate::names! {
        enum Reason { First => "first", SecondOne => "second-1" }
    }

    struct Sample;

    impl Stage for Sample {
        type Config = NoConfig;
        type Reason = Reason;
        type Counter = NoNames;
        const WINDOW: u32 = 9000;
        const WRITES: bool = true;

        fn new(_: NoConfig) -> Result<Self, ConfigError> {
            Ok(Self)
        }

        fn process(&mut self, p: &mut Packet<'_>, _: &mut Counters<NoNames>) -> Verdict<Reason> {
            Verdict::Drop(if p.is_fragment() { Reason::First } else { Reason::SecondOne })
        }
    }

    #[test]
    fn what_is_written_is_the_manifest_that_the_host_reads() {
        const PARTS: Parts = Parts::of::<Sample>("sample-1", "1.0.0-rc.1+5");
        const TEXT: [u8; PARTS.length()] = PARTS.text();
        let expected = Manifest {
            name: "sample-1".into(),
            version: "1.0.0-rc.1+5".into(),
            abi: weft_abi::VERSION,
            abi_oldest: None,
            kind: Kind::Stage,
            access: [Access::Window].into(),
            window: 9000,
            writes: true,
            drop_reasons: ["first", "second-1"].map(Into::into).into(),
            counters: [].into(),
            histograms: [].into(),
            capabilities: [].into(),
            maps: [].into(),
            payload: false,
            tick_ms: 0,
            config_schema: None,
        };
        assert_eq!(serde_json::from_slice::<Manifest>(&TEXT).unwrap(), expected);
    }

    #[test]
    #[should_panic(expected = "a name is there twice")]
    fn a_name_that_is_there_twice_stops_the_compiler() {
        check_names(&["one", "other", "one"]);
    }

    #[test]
    fn a_name_is_lower_case_letters_digits_and_hyphens() {
        assert!(is_name("a-1"));
        assert!(["", "A", "a b", "a_b", "ä", "a\""].into_iter().all(|name| !is_name(name)));
    }

    #[test]
    #[should_panic(expected = "a version is letters, digits")]
    fn a_version_that_would_end_the_text_stops_the_compiler() {
        let _ = Parts::of::<Sample>("sample", "1.0\"");
    }
}
