//! Colours and columns of the terminal. Text is always made with its colours; where it goes decides whether they stay.

use anstream::adapter::strip_str;
use clap::builder::styling::{AnsiColor, Style};

/// What must not be overlooked.
pub const ALARM: Style = AnsiColor::Red.on_default().bold();
/// What should be known.
pub const CAUTION: Style = AnsiColor::Yellow.on_default();
/// What is as it should be.
pub const FINE: Style = AnsiColor::Green.on_default();
/// What is read first.
pub const STRONG: Style = Style::new().bold();
/// What need not be read.
pub const FAINT: Style = Style::new().dimmed();

pub fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Columns that a text takes, whatever its colours.
pub fn columns(text: &str) -> usize {
    strip_str(text).to_string().chars().count()
}

/// Keeps two words in one line.
pub const TIE: char = '\u{a0}';

/// Fills lines of `width` columns. The text begins in the column `indent`, and so does every further line. A number stays
/// with the word behind it, as does what is tied.
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
    // Blanks, for whoever searches the text.
    wrapped.replace(TIE, " ")
}

/// Ties each number to the word behind it, which is its unit or what it counts.
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
