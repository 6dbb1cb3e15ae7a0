//! Hides passwords in addresses, which no message may show.

use std::ops::Range;

/// Hides the passwords of all addresses in a text: `mysql://me:***@host/name`.
pub fn masked(text: &str) -> String {
    let mut shown = text.to_owned();
    passwords(text).into_iter().rev().for_each(|place| shown.replace_range(place, "***"));
    shown
}

/// Like [`masked`], but keeps every byte's position, for texts with carets below them.
pub fn masked_in_place(text: &str) -> String {
    let mut shown = text.to_owned();
    passwords(text).into_iter().for_each(|place| shown.replace_range(place.clone(), &"*".repeat(place.len())));
    shown
}

/// Finds passwords: between the first colon of an account and the last `@` of its address.
fn passwords(text: &str) -> Vec<Range<usize>> {
    let ends_word = |letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | '`' | '<' | '>');
    let mut found = Vec::new();
    let mut start = 0;
    for (end, _) in text.match_indices(ends_word).chain([(text.len(), "")]) {
        found.extend(password(&text[start..end]).map(|place| start + place.start..start + place.end));
        start = end + text[end..].chars().next().map_or(0, char::len_utf8);
    }
    found
}

fn password(word: &str) -> Option<Range<usize>> {
    // The scheme may be mistyped, and its colon is not the account's.
    let account = ["://", ":/", "//"].iter().find_map(|mark| Some(word.find(mark)? + mark.len())).unwrap_or(0);
    let rest = &word[account..];
    // A URL's path may hold an `@`. A DSN's path is only a name, but its password may hold a slash.
    let is_url = word.starts_with("http");
    let authority = if is_url { rest.split(['/', '?', '#']).next().unwrap_or(rest) } else { rest };
    let at = authority.rfind('@')?;
    let colon = authority[..at].find(':')?;
    // Messages that explain the form of an address contain the word itself.
    let is_word = &authority[colon + 1..at] == "password";
    (colon + 1 < at && !is_word).then(|| account + colon + 1..account + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_left_in_an_address_however_it_was_typed() {
        for (text, expect) in [
            ("mysql://me:secret@db:3306/shop", "mysql://me:***@db:3306/shop"),
            ("mysq://me:se/cr@et@db/shop", "mysq://me:***@db/shop"),
            ("mysql:/me:secret@db/shop", "mysql:/me:***@db/shop"),
            ("me:secret@db/shop", "me:***@db/shop"),
            ("http://me:secret@host:80/a?b=c:d@e", "http://me:***@host:80/a?b=c:d@e"),
            (
                "dsn = \"mysql://me:secret@db/x\" # and 'http://a:b@c/'",
                "dsn = \"mysql://me:***@db/x\" # and 'http://a:***@c/'",
            ),
        ] {
            assert_eq!(masked(text), expect);
            assert_eq!(masked_in_place(text).len(), text.len());
            assert!(!masked_in_place(text).contains("secret"));
        }
    }

    #[test]
    fn text_without_a_password_is_unchanged() {
        for text in [
            "http://host:80/a?b=c:d@e",
            "mysql://me@db/shop",
            "a: b@c",
            "",
            "ü:ä",
            "10:30 me@host",
            "mysql://user:password@host/name",
        ] {
            assert_eq!(masked(text), text);
        }
    }
}
