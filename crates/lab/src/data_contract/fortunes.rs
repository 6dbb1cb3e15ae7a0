//! The page of the workload `fortunes`: the rows of the table, the text that the load adds, and the correct HTML.

use tolok_model::SplitMix64;

use super::answers::PathAnswer;

/// The rows of the table; their keys count from 1. No text has a character that engines escape differently, such as a quote,
/// because the load compares each body byte for byte.
pub(super) const MESSAGES: [&str; 12] = [
    "Measure twice, cut once.",
    "<script>alert(1);<script>",
    "A faster wrong answer is still wrong.",
    "Fish & chips < caviar > bread",
    "測らなければ、分からない。",
    "The third run is never like the first two.",
    "An average hides the slowest.",
    "<b>Bold claims need bold intervals.",
    "Größer ist nicht schneller; 速さは正しさではない。",
    "&lt; was escaped once already.",
    "Nothing is as permanent as a temporary cache.",
    "What gets timed gets tuned.",
];

const HEAD: &str =
    "<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table><tr><th>id</th><th>message</th></tr>";
const END: &str = "</table></body></html>";

/// Number of random letters in an added text.
const LETTERS: usize = 12;

/// The page of these messages, with a text added as row 0.
fn page(messages: &[&str], add: &str) -> Vec<u8> {
    let mut rows: Vec<(usize, &str)> = (1..).zip(messages.iter().copied()).chain([(0, add)]).collect();
    rows.sort_unstable_by_key(|(id, message)| (*message, *id));
    let row = |(id, message)| format!("<tr><td>{id}</td><td>{}</td></tr>", escaped(message));
    let rows: String = rows.into_iter().map(row).collect();
    format!("{HEAD}{rows}{END}").into_bytes()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The text that the load adds: letters that follow from a seed, and markup.
pub(super) fn loaded(path: &str, seed: u32) -> PathAnswer {
    let letters = letters(&mut SplitMix64::new(seed.into()));
    added(path, &MESSAGES, &format!("{letters} <b>& {letters}"))
}

/// Random texts with every character that a server might fail to escape.
pub(crate) fn drawn_fortunes(path: &str, random: &mut SplitMix64) -> Vec<PathAnswer> {
    let mut texts =
        ["<script>alert(1)</script>", "\"'><img src=x onerror='alert(1)'>", "&lt;b&gt; &amp;quot; &#39;", "日本語 ü"]
            .map(|hostile| format!("{hostile} {}", letters(random)));
    random.shuffle(&mut texts);
    let plain = [(); 3].map(|()| letters(random));
    plain.iter().chain(&texts).map(|text| added(path, &MESSAGES, text)).collect()
}

fn letters(random: &mut SplitMix64) -> String {
    (0..LETTERS).map(|_| char::from(b'A' + random.below(26) as u8)).collect()
}

fn added(path: &str, messages: &[&str], text: &str) -> PathAnswer {
    let encode = |byte: u8| match byte {
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    let text_in_path: String = text.bytes().map(encode).collect();
    PathAnswer::plain(format!("{path}?add={text_in_path}"), page(messages, text))
}

/// A random message, the statements that put it in the table and restore the old one, and the correct page between them.
pub(crate) fn changed_fortune(path: &str, random: &mut SplitMix64) -> ([String; 2], PathAnswer) {
    let (key, message) = (random.below(MESSAGES.len() as u64) as usize, letters(random));
    let statement = |text: &str| format!("UPDATE fortune SET message = '{text}' WHERE id = {}", key + 1);
    let mut messages = MESSAGES;
    messages[key] = &message;
    ([statement(&message), statement(MESSAGES[key])], added(path, &messages, &letters(random)))
}

/// The page with quotes and other characters that need no escaping in text unescaped, however they were written. Markup
/// characters stay escaped.
pub(crate) fn with_plain_quotes(page: &[u8]) -> String {
    let page = String::from_utf8_lossy(page);
    let mut pieces = page.split('&');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.split_once(';').and_then(|(name, rest)| Some((character(name)?, rest))) {
            Some((character, rest)) => {
                plain.push(character);
                plain.push_str(rest);
            }
            None => {
                plain.push('&');
                plain.push_str(piece);
            }
        }
    }
    plain
}

/// The character of a reference, except for markup characters.
fn character(name: &str) -> Option<char> {
    let code = match name {
        "quot" => return Some('"'),
        "apos" => return Some('\''),
        name => name.strip_prefix('#')?,
    };
    let code = match code.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => code.parse(),
    };
    char::from_u32(code.ok()?).filter(|character| !"<>&".contains(*character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_all_rows_in_order_and_escapes_markup() {
        let page = String::from_utf8(page(&MESSAGES, "B <i>&")).unwrap();
        assert!(page.starts_with(&format!("{HEAD}<tr><td>10</td><td>&amp;lt; was")), "{page}");
        assert!(
            page.contains("slowest.</td></tr><tr><td>0</td><td>B &lt;i&gt;&amp;</td></tr><tr><td>4</td>"),
            "{page}"
        );
        assert!(page.ends_with(&format!("<tr><td>5</td><td>{}</td></tr>{END}", MESSAGES[4])), "{page}");
        assert_eq!(page.matches("<tr><td>").count(), 13);
    }

    #[test]
    fn what_the_load_adds_is_spelt_alike_by_all_engines() {
        let loaded = loaded("/fortunes", 7);
        assert!(
            loaded.path.starts_with("/fortunes?add=") && loaded.path.contains("%20%3Cb%3E%26%20"),
            "{}",
            loaded.path
        );
        let page = String::from_utf8(loaded.body).unwrap();
        assert!(!page.contains(['"', '\'', '+', '=', '`']), "{page}");
    }

    #[test]
    fn quotes_may_be_escaped_in_any_way_and_markup_in_one() {
        let plain = |page: &str| with_plain_quotes(page.as_bytes());
        assert_eq!(plain("&quot;&#34;&#x22; &#39;&#039;&#x27;&apos; &#x2F;"), "\"\"\" '''' /");
        assert_eq!(plain("&lt;&#60;&#x3C; &amp;quot; & &no &;"), "&lt;&#60;&#x3C; &amp;quot; & &no &;");
    }
}
