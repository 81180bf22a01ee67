use std::{
    borrow::Cow,
    io::{IsTerminal, Write},
};

use serde::de::DeserializeOwned;

use crate::{client::Answer, error::Error, render::text::escaped_json};

/// Where answers are written, and in which form.
pub(crate) struct Output<'a> {
    /// Standard output, or a buffer in a test.
    pub(crate) sink: &'a mut dyn Write,
    /// Whether programs read it.
    pub(crate) json: bool,
    /// Whether it is a person's screen.
    pub(crate) terminal: bool,
}

impl<'a> Output<'a> {
    /// Writes to standard output.
    pub(crate) fn new<S: Write + IsTerminal>(sink: &'a mut S, json: bool) -> Self {
        let terminal = sink.is_terminal();
        Self { sink, json, terminal }
    }

    /// Writes an answer: as it came for programs, as `render` has it for people.
    pub(crate) fn show<T: DeserializeOwned>(
        &mut self,
        answer: &Answer,
        render: impl FnOnce(&T) -> String,
    ) -> Result<(), Error> {
        if self.json { self.json(&answer.body) } else { self.text(&render(&answer.parse()?)) }
    }

    /// Writes JSON as it came, or laid out where it is a person's screen.
    pub(crate) fn json(&mut self, json: &[u8]) -> Result<(), Error> {
        if self.terminal {
            return self.text(&escaped_json(&laid_out(json)));
        }
        self.sink.write_all(json.trim_ascii_end())?;
        Ok(self.sink.write_all(b"\n")?)
    }

    /// Writes lines for people.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Error> {
        Ok(writeln!(self.sink, "{}", text.trim_end())?)
    }

    /// Writes what was done, where there is no answer that a program could read.
    pub(crate) fn done(&mut self, text: &str) -> Result<(), Error> {
        if self.json { Ok(()) } else { self.text(text) }
    }

    /// Takes away what a screen shows.
    pub(crate) fn clear(&mut self) -> Result<(), Error> {
        const HOME_AND_ERASE: &str = "\u{1b}[H\u{1b}[J";
        if self.terminal && !self.json { self.raw(HOME_AND_ERASE) } else { Ok(()) }
    }

    /// Writes what is neither an answer nor from the daemon.
    pub(crate) fn raw(&mut self, text: &str) -> Result<(), Error> {
        Ok(self.sink.write_all(text.as_bytes())?)
    }
}

/// JSON with its members on lines of their own, in the order that they came in; anything else as
/// it is.
fn laid_out(json: &[u8]) -> Cow<'_, str> {
    let mut lines = Vec::new();
    let mut from = serde_json::Deserializer::from_slice(json);
    let mut to = serde_json::Serializer::pretty(&mut lines);
    let laid_out = serde_transcode::transcode(&mut from, &mut to).and_then(|()| from.end());
    match (laid_out, String::from_utf8(lines)) {
        (Ok(()), Ok(lines)) => lines.into(),
        _ => String::from_utf8_lossy(json),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(json: &str, terminal: bool) -> String {
        let mut sink = Vec::new();
        let mut output = Output { sink: &mut sink, json: true, terminal };
        output.json(json.as_bytes()).unwrap();
        String::from_utf8(sink).unwrap()
    }

    #[test]
    fn a_program_gets_the_answer_as_it_came() {
        let json = "{\"b\":1,\"a\":\"\u{9b}\"}";
        assert_eq!(written(json, false), format!("{json}\n"));
    }

    #[test]
    fn a_person_gets_it_laid_out_in_its_order_and_harmless() {
        let json = "{\"b\":18446744073709551615,\"a\":[\"\u{9b}\\u001b\"],\"c\":{}}";
        assert_eq!(written(json, true), {
            "{\n  \"b\": 18446744073709551615,\n  \"a\": [\n    \"\\u009b\\u001b\"\n  ],\n  \"c\": {}\n}\n"
        });
        assert_eq!(written("no \u{1b}json", true), "no \\u001bjson\n");
    }
}
