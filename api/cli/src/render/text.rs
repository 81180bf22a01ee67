//! What the daemon says, made safe for a terminal.

use std::{borrow::Cow, fmt::Write};

/// The text with its control and invisible characters written as `\u{..}`.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    rewritten(text, |c| !unsafe_to_show(c), |out, c| out.extend(c.escape_unicode()))
}

/// JSON with what a terminal could act on escaped, as JSON escapes it. Line ends stay.
pub(crate) fn escaped_json(json: &str) -> Cow<'_, str> {
    rewritten(
        json,
        |c| !unsafe_to_show(c) || c == '\n',
        |out, c| {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}").expect("a string takes all");
            }
        },
    )
}

/// Whether a terminal could act on the character, or show it as another or as nothing.
fn unsafe_to_show(c: char) -> bool {
    !matches!(c, ' '..='~') && c.escape_debug().len() > 1
}

fn rewritten(
    text: &str,
    keeps: impl Fn(char) -> bool,
    escape: impl Fn(&mut String, char),
) -> Cow<'_, str> {
    if text.chars().all(&keeps) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if keeps(c) { out.push(c) } else { escape(&mut out, c) }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_stays_as_it_is() {
        let text = "fw: \"Gr\u{fc}n\" \\ 'x'";
        assert_eq!(escaped(text), text);
        assert_eq!(escaped_json(text), text);
    }

    #[test]
    fn what_a_terminal_acts_on_is_spelled_out() {
        let text = "a\u{1b}[2Jb\nc\u{9b}31m\u{202e}d";
        assert_eq!(escaped(text), r"a\u{1b}[2Jb\u{a}c\u{9b}31m\u{202e}d");
        assert_eq!(escaped_json("\"\u{9b}\u{202e}\u{e0001}\"\n"), {
            "\"\\u009b\\u202e\\udb40\\udc01\"\n"
        });
    }
}
