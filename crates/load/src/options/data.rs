//! Values to fill requests with.

use serde::{Deserialize, Serialize};

/// Rows of values. Every iteration takes a row; `{{ column }}` in its requests is replaced by the value in that column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Data {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The values of all rows, row by row.
    pub values: Vec<Box<str>>,
    /// Which row comes next.
    pub order: DataOrder,
}

impl Data {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.values.len().checked_div(self.columns.len()).unwrap_or_default()
    }

    /// The value of a row in a column.
    pub(crate) fn value(&self, row: usize, column: usize) -> &str {
        &self.values[row * self.columns.len() + column]
    }
}

/// Which row of the data an iteration takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataOrder {
    /// Any, each with the same probability.
    #[default]
    Random,
    /// The next one; after the last, the first. Each of N threads takes every Nth row.
    InOrder,
}

/// A value of a JSON response that fills later requests of the iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// `{{ name }}` is replaced by it.
    pub name: String,
    /// Where it is: a JSON pointer (RFC 6901) to a string, a number or a boolean.
    pub pointer: String,
}

/// Whether it is a valid name for `{{ name }}`.
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter))
}

/// Turns `{{ name }}` into `{{name}}`: paths contain no blanks.
pub fn without_blanks_in_braces(path: &str) -> String {
    let mut pieces = path.split("{{");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |path, piece| match piece.split_once("}}") {
        Some((name, rest)) => format!("{path}{{{{{}}}}}{rest}", name.trim()),
        None => format!("{path}{{{{{piece}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_inside_the_braces_of_a_placeholder_are_removed() {
        assert_eq!(without_blanks_in_braces("http://h/{{ a }}/{{ b"), "http://h/{{a}}/{{ b");
    }
}
