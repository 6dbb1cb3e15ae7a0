//! Shows where a wrong body goes wrong, for the example of a failure.
//!
//! Only the first wrong body of a request is described, because a failing target produces very many of them.

use crate::fault::BodyFault;

/// Bytes shown before the position in question. They are correct and help to locate it.
const BEFORE_BYTES: usize = 8;

/// Bytes shown from the position on.
const FROM_BYTES: usize = 24;

/// A bad body and its description.
#[derive(Debug)]
pub(super) struct Evidence {
    fault: BodyFault,
    words: String,
}

/// The first bad body.
#[derive(Debug, Default)]
pub(super) struct FirstBad(Option<Box<Evidence>>);

impl FirstBad {
    /// Whether there was one.
    pub fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Stores the description of a bad body, if it is the first one.
    pub fn keep(&mut self, fault: BodyFault, words: impl FnOnce() -> String) {
        if self.0.is_none() {
            self.0 = Some(Box::new(Evidence { fault, words: words() }));
        }
    }

    /// The description of this fault, if it was the first one.
    pub fn words(&self, fault: &BodyFault) -> Option<&str> {
        self.0.as_ref().filter(|evidence| evidence.fault == *fault).map(|evidence| evidence.words.as_str())
    }
}

/// The expected and the received bytes at a position of a body that is correct up to there.
pub(super) fn owed_and_came(body: &[u8], at: usize, came: &[u8]) -> String {
    let (before, owed) = body.split_at(at.min(body.len()));
    let came = if came.is_empty() { String::new() } else { format!(", got {}", around(before, came)) };
    let owed = if owed.is_empty() { "its end".to_owned() } else { around(before, owed) };
    format!("; expected {owed}{came}")
}

/// The bytes around a position, in backticks, with an ellipsis where bytes were left out.
pub(super) fn around(before: &[u8], from: &[u8]) -> String {
    let start = before.len().saturating_sub(BEFORE_BYTES);
    let end = from.len().min(FROM_BYTES);
    let text = printable(&[&before[start..], &from[..end]].concat());
    let dots = |more: bool| if more { "…" } else { "" };
    format!("`{}{text}{}`", dots(start > 0), dots(end < from.len()))
}

/// Text unchanged, everything else escaped. Omits characters cut by the edge of the excerpt.
fn printable(bytes: &[u8]) -> String {
    let first = bytes.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
    let mut text = String::new();
    for chunk in bytes[first..].utf8_chunks() {
        chunk.valid().chars().for_each(|letter| match letter {
            '"' | '\'' | '\\' => text.push(letter),
            letter => text.extend(letter.escape_debug()),
        });
        let is_cut = std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
        if !is_cut {
            chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_begins_a_little_before_the_difference() {
        let body = br#"[{"id":1,"name":"Anna"},{"id":2,"name":"Bert"}]"#;
        let at = 30;
        let came = b"3,\"name\":\"Cleopatra the seventh\"}]";
        let expect = r#"; expected `…},{"id":2,"name":"Bert"}]`, got `…},{"id":3,"name":"Cleopatra the …`"#;
        assert_eq!(owed_and_came(body, at, came), expect);
        assert_eq!(owed_and_came(b"abc", 0, b"x"), "; expected `abc`, got `x`");
        assert_eq!(owed_and_came(b"abc", 3, b"def"), "; expected its end, got `abcdef`");
        assert_eq!(owed_and_came(b"abcdef", 3, b""), "; expected `abcdef`");
    }

    #[test]
    fn what_is_no_text_is_escaped_and_characters_cut_by_the_edge_are_left_out() {
        assert_eq!(around(b"", "a\tb\0\u{2028}ü\"\\".as_bytes()), "`a\\tb\\0\\u{2028}ü\"\\`");
        assert_eq!(around(b"", b"\xff\xfe ok"), "`\\xff\\xfe ok`");
        // Both edges are inside an umlaut.
        assert_eq!(around("xüäöüä".as_bytes(), b"!"), "`…äöüä!`");
        assert_eq!(around("xüäöüäa".as_bytes(), b"!"), "`…öüäa!`");
        assert_eq!(around(b"", "12345678901234567890123ü".as_bytes()), "`12345678901234567890123…`");
    }

    #[test]
    fn only_the_first_bad_body_is_kept() {
        let (first, second) = (BodyFault::Long { expected: 1 }, BodyFault::Long { expected: 2 });
        let mut kept = FirstBad::default();
        assert_eq!(kept.words(&first), None);
        kept.keep(first, || "one".to_owned());
        kept.keep(second, || panic!("only the first body is described"));
        assert_eq!((kept.words(&first), kept.words(&second)), (Some("one"), None));
    }
}
