//! The list of runs, from which the user can choose some.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Serialize;
use tolok_analysis::figures::{counted, moment};
use tolok_store::StoreError;

use super::{address, encoded, page};
use crate::library::{Found, Library, State};
use crate::live::Live;

/// Most runs on a page. A page reads at least this many, however long that takes.
const ROWS_MAX: usize = 50;

/// How much longer a page searches for matching runs. A run without a report has to be analysed.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// The query of the list.
#[derive(Debug, Default)]
pub struct Asked {
    /// Words that a run must contain.
    pub filter: String,
    /// The last run of the previous page.
    pub before: Option<String>,
}

#[derive(Serialize)]
struct List {
    folder: String,
    filter: String,
    rows: Vec<Row>,
    /// The total number of runs, shown or not.
    all: usize,
    shown: String,
    /// The URL of the next page.
    older: Option<String>,
    /// The URL of the first page, unless this is it.
    latest: Option<String>,
}

#[derive(Serialize)]
struct Row {
    id: String,
    address: String,
    title: String,
    began: String,
    subjects: String,
    trials: String,
    state: StateWords,
    verdict: String,
}

/// A state as a word and a sign, so it does not depend on colour.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct StateWords {
    /// The CSS class of its chip: `ok`, `warn` or `live`.
    pub class: &'static str,
    /// `✓`, `!` or `▶`.
    pub sign: &'static str,
    /// `finished`
    pub word: &'static str,
    /// Details; may be empty.
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

/// A run as one line.
#[derive(Debug)]
pub struct Brief {
    /// Its name.
    pub id: String,
    /// Title of its study, its progress, and its state; or why it cannot be read.
    pub read: Result<(String, String, StateWords), StoreError>,
}

/// All runs of a folder, one line each, sorted by name.
pub fn briefs(folder: PathBuf) -> Vec<Brief> {
    let library = Library::new(folder);
    let mut all = library.all();
    all.reverse();
    let brief = |found: &Found| {
        let card = library.card(found)?;
        let state = library.state(found, &card, Live::read_end(&found.path).as_ref())?;
        let trials = format!("{}/{} trials", card.done, card.planned);
        Ok((card.title.clone(), trials, StateWords::of(&state)))
    };
    all.iter().map(|found| Brief { id: found.id.clone(), read: brief(found) }).collect()
}

/// A page of the runs that match all words of a filter, latest first.
pub fn list(library: &Library, asked: &Asked, patience: Duration) -> String {
    let (all, until) = (library.all(), Instant::now() + patience);
    let from = asked.before.as_ref().map_or(0, |before| all.partition_point(|found| found.id >= *before));
    let (mut rows, mut read) = (Vec::new(), from);
    for found in &all[from..] {
        rows.extend(Some(row(library, found)).filter(|row| row.has(&asked.filter)));
        read += 1;
        if rows.len() == ROWS_MAX || (read - from >= ROWS_MAX && Instant::now() >= until) {
            break;
        }
    }
    let first = format!("/?filter={}", encoded(&asked.filter));
    let older = all[..read].last().filter(|_| read < all.len());
    let older = older.map(|last| format!("{first}&before={}", encoded(&last.id)));
    let latest = (from > 0).then_some(first);
    let folder = library.folder().display().to_string();
    let (all, shown) = (all.len(), shown(rows.len(), all.len()));
    page("list.html", &List { folder, filter: asked.filter.clone(), rows, all, shown, older, latest })
}

fn shown(rows: usize, all: usize) -> String {
    let all_runs = counted(all as u64, "run");
    if rows == all { all_runs } else { format!("{rows} of {all_runs}") }
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
            subjects: String::new(),
            trials: String::new(),
            state: StateWords::unreadable(),
            verdict: error.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::invented::{GO, InventedRun};
    use crate::stored;

    const LONG: Duration = Duration::from_secs(3600);

    /// Copies of one run without a report, named from `000` on.
    fn copies(runs: &Path, count: usize) -> Library {
        let mut run = InventedRun::new(1);
        run.scenario("json-c64", "json", "JSON", 64).steady(GO, 34_300.0);
        stored::write(runs, &run).unwrap();
        let original = runs.join(&run.run.id);
        (0..count).for_each(|number| copy(&original, &runs.join(format!("{number:03}"))));
        fs::remove_dir_all(original).unwrap();
        Library::new(runs.to_owned())
    }

    fn copy(from: &Path, to: &Path) {
        fs::create_dir(to).unwrap();
        for entry in from.read_dir().unwrap().flatten() {
            let (from, to) = (entry.path(), to.join(entry.file_name()));
            if from.is_dir() { copy(&from, &to) } else { _ = fs::copy(from, to).unwrap() }
        }
    }

    fn ids(page: &str) -> Vec<&str> {
        page.split("name=\"run\" value=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect()
    }

    /// The query of the link to older runs.
    fn older(page: &str) -> Option<Asked> {
        let (_, before) = page.split_once("class=\"older\"")?.1.split_once("before=")?;
        Some(Asked { before: before.split('"').next().map(str::to_owned), ..Asked::default() })
    }

    #[test]
    fn only_the_runs_of_a_page_are_analysed() {
        let folder = tempfile::tempdir().unwrap();
        let library = copies(folder.path(), 300);
        let first = list(&library, &Asked::default(), LONG);
        assert_eq!((ids(&first).len(), library.analysed_count()), (ROWS_MAX, ROWS_MAX));
        assert_eq!((ids(&first)[0], ids(&first)[49]), ("299", "250"), "the latest come first");
        assert!(first.contains("50 of 300 runs"));
        let second = list(&library, &older(&first).unwrap(), LONG);
        assert_eq!((ids(&second)[0], library.analysed_count()), ("249", 2 * ROWS_MAX));
        assert!(second.contains("Latest runs") && !first.contains("Latest runs"));
        let last = Asked { before: Some("001".to_owned()), ..Asked::default() };
        let last = list(&library, &last, LONG);
        assert!(ids(&last) == ["000"] && older(&last).is_none());
    }

    #[test]
    fn a_search_ends_with_the_patience_and_leads_on() {
        let folder = tempfile::tempdir().unwrap();
        let library = copies(folder.path(), 60);
        let asked = |before| Asked { filter: "no such word".to_owned(), before };
        let page = list(&library, &asked(None), Duration::ZERO);
        assert!(page.contains("No run read so far has all of these words"));
        assert_eq!((older(&page).unwrap().before.as_deref(), library.analysed_count()), (Some("010"), ROWS_MAX));
        let page = list(&library, &asked(Some("010".to_owned())), Duration::ZERO);
        assert!(page.contains("No run has all of these words") && older(&page).is_none());
    }
}
