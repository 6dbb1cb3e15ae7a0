//! Syntax errors: notes each one, then reads on as if the statement around it were absent.
//!
//! The parser recovers from errors, but not as a person would. After an unclosed bracket, it takes every later line for
//! a part of the list; after a key without a value, it stops. This module instead cuts the text into statements, by
//! brackets, strings and the beginnings of lines. It blanks out a faulty statement, which keeps every other byte in
//! place, and parses the rest again until no error is left. Each mistake then costs only its own statement and yields
//! one problem.

use toml::de::{DeTable, Error};

use crate::reading::text::{Problem, Span};

/// A text without syntax errors, and what was removed from it.
#[derive(Debug)]
pub struct Readable {
    /// The text, with blanks in place of what was removed.
    pub text: String,
    /// One problem for each removed statement.
    pub problems: Vec<Problem>,
    /// The removed statements.
    pub lost: Vec<Span>,
}

/// Reading stops after this many problems: each costs another parse, and a person would not read a longer list.
pub const MOST_PROBLEMS: usize = 100;

/// Maximum depth of a dotted key. The parser limits brackets to this depth, but not dots. Deeper keys would overflow
/// the stack, in its tables and in our walk through them.
const MOST_DOTS: usize = 80;

/// Notes every syntax error of `text` and blanks out the statements with an error.
pub fn readable(text: &str) -> Readable {
    let statements = statements(text);
    let mut readable = Readable { text: text.to_owned(), problems: Vec::new(), lost: Vec::new() };
    let unclosed = statements
        .iter()
        .enumerate()
        .filter_map(|(index, statement)| statement.unclosed.clone().map(|opening| (index, opening)));
    for (index, opening) in unclosed.take(MOST_PROBLEMS) {
        readable.problems.push(never_closed(text, opening));
        readable.blank(section(text, &statements, index));
    }
    let too_deep = statements.iter().enumerate().filter(|(_, statement)| is_too_deep(&text[statement.span.clone()]));
    for (index, statement) in too_deep.take(MOST_PROBLEMS) {
        let message = format!("a key has more than {MOST_DOTS} dots");
        let line = line_at(text, statement.span.start);
        readable.problems.push(Problem { span: statement.span.start..line.end, message, help: None });
        readable.blank(section(text, &statements, index));
    }
    while readable.problems.len() < MOST_PROBLEMS {
        let (_, errors) = DeTable::parse_recoverable(&readable.text);
        let Some(error) = errors.into_iter().min_by_key(|error| error.span().map_or(0, |span| span.start)) else {
            return readable;
        };
        let at = error.span().map_or(0, |span| span.start);
        let found = statements.iter().rposition(|statement| statement.span.start <= at);
        let section = found.map(|index| section(text, &statements, index)).filter(|span| !readable.is_blank(span));
        // An error outside of all statements is in a comment.
        let faulty = section.unwrap_or_else(|| line_at(text, at));
        readable.problems.push(explained(text, &error));
        if readable.is_blank(&faulty) {
            break;
        }
        readable.blank(faulty);
    }
    readable.blank(0..text.len());
    readable
}

impl Readable {
    fn blank(&mut self, span: Span) {
        let blanked: String =
            self.text[span.clone()].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
        self.text.replace_range(span.clone(), &blanked);
        self.lost.push(span);
    }

    fn is_blank(&self, span: &Span) -> bool {
        self.text[span.clone()].bytes().all(|byte| byte == b' ' || byte == b'\n')
    }
}

/// A header such as `[environment]` or an entry such as `blocks = 5`, up to the end of its last line.
#[derive(Debug)]
struct Statement {
    span: Span,
    /// The bracket or quotes that it opens but never closes.
    unclosed: Option<Span>,
}

fn statements(text: &str) -> Vec<Statement> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let line_end = at + rest.find('\n').map_or(rest.len(), |newline| newline + 1);
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\u{feff}']).len();
        if at + blanks >= line_end || rest[blanks..].starts_with(['#', '\n']) {
            at = line_end;
            continue;
        }
        let statement = Scan::of_statement(text, at + blanks);
        at = statement.span.end.max(line_end);
        found.push(statement);
    }
    found
}

/// The range that a faulty statement removes. A broken header also removes the entries and tables below it, which would
/// otherwise be read as the previous header's.
fn section(text: &str, statements: &[Statement], index: usize) -> Span {
    let first = &statements[index].span;
    let Some(name) = header_name(&text[first.clone()]) else { return first.clone() };
    let below = format!("{name}.");
    let next = statements[index + 1..]
        .iter()
        .find(|statement| header_name(&text[statement.span.clone()]).is_some_and(|other| !other.starts_with(&below)));
    first.start..next.map_or(text.len(), |next| next.span.start)
}

/// `environment.subject` of `[environment.subject]`, as far as it is readable, or `None` for an entry.
fn header_name(statement: &str) -> Option<&str> {
    let name = statement.strip_prefix('[')?.trim_start_matches(['[', ' ', '\t']);
    name.split([']', '#', '\n']).next().map(str::trim_end)
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    /// The open brackets, each with its place.
    open: Vec<(u8, usize)>,
    /// Columns before the statement. A line that is further right belongs to what is open.
    indent: usize,
}

impl<'a> Scan<'a> {
    fn of_statement(text: &'a str, start: usize) -> Statement {
        let indent = start - line_at(text, start).start;
        let mut scan = Self { text, at: start, open: Vec::new(), indent };
        if text[start..].starts_with('[') {
            return Statement { span: start..line_at(text, start).end, unclosed: None };
        }
        let mut string_is_broken = false;
        while let Some(byte) = text.as_bytes().get(scan.at).copied() {
            match byte {
                b'#' => scan.at = line_at(text, scan.at).end,
                b'"' | b'\'' => {
                    let quotes = scan.at;
                    match scan.skip_string(byte) {
                        StringEnd::Closed => {}
                        StringEnd::AtLineEnd => string_is_broken = true,
                        StringEnd::AtTextEnd => {
                            return Statement { span: start..text.len(), unclosed: Some(quotes..quotes + 3) };
                        }
                    }
                }
                b'[' | b'{' => {
                    scan.open.push((byte, scan.at));
                    scan.at += 1;
                }
                b']' | b'}' => {
                    // A bracket of the wrong kind is left to the parser, which reports its place.
                    scan.open.pop();
                    scan.at += 1;
                }
                b'\n' if scan.ends_here() => break,
                _ => scan.at += 1,
            }
        }
        let unclosed = scan.open.last().filter(|_| !string_is_broken).map(|(_, at)| *at..*at + 1);
        Statement { span: start..scan.at, unclosed }
    }

    /// Whether the statement ends at this newline: nothing is open, or the next line is clearly another statement.
    fn ends_here(&self) -> bool {
        let Some((bracket, _)) = self.open.last() else { return true };
        let line = &self.text[line_at(self.text, self.at + 1)];
        let indent = line.len() - line.trim_start().len();
        match bracket {
            // A list never holds `key = value`. An inline table does, indented further than its own key.
            b'[' => is_header(line) || is_entry(line),
            _ => is_header(line) || (is_entry(line) && indent <= self.indent),
        }
    }

    fn skip_string(&mut self, quote: u8) -> StringEnd {
        let bytes = self.text.as_bytes();
        let triple = [quote; 3];
        let is_long = bytes[self.at..].starts_with(&triple);
        self.at += if is_long { 3 } else { 1 };
        while let Some(byte) = bytes.get(self.at).copied() {
            match byte {
                b'\\' if quote == b'"' && bytes.get(self.at + 1).is_some_and(|next| *next != b'\n') => self.at += 2,
                b'\n' if !is_long => return StringEnd::AtLineEnd,
                _ if is_long && bytes[self.at..].starts_with(&triple) => {
                    self.at += 3;
                    // Up to two quotes may precede the closing three.
                    while bytes.get(self.at) == Some(&quote) {
                        self.at += 1;
                    }
                    return StringEnd::Closed;
                }
                _ if !is_long && byte == quote => {
                    self.at += 1;
                    return StringEnd::Closed;
                }
                _ => self.at += 1,
            }
        }
        self.at = bytes.len();
        if is_long { StringEnd::AtTextEnd } else { StringEnd::AtLineEnd }
    }
}

enum StringEnd {
    Closed,
    AtLineEnd,
    AtTextEnd,
}

/// Whether the line is `[name]` or `[[name]]`. Inside a list, that would be a list of a bare word, which TOML does not
/// allow.
fn is_header(line: &str) -> bool {
    let line = line.trim_start();
    let inner = line.trim_start_matches('[');
    let brackets = line.len() - inner.len();
    let name = inner.trim_start_matches(is_key_letter);
    let closing = "]".repeat(brackets);
    let rest = name.strip_prefix(closing.as_str()).map(str::trim);
    let starts_like_a_name = inner.starts_with(|letter: char| letter.is_ascii_alphabetic());
    let is_value = inner.starts_with("true]") || inner.starts_with("false]");
    (1..=2).contains(&brackets)
        && starts_like_a_name
        && !is_value
        && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
}

/// Whether the line begins with `key =`.
fn is_entry(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches(is_key_letter);
    rest.len() < line.len() && rest.trim_start().starts_with('=')
}

fn is_key_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.')
}

fn is_too_deep(statement: &str) -> bool {
    let has_many_dots = |text: &str| {
        let mut keys_and_values = text.split(['=', ',', '[', ']', '{', '}', '\n', '#']);
        keys_and_values.any(|part| part.matches('.').count() > MOST_DOTS)
    };
    has_many_dots(statement) && without_strings(statement).is_none_or(|text| has_many_dots(&text))
}

/// The text without quoted strings, or `None` if the parser might see other strings in it.
fn without_strings(text: &str) -> Option<String> {
    let (mut kept, mut at) = (String::new(), 0);
    while let Some(letter) = text[at..].chars().next() {
        kept.push(letter);
        at += if matches!(letter, '"' | '\'') { string_bytes(&text[at..], letter)? } else { letter.len_utf8() };
    }
    Some(kept)
}

/// The length of the string at the beginning of `text`, or `None` if it does not end, or ends in more quotes than a
/// string can.
fn string_bytes(text: &str, quote: char) -> Option<usize> {
    let quotes_at = |at: usize| text[at..].len() - text[at..].trim_start_matches(quote).len();
    let is_long = quotes_at(0) >= 3;
    let mut at = if is_long { 3 } else { 1 };
    loop {
        let letter = text[at..].chars().next()?;
        at += match letter {
            '\n' if !is_long => return None,
            '\\' if quote == '"' => 1 + text[at + 1..].chars().next()?.len_utf8(),
            _ if letter != quote => letter.len_utf8(),
            _ if !is_long => return Some(at + 1),
            _ => match quotes_at(at) {
                few @ 1..=2 => few,
                // Up to two quotes may precede the closing three.
                closing @ 3..=5 => return Some(at + closing),
                _ => return None,
            },
        };
    }
}

/// The line around the byte `at`, without its newline.
fn line_at(text: &str, at: usize) -> Span {
    let at = text.floor_char_boundary(at);
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    start..end
}

fn never_closed(text: &str, opening: Span) -> Problem {
    let bracket = &text[opening.clone()];
    let closing = match bracket {
        "[" => "]",
        "{" => "}",
        quotes => quotes,
    };
    let message = format!("this `{bracket}` is never closed");
    Problem { span: opening, message, help: Some(format!("a `{closing}` is missing")) }
}

/// Rewords the parser's error for people.
fn explained(text: &str, error: &Error) -> Problem {
    let span = error.span().unwrap_or(0..0);
    let span = text.floor_char_boundary(span.start)..text.ceil_char_boundary(span.end);
    let found = text[span.clone()].trim();
    let message = error.message();
    let (message, help) = match message.split_once(", expected ").unwrap_or((message, "")) {
        ("string values must be quoted", _) if found.is_empty() => ("a value is missing".to_owned(), None),
        ("string values must be quoted", _) => {
            ("this is no number, and a string needs quotes".to_owned(), Some(format!("write `\"{found}\"`")))
        }
        ("duplicate key", _) => (format!("`{found}` appears twice"), None),
        _ => (message.to_owned(), None),
    };
    Problem { span, message, help }
}
