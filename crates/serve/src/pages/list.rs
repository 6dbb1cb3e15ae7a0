//! The list of runs, from which some are chosen.

use std::path::PathBuf;

use serde::Serialize;
use tolok_analysis::figures::{counted, moment};
use tolok_store::StoreError;

use super::{address, page};
use crate::library::{Found, Library, State};
use crate::live::Live;

#[derive(Serialize)]
struct List {
    folder: String,
    filter: String,
    rows: Vec<Row>,
    /// The number of runs, whether the filter shows them or not.
    all: usize,
    shown: String,
}

#[derive(Serialize)]
struct Row {
    id: String,
    address: String,
    title: String,
    began: String,
    /// When it began, as the sort key.
    #[serde(skip)]
    order: String,
    subjects: String,
    trials: String,
    state: StateWords,
    verdict: String,
}

/// A state as a word and a sign, so that it does not depend on colour.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct StateWords {
    /// The class of its chip: `ok`, `warn` or `live`.
    pub class: &'static str,
    /// `✓`, `!` or `▶`.
    pub sign: &'static str,
    /// `finished`
    pub word: &'static str,
    /// More on it; may be empty.
    pub more: String,
}

impl StateWords {
    pub fn of(state: &State) -> Self {
        let (class, sign, word, more) = match state {
            State::Running => ("live", "▶", "running", String::new()),
            State::Finished => ("ok", "✓", "finished", String::new()),
            State::Unsound(why) => ("warn", "!", "not sound", why.join("; ")),
            State::Stopped(missing) => {
                ("warn", "!", "stopped", format!("{} missing", counted(u64::from(*missing), "trial")))
            }
        };
        Self { class, sign, word, more }
    }

    fn unreadable() -> Self {
        Self { class: "warn", sign: "!", word: "unreadable", more: String::new() }
    }
}

/// A run in a line.
#[derive(Debug)]
pub struct Brief {
    /// Its name.
    pub id: String,
    /// Title of its study, how much of it was measured, and its state; or why it cannot be read.
    pub read: Result<(String, String, StateWords), StoreError>,
}

/// All runs of a folder, each in a line, by their names.
pub fn briefs(folder: PathBuf) -> Vec<Brief> {
    let library = Library::new(folder);
    let mut all = library.all();
    all.sort_by(|one, other| one.id.cmp(&other.id));
    let brief = |found: &Found| {
        let card = library.card(found)?;
        let state = library.state(found, &card, Live::read_end(&found.path).as_ref())?;
        let trials = format!("{}/{} trials", card.done, card.planned);
        Ok((card.title.clone(), trials, StateWords::of(&state)))
    };
    all.iter().map(|found| Brief { id: found.id.clone(), read: brief(found) }).collect()
}

/// The runs that match all words of a filter, the latest first.
pub fn list(library: &Library, filter: &str) -> String {
    let mut rows: Vec<Row> = library.all().iter().map(|found| row(library, found)).collect();
    rows.sort_by(|one, other| (&other.order, &other.id).cmp(&(&one.order, &one.id)));
    let all = rows.len();
    rows.retain(|row| row.has(filter));
    let shown = if rows.len() == all {
        counted(all as u64, "run")
    } else {
        format!("{} of {}", rows.len(), counted(all as u64, "run"))
    };
    let folder = library.folder().display().to_string();
    page("list.html", &List { folder, filter: filter.to_owned(), rows, all, shown })
}

impl Row {
    fn has(&self, filter: &str) -> bool {
        let parts = [&self.id, &self.title, &self.subjects, self.state.word, &self.verdict];
        let text = parts.join(" ").to_lowercase();
        filter.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }
}

fn row(library: &Library, found: &Found) -> Row {
    let read = library.card(found).and_then(|card| {
        let live = Live::read_end(&found.path);
        let state = library.state(found, &card, live.as_ref())?;
        let verdict = match state {
            State::Running => None,
            _ => library.verdict(found, &card)?,
        };
        Ok((card, state, verdict))
    });
    let (id, address) = (found.id.clone(), address(&found.id));
    match read {
        Ok((card, state, verdict)) => Row {
            id,
            address,
            title: card.title.clone(),
            began: moment(&card.started_at),
            order: card.started_at.clone(),
            subjects: card.subjects.join(", "),
            trials: format!("{} of {}", card.done, card.planned),
            state: StateWords::of(&state),
            verdict: verdict.unwrap_or_default(),
        },
        Err(error) => Row {
            title: id.clone(),
            id,
            address,
            began: String::new(),
            order: String::new(),
            subjects: String::new(),
            trials: String::new(),
            state: StateWords::unreadable(),
            verdict: error.to_string(),
        },
    }
}
