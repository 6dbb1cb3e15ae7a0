//! Colours and columns of the terminal. Text always has its colours here; the output strips them where they do not belong.

use anstream::adapter::strip_str;
use clap::builder::styling::{AnsiColor, Style};

/// Must not be overlooked.
pub const ALARM: Style = AnsiColor::Red.on_default().bold();
/// Worth knowing.
pub const CAUTION: Style = AnsiColor::Yellow.on_default();
/// As it should be.
pub const FINE: Style = AnsiColor::Green.on_default();
/// To be read first.
pub const STRONG: Style = Style::new().bold();
/// Need not be read.
pub const FAINT: Style = Style::new().dimmed();

pub fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Columns that a text occupies, without its colour codes.
pub fn columns(text: &str) -> usize {
    strip_str(text).to_string().chars().count()
}

/// Keeps two words on one line.
pub const TIE: char = '\u{a0}';

/// Wraps text into lines of `width` columns. The text begins in column `indent`, and so does every further line. A number stays
/// with the next word, and tied words stay together.
pub fn wrap(text: &str, width: usize, indent: usize) -> String {
    let text = tied(text);
    let mut wrapped = String::new();
    let mut at = indent;
    for word in text.split(' ') {
        let length = columns(word);
        if at > indent && at + 1 + length > width {
            wrapped.push('\n');
            wrapped.push_str(&" ".repeat(indent));
            at = indent;
        } else if at > indent {
            wrapped.push(' ');
            at += 1;
        }
        wrapped.push_str(word);
        at += length;
    }
    // Ordinary spaces, for users who search the text.
    wrapped.replace(TIE, " ")
}

/// Ties each number to the next word, which is its unit or what it counts.
pub fn tied(text: &str) -> String {
    let mut tied = String::with_capacity(text.len());
    let mut after_number = false;
    for (at, word) in text.split(' ').enumerate() {
        if at > 0 {
            tied.push(if after_number { TIE } else { ' ' });
        }
        after_number = word.starts_with(|letter: char| letter.is_ascii_digit());
        tied.push_str(word);
    }
    tied
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_filled_and_the_rest_hangs() {
        assert_eq!(wrap("one two three four", 9, 2), "one two\n  three\n  four");
        assert_eq!(wrap("unbreakable", 4, 2), "unbreakable");
        assert_eq!(wrap("one two three\u{a0}four", 12, 2), "one two\n  three four");
    }

    #[test]
    fn a_number_is_never_parted_from_its_unit() {
        assert_eq!(wrap("it took 10 s", 10, 2), "it took\n  10 s");
    }

    #[test]
    fn colours_take_no_columns() {
        let text = paint(ALARM, "one two three");
        assert_eq!(columns(&text), 13);
        assert_eq!(strip_str(&wrap(&text, 9, 2)).to_string(), "one two\n  three");
    }
}
