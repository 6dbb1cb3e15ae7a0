//! Makes untrusted texts safe to show: characters that control a terminal or the direction of writing become visible
//! and have no effect.

use std::borrow::Cow;

/// The most characters of a word to quote.
const WORD: usize = 200;
/// The most characters of a line to quote.
const LINE: usize = 2_000;
const CUT: char = '…';

/// Replaces every control character, and every one that changes the direction of writing, with a visible one. Line
/// feeds stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|letter| if is_hidden(letter) { picture(letter) } else { letter }).collect())
}

/// Like [`visible`], on one line.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    match visible(text) {
        shown if shown.contains('\n') => Cow::Owned(shown.replace('\n', "␊")),
        shown => shown,
    }
}

/// Prepares a text for quoting in a message: visible, with long words and lines cut.
pub fn quotable(text: &str) -> String {
    let mut said = String::new();
    let (mut word, mut line) = (0, 0);
    for letter in visible(text).chars() {
        word = if letter.is_whitespace() { 0 } else { word + 1 };
        line = if letter == '\n' { 0 } else { line + 1 };
        match (word > WORD, line > LINE) {
            (false, false) => said.push(letter),
            _ if said.ends_with(CUT) => {}
            _ => said.push(CUT),
        }
    }
    said
}

/// Whether a character has an effect instead of a shape.
pub fn is_hidden(letter: char) -> bool {
    (letter.is_control() && letter != '\n') || is_bidirectional(letter) || matches!(letter, '\u{2028}' | '\u{2029}')
}

fn is_bidirectional(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Unicode has pictures for the ASCII control characters.
fn picture(letter: char) -> char {
    match letter {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(letter)).unwrap_or('�'),
        '\u{7f}' => '␡',
        _ => '�',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_and_bidi_control_characters_are_made_visible() {
        assert_eq!(visible("\u{1b}[31mred\u{7}\ttab\nline"), "␛[31mred␇␉tab\nline");
        assert_eq!(visible("a\u{202e}b\u{9b}c\u{2066}d\u{7f}"), "a�b�c�d␡");
        assert!(matches!(visible("größer – 図"), Cow::Borrowed(_)));
        assert_eq!(visible_line("a\nb\rc"), "a␊b␍c");
        for letter in (0..0x3000).filter_map(char::from_u32).filter(|letter| *letter != '\n') {
            assert!(!visible(&letter.to_string()).chars().any(is_hidden), "{letter:?}");
        }
    }

    #[test]
    fn long_words_and_lines_are_cut() {
        assert_eq!(quotable(&"x".repeat(300)).chars().count(), WORD + 1);
        assert_eq!(quotable(&format!("`{}` is wrong", "x".repeat(300))).chars().count(), WORD + 1 + " is wrong".len());
        assert_eq!(quotable(&"ab ".repeat(100_000)).chars().count(), LINE + 1);
        assert_eq!(quotable("no study `a`\nis there"), "no study `a`\nis there");
    }
}
