//! Turns fragments into sentences. Prose gets a capital letter; names do not.
//!
//! A reader looks a label up as written, in a study, a file or another sentence. So `php/swoole` must not become
//! `Php/swoole` just because it comes first.

/// Capitalises the text, unless it begins with a label or a figure: a first word with more than letters, hyphens and
/// apostrophes.
pub fn capital(text: &str) -> String {
    capital_unless(text, [])
}

/// Like [`capital`], for a text that may begin with one of `names`, such as the title `nginx static files`.
pub fn capital_unless<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let is_named = names.into_iter().any(|name| begins_with(text, name));
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if is_prose(text) && !is_named => first.to_uppercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

/// Also ends the text with a full stop, unless it has one or is empty.
pub fn sentence(text: &str) -> String {
    sentence_unless(text, [])
}

/// Like [`sentence`], for a text that may begin with one of `names`.
pub fn sentence_unless<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let stop = if text.ends_with('.') || text.is_empty() { "" } else { "." };
    capital_unless(text, names) + stop
}

/// Matches whole names only: `go` does not begin `goodput`.
fn begins_with(text: &str, name: &str) -> bool {
    let rest = text.strip_prefix(name).filter(|_| !name.is_empty());
    rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

fn is_prose(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or_default();
    let word = word.trim_end_matches([',', ';', ':', '.', ')']);
    word.chars().all(|letter| letter.is_alphabetic() || ['-', '\'', '’'].contains(&letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_begins_with_a_capital() {
        assert_eq!(capital("the round trip"), "The round trip");
        assert_eq!(capital("round-trip time of the link"), "Round-trip time of the link");
        assert_eq!(sentence("memory, and CPU"), "Memory, and CPU.");
        assert_eq!(sentence(""), "");
        assert_eq!(sentence("It is said."), "It is said.");
    }

    #[test]
    fn a_label_stays_as_it_is_written() {
        for label in ["php/swoole", "go/net-http?pool=5", "hello-c100-wrk", "p99", "k6", "node.js"] {
            let text = format!("{label} was left out");
            assert_eq!(capital(&text), text);
        }
        assert_eq!(
            capital_unless("nginx static files is ahead", ["nginx static files"]),
            "nginx static files is ahead"
        );
        assert_eq!(sentence_unless("swoole, and what it does", ["swoole"]), "swoole, and what it does.");
        assert_eq!(capital_unless("goodput of all", ["go"]), "Goodput of all");
    }
}
