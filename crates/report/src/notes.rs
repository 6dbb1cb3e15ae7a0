//! Numbered notes: what the flags of a scenario's cases say, each thing once.

use tolok_analysis::figures::{Quantity, amount, count};
use tolok_analysis::{
    CaseFinding, Estimate, Flag, ProgramCaseFinding, ProgramFinding, ScenarioFinding, THROTTLING_TOLERATED,
};

/// The notes beneath a scenario's table.
pub(crate) struct Notes {
    notes: Vec<Note>,
}

/// One note.
pub(crate) struct Note {
    /// The word of its flag.
    pub(crate) kind: String,
    /// What was seen, as a lowercase fragment.
    pub(crate) message: String,
    /// Titles of the cases it is about.
    pub(crate) titles: Vec<String>,
    /// Whether those cases are not ranked because of it.
    pub(crate) voids_rank: bool,
}

impl Notes {
    pub(crate) fn of(scenario: &ScenarioFinding) -> Self {
        let cases = scenario.cases.iter().chain(&scenario.ceiling);
        Self::gathered(cases.flat_map(|case| case.flags.iter().map(move |flag| (flag, said(flag, case)))))
    }

    /// Those of programs.
    pub(crate) fn of_programs(program: &ProgramFinding) -> Self {
        let cases = program.cases.iter();
        Self::gathered(cases.flat_map(|case| case.flags.iter().map(move |flag| (flag, said_of_program(flag, case)))))
    }

    /// Each flag with its message and the title of its case; those that say the same become one note.
    fn gathered<'a>(flags: impl Iterator<Item = (&'a Flag, (String, String))>) -> Self {
        let mut notes: Vec<Note> = Vec::new();
        for (flag, (message, title)) in flags {
            match notes.iter_mut().find(|note| note.kind == flag.kind && note.message == message) {
                Some(note) => note.titles.push(title),
                None => {
                    let (kind, voids_rank) = (flag.kind.clone(), flag.voids_rank);
                    notes.push(Note { kind, message, titles: vec![title], voids_rank });
                }
            }
        }
        Self { notes }
    }

    /// Numbers of the notes about a program, from 1.
    pub(crate) fn numbers_of_program(&self, case: &ProgramCaseFinding) -> Vec<usize> {
        let about = |note: &Note| {
            case.flags.iter().any(|it| it.kind == note.kind && said_of_program(it, case).0 == note.message)
        };
        (1..).zip(&self.notes).filter(|(_, note)| about(note)).map(|(number, _)| number).collect()
    }

    /// Numbers of the notes about a case, from 1.
    pub(crate) fn numbers(&self, case: &CaseFinding) -> Vec<usize> {
        let about =
            |note: &Note| case.flags.iter().any(|flag| flag.kind == note.kind && said(flag, case).0 == note.message);
        (1..).zip(&self.notes).filter(|(_, note)| about(note)).map(|(number, _)| number).collect()
    }

    /// Every note with its number.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (usize, &Note)> {
        (1..).zip(&self.notes)
    }
}

impl Note {
    /// In one sentence, with the cases it is about.
    pub(crate) fn sentence(&self) -> String {
        let each = if self.titles.len() > 1 { ", each" } else { "" };
        let titles = format!("{}{each}", tolok_analysis::figures::listed(&self.titles, "and"));
        let end = if self.voids_rank { "; not ranked" } else { "" };
        format!("{titles}: {}{end}.", self.message)
    }
}

/// What a note says of a case, and how it names it. A quota stops most subjects that are worth a look, each in another
/// number of periods: one note for all of them says as much as one for each.
fn said(flag: &Flag, case: &CaseFinding) -> (String, String) {
    match case.resources.throttling.filter(|_| flag.kind == "throttled") {
        Some(throttling) => (
            format!("stopped by its quota in more than {}% of its periods", THROTTLING_TOLERATED * 100.0),
            format!("{} ({} of {})", case.title, count(throttling.throttled_periods), count(throttling.periods)),
        ),
        None => (flag.message.clone(), case.title.clone()),
    }
}

/// The same of a program. Of a small piece of work nearly all subjects are at their start, each at one of its own.
fn said_of_program(flag: &Flag, case: &ProgramCaseFinding) -> (String, String) {
    let seconds = |estimate: &Estimate| amount(Quantity::Seconds, estimate.value);
    match (&case.floor_s, &case.wall_s) {
        (Some(floor), Some(wall)) if flag.kind == "at-floor" => (
            "the time above the start is too little or too uncertain, so the work itself cannot be told from the start"
                .to_owned(),
            format!("{} (start {} of {})", case.title, seconds(floor), seconds(wall)),
        ),
        _ => (flag.message.clone(), case.title.clone()),
    }
}
