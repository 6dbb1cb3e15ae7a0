//! Line numbers, without rescanning the text for each row of a large table.

/// Where the lines of a text end.
#[derive(Debug)]
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// The line, from 1, that contains a byte.
    pub(super) fn number(&self, at: usize) -> usize {
        self.0.partition_point(|end| *end < at) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_end_belongs_to_its_line() {
        let lines = Lines::of("a\n\nbc");
        assert_eq!([0, 1, 2, 3, 4, 99].map(|at| lines.number(at)), [1, 1, 2, 3, 3, 3]);
    }
}
