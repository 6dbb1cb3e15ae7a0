//! Tables as GitHub shows them.

use std::fmt::Write as _;

use crate::printable::printable;

/// A table whose first column is text, as are those after so many of numbers.
pub(crate) fn lines(headings: &[impl AsRef<str>], rows: &[Vec<String>], numbers: usize) -> String {
    let headings: Vec<&str> = headings.iter().map(AsRef::as_ref).collect();
    let rest = "---|".repeat(headings.len() - 1 - numbers);
    let mut text = format!("| {} |\n|---|{}{rest}\n", headings.join(" | "), "--:|".repeat(numbers));
    for row in rows {
        _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

pub(crate) fn list(heading: &str, items: &[String]) -> String {
    let items: Vec<String> = items.iter().filter(|item| !item.is_empty()).map(|item| format!("- {item}\n")).collect();
    if items.is_empty() { String::new() } else { format!("\n## {heading}\n\n{}", items.concat()) }
}

/// Text that Markdown shows as it is. Underscores inside a word need no escape, and most of ours are there.
pub(crate) fn escaped(text: &str) -> String {
    let letters: Vec<char> = printable(text).chars().collect();
    let in_word = |place: usize| {
        let is_letter = |place: usize| letters.get(place).is_some_and(|letter| letter.is_alphanumeric());
        place > 0 && is_letter(place - 1) && is_letter(place + 1)
    };
    let mut text = String::new();
    for (place, letter) in letters.iter().enumerate() {
        if matches!(letter, '\\' | '|' | '<' | '>' | '*' | '[' | ']' | '`') || (*letter == '_' && !in_word(place)) {
            text.push('\\');
        }
        text.push(*letter);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_shown_and_not_obeyed() {
        let check = |text: &str, written: &str| assert_eq!(escaped(text), written);
        check("Apache + mod_php", "Apache + mod_php");
        check("_all_ | of *it*", "\\_all\\_ \\| of \\*it\\*");
        check("<script>", "\\<script\\>");
        check("two\nlines", "two lines");
    }
}
