//! The exercises, as the command line names them.

use crate::cell::{CELLS, Cell};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// As much load as each can put on.
    Cell(&'static Cell),
    /// How late requests are at a rate.
    Lateness,
    /// What is reported of a server whose truth is known.
    Honesty,
}

impl Part {
    /// All of them, in the order in which they are done.
    pub fn all() -> Vec<Part> {
        CELLS.iter().map(Part::Cell).chain([Part::Lateness, Part::Honesty]).collect()
    }

    /// As `--only` names it.
    pub fn name(self) -> &'static str {
        match self {
            Part::Cell(cell) => cell.name,
            Part::Lateness => "lateness",
            Part::Honesty => "honesty",
        }
    }

    pub fn named(name: &str) -> Result<Part, String> {
        let names = || Part::all().into_iter().map(Part::name).collect::<Vec<_>>().join(", ");
        Part::all().into_iter().find(|part| part.name() == name).ok_or_else(|| format!("the exercises are {}", names()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_exercises() {
        assert!(Part::all().into_iter().all(|part| Part::named(part.name()) == Ok(part)));
        let error = Part::named("x").unwrap_err();
        assert_eq!(error, "the exercises are hello-64, hello-512, hello-10000, big, close, lateness, honesty");
    }
}
