//! Numbered notes from the flags of a scenario's cases, without repetition.

use tolok_analysis::figures::{count, listed};
use tolok_analysis::{CaseFinding, Flag, FlagKind, ProgramFigures, ServerFigures, THROTTLING_TOLERATED};

use crate::document::{Block, Text};

/// From this many cases on, a note names the one case that it does not concern instead of all others.
const FEWEST_BUT_ONE: usize = 5;

/// The notes beneath a scenario's table.
pub(crate) struct Notes {
    notes: Vec<Note>,
    /// Titles of all cases in the table.
    all: Vec<String>,
}

pub(crate) struct Note {
    /// The word of its flag.
    pub(crate) kind: FlagKind,
    /// The observation, as a lowercase fragment.
    pub(crate) message: String,
    /// Titles of the cases concerned.
    about: Vec<String>,
    /// The same, each with its figure if the figures differ.
    pub(crate) titles: Vec<String>,
    /// Whether those cases are unranked because of it.
    pub(crate) voids_rank: bool,
}

/// Figures whose cases have notes.
pub(crate) trait Noted: Sized {
    /// The text of a note on a case, and the case's name in it.
    fn said(flag: &Flag, case: &CaseFinding<Self>) -> (String, String);
}

impl Notes {
    pub(crate) fn of<'a, F: Noted + 'a>(cases: impl Iterator<Item = &'a CaseFinding<F>> + Clone) -> Self {
        let mut notes: Vec<Note> = Vec::new();
        for (case, flag) in cases.clone().flat_map(|case| case.flags.iter().map(move |flag| (case, flag))) {
            let (message, title) = F::said(flag, case);
            match notes.iter_mut().find(|note| note.kind == flag.kind && note.message == message) {
                Some(note) => {
                    note.about.push(case.title.clone());
                    note.titles.push(title);
                }
                None => {
                    let (kind, voids_rank) = (flag.kind, flag.voids_rank);
                    let (about, titles) = (vec![case.title.clone()], vec![title]);
                    notes.push(Note { kind, message, about, titles, voids_rank });
                }
            }
        }
        Self { notes, all: cases.map(|case| case.title.clone()).collect() }
    }

    /// Numbers of the notes about a case, from 1.
    pub(crate) fn numbers<F: Noted>(&self, case: &CaseFinding<F>) -> Vec<usize> {
        let is_about = |note: &Note, flag: &Flag| flag.kind == note.kind && F::said(flag, case).0 == note.message;
        let about = |note: &Note| case.flags.iter().any(|flag| is_about(note, flag));
        (1..).zip(&self.notes).filter(|(_, note)| about(note)).map(|(number, _)| number).collect()
    }

    /// All notes, or `None` if there are none.
    pub(crate) fn block(&self) -> Option<Block> {
        let notes: Vec<(usize, Text)> = self.numbered().map(|(number, note)| (number, note.into())).collect();
        (!notes.is_empty()).then_some(Block::Notes(notes))
    }

    /// Every note with its number, as a sentence.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (usize, String)> {
        (1..).zip(self.notes.iter().map(|note| note.sentence(&self.all)))
    }
}

impl Note {
    /// The note as a sentence with the cases concerned. Names the only case of many that is not concerned.
    fn sentence(&self, all: &[String]) -> String {
        let others: Vec<&String> = all.iter().filter(|title| !self.about.contains(title)).collect();
        let has_figures = self.titles != self.about;
        let titles = match others.as_slice() {
            [] if all.len() > 1 && !has_figures => "all".to_owned(),
            [other] if all.len() >= FEWEST_BUT_ONE && !has_figures => format!("all but {other}"),
            _ => {
                let each = if self.titles.len() > 1 { ", each" } else { "" };
                format!("{}{each}", listed(&self.titles, "and"))
            }
        };
        let end = if self.voids_rank { "; not ranked" } else { "" };
        format!("{titles}: {}{end}.", self.message)
    }
}

impl Noted for ServerFigures {
    /// A quota throttles most subjects that are worth measuring, each in another number of periods. One note for all is as
    /// informative as one for each.
    fn said(flag: &Flag, case: &CaseFinding) -> (String, String) {
        match case.resources.throttling.filter(|_| flag.kind == FlagKind::Throttled) {
            Some(throttling) => (
                format!("stopped by its quota in more than {}% of its periods", THROTTLING_TOLERATED * 100.0),
                format!("{} ({} of {})", case.title, count(throttling.throttled_periods), count(throttling.periods)),
            ),
            None => (flag.message.clone(), case.title.clone()),
        }
    }
}

impl Noted for ProgramFigures {
    /// With a small piece of work, nearly all subjects are at their floor, each at its own, which is in the table.
    fn said(flag: &Flag, case: &CaseFinding<Self>) -> (String, String) {
        let is_known = case.floor_s.is_some() && case.wall_s.is_some();
        let message = match flag.kind == FlagKind::AtFloor && is_known {
            true => "the time above the start is too short or too uncertain to separate the work from the start",
            false => &flag.message,
        };
        (message.to_owned(), case.title.clone())
    }
}
