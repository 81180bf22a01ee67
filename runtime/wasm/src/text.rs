/// The longest excerpt, in bytes.
const EXCERPT: usize = 256;

/// The beginning of a text that a module's author chose, fit for an error.
pub(crate) fn excerpt(text: &str) -> String {
    match text.get(..text.floor_char_boundary(EXCERPT)) {
        Some(start) if start.len() < text.len() => printable(start.as_bytes()) + "...",
        _ => printable(text.as_bytes()),
    }
}

/// Text from a module, fit for a log, a terminal and JSON.
///
/// Control characters, and those that turn or hide text, are written as their code; bytes that are
/// not UTF-8 become U+FFFD.
pub(crate) fn printable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for character in String::from_utf8_lossy(bytes).chars() {
        if misleads(character) {
            text.extend(character.escape_unicode());
        } else {
            text.push(character);
        }
    }
    text
}

/// Whether a terminal or a reader would take it for something else than a character.
fn misleads(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::{EXCERPT, excerpt, printable};

    #[test]
    fn a_text_of_the_limit_is_whole_and_a_longer_one_is_cut_between_characters() {
        let whole = "x".repeat(EXCERPT);
        assert_eq!(excerpt(&whole), whole);
        assert_eq!(excerpt(&format!("{}é", &whole[1..])), format!("{}...", &whole[1..]));
        assert_eq!(excerpt("a\x1bb"), "a\\u{1b}b");
    }

    #[test]
    fn what_would_move_a_cursor_or_turn_text_is_written_as_its_code() {
        assert_eq!(printable("Grüße, 世界 ✓".as_bytes()), "Grüße, 世界 ✓");
        assert_eq!(printable(b"a\x1b[31mred\r\nb\0"), "a\\u{1b}[31mred\\u{d}\\u{a}b\\u{0}");
        assert_eq!(printable("evil\u{202e}txt\u{9b}".as_bytes()), "evil\\u{202e}txt\\u{9b}");
        assert_eq!(printable(b"\xff\xc3"), "\u{fffd}\u{fffd}");
    }
}
