//! Makes untrusted text safe for a screen.

use tolok_model::shown::is_hidden;

/// Removes colour codes and control characters, including those that change the direction of text. Names and server messages
/// must not move the cursor, change colours, break a table or look like something else. Newlines and tabs become spaces.
pub(crate) fn printable(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' && letters.next_if_eq(&'[').is_some() {
            // ECMA-48: a control sequence ends with the first character from @ to ~.
            letters.by_ref().find(|letter| ('@'..='~').contains(letter));
        } else {
            plain.push(if letter == '\n' || is_hidden(letter) { ' ' } else { letter });
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_and_words_stay() {
        let check = |text: &str, shown: &str| assert_eq!(printable(text), shown);
        check("plain – as it is", "plain – as it is");
        check("\u{1b}[1;31mpanic:\u{1b}[0m\tdown", "panic: down");
        check("two\nlines\u{7}", "two lines ");
        check("cut off \u{1b}[31", "cut off ");
        check("\u{1b}]0;title\u{7}", " ]0;title ");
        check("a\u{202e}b\u{2066}c\u{9b}d\u{2028}", "a b c d ");
    }
}
