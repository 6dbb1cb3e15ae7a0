//! Reads a TOML text into a type, and reports every problem at once.
//!
//! Serde stops at the first error, so people would have to fix a file one mistake at a time. We therefore note each
//! error, remove the entry it points at, and read the text again until no error is left.
//!
//! For this to work, types that are read here must not have fields that serde requires. Ask for required fields
//! afterwards, with [`Reading::require`], which reports nothing about an entry that was present but wrong.

use std::collections::HashSet;
use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::de::DeTable;

use crate::reading::entries::{keys_along, numbered, remove, value_at};
use crate::reading::node::Node;
use crate::reading::syntax::{MOST_PROBLEMS, Readable, readable};
use crate::reading::table::Spanned;
use crate::reading::wording::{Explained, explain, suggestion};
use crate::units::Seconds;

/// A range of bytes in the source text.
pub type Span = Range<usize>;

/// The span of the document's root table, as the parser gives it. No other table's span is empty.
pub const ROOT: Span = 0..0;

/// A problem in a text: where, what, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The bytes that the problem points at. Both ends are between characters of the text; the range may be empty.
    pub span: Span,
    /// What is wrong, as a lowercase fragment.
    pub message: String,
    /// What to do about it, if known.
    pub help: Option<String>,
}

impl Problem {
    /// The line and column where the problem starts in `text`. Both count from 1, columns in characters.
    pub fn line_column(&self, text: &str) -> (usize, usize) {
        let before = &text[..text.floor_char_boundary(self.span.start)];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }
}

/// What to do about a problem, if known.
#[derive(Debug)]
pub struct Help(Option<String>);

impl From<&str> for Help {
    fn from(text: &str) -> Self {
        Self(Some(text.to_owned()))
    }
}

impl From<String> for Help {
    fn from(text: String) -> Self {
        Self(Some(text))
    }
}

impl From<Option<String>> for Help {
    fn from(text: Option<String>) -> Self {
        Self(text)
    }
}

/// The state of reading a text: the problems found so far.
#[derive(Debug)]
pub struct Reading {
    problems: Vec<Problem>,
    /// Number of syntax errors, which come first in `problems`.
    of_syntax: usize,
    /// Where to show a problem of the whole document: its first line that is neither empty nor a comment.
    head: Span,
    /// Keys that held something wrong or were misspelt, each with the span of its table.
    damaged: HashSet<(Span, String)>,
    /// Statements that were removed because of syntax errors. What they set is unknown.
    lost: Vec<String>,
}

impl Reading {
    /// Reads `text` into `T`, noting every syntax error, unknown key and wrong type.
    pub fn read<T: DeserializeOwned + Default>(text: &str) -> (T, Self) {
        let Readable { text: rest, problems, lost } = readable(text);
        let lost = lost.into_iter().map(|span| text[span].to_owned()).collect();
        let mut reading = Self { of_syntax: problems.len(), problems, head: head(text), damaged: HashSet::new(), lost };
        let mut table = DeTable::parse_recoverable(&rest).0.into_inner();
        while reading.problems.len() < MOST_PROBLEMS {
            let (copy, entries) = numbered(&table);
            let Err(error) = T::deserialize(Node::root(copy)) else {
                // The table is free of errors, so we can read it with its real spans.
                let value = T::deserialize(Node::root(toml::Spanned::new(ROOT, table)));
                return (value.unwrap_or_default(), reading);
            };
            let entry = &entries[error.span.as_ref().map_or(0, |number| number.start)];
            let Explained { message, help, meant } = explain(&error.message, entry, value_at(&table, &entry.path));
            reading.note(entry.span.clone(), message, help);
            let keys = keys_along(&table, &entry.path);
            let meant = keys.last().zip(meant).map(|((span, _), meant)| (span.clone(), meant));
            reading.damaged.extend(keys.into_iter().chain(meant));
            if !remove(&mut table, &entry.path) {
                break;
            }
        }
        // We stopped reading, so no key can be reported as missing.
        reading.lost.push(text.to_owned());
        (T::default(), reading)
    }

    /// Notes a problem at `span`. Use [`ROOT`] for the whole document.
    pub fn note(&mut self, span: Span, message: impl Into<String>, help: impl Into<Help>) {
        let span = if span == ROOT { self.head.clone() } else { span };
        self.problems.push(Problem { span, message: message.into(), help: help.into().0 });
    }

    /// Notes a problem if `is_there`.
    pub fn note_if(&mut self, is_there: bool, span: Span, message: impl Into<String>, help: impl Into<Help>) {
        if is_there {
            self.note(span, message, help);
        }
    }

    /// Notes that a name is not among the `known` ones: `there is no part `wan``.
    pub fn note_unknown(&mut self, name: &Spanned<String>, says: &str, known: &[impl AsRef<str>]) {
        let message = format!("{says} `{}`", name.get_ref());
        self.note(name.span(), message, suggestion(name.get_ref(), known));
    }

    /// Returns the seconds, and notes a problem unless they are positive.
    pub fn positive(&mut self, time: &Spanned<Seconds>, key: &str) -> f64 {
        let seconds = time.get_ref().0;
        self.note_if(seconds <= 0.0, time.span(), format!("`{key}` must be longer than nothing"), None);
        seconds
    }

    /// Returns the number, and notes a problem if it is 0.
    pub fn at_least_one<N: Copy + Into<u64>>(&mut self, number: &Spanned<N>, key: &str) -> N {
        let is_zero = (*number.get_ref()).into() == 0;
        self.note_if(is_zero, number.span(), format!("`{key}` must be at least 1"), None);
        *number.get_ref()
    }

    /// Returns the value of `key` in the table at `table`. Notes that it is missing, unless it was present but wrong.
    pub fn require<T>(&mut self, field: Option<T>, table: &Span, key: &str, example: &str) -> Option<T> {
        if field.is_none() && !self.is_damaged(table, key) {
            self.note(table.clone(), format!("missing key `{key}`"), Some(format!("for example: {example}")));
        }
        field
    }

    /// Records that `key` of the table at `table` is present under a misspelt name, and so is not missing.
    pub fn misspelt(&mut self, table: &Span, key: &str) {
        self.damaged.insert((table.clone(), key.to_owned()));
    }

    /// Whether `key` of the table at `table` held something wrong. If so, whatever it lacks may have been removed.
    pub fn is_damaged(&self, table: &Span, key: &str) -> bool {
        let was_wrong = self.damaged.contains(&(table.clone(), key.to_owned()));
        was_wrong || self.lost.iter().any(|statement| statement.contains(key))
    }

    /// Whether any key called `name` was wrong, in any table. If so, another entry may refer to what was removed.
    pub fn was_wrong(&self, name: &str) -> bool {
        let was_wrong = self.damaged.iter().any(|(_, key)| key == name);
        was_wrong || self.lost.iter().any(|statement| statement.contains(name))
    }

    /// All problems: first syntax errors, because others may follow from them. Each kind is in text order.
    pub fn into_problems(mut self) -> Vec<Problem> {
        let place = |problem: &Problem| (problem.span.start, problem.span.end);
        let (of_syntax, others) = self.problems.split_at_mut(self.of_syntax);
        of_syntax.sort_by_key(place);
        others.sort_by_key(place);
        self.problems.dedup();
        self.problems
    }

    /// Whether any problem was noted so far.
    pub fn has_problems(&self) -> bool {
        !self.problems.is_empty()
    }
}

/// The first line of `text` that is neither empty nor a comment, without surrounding blanks.
fn head(text: &str) -> Span {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let said = line.trim();
        if !said.is_empty() && !said.starts_with('#') {
            let begin = start + (line.len() - line.trim_start().len());
            return begin..begin + said.len();
        }
        start += line.len();
    }
    0..text.lines().next().unwrap_or("").len()
}

#[cfg(test)]
mod tests;
