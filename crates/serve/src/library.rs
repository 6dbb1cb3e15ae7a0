//! The runs of a folder. What was read of a run is cached until something is added to it.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use serde::Deserialize;
use tolok_analysis::{Findings, Names, Records, analyse};
use tolok_store::{Folder, MANIFEST, RunFolder, StoreError, StoredRun};

use crate::live::Live;

/// Most analysed runs in the cache.
const KEPT_MAX: usize = 24;

/// The runs of a folder.
#[derive(Debug)]
pub struct Library {
    folder: PathBuf,
    cards: Mutex<HashMap<String, (Stamp, Arc<Card>)>>,
    analysed: Mutex<HashMap<String, (Stamp, Arc<Analysed>)>>,
}

/// A run in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its name: the name of its folder.
    pub id: String,
    pub path: PathBuf,
}

/// Changes when something is added to a run: times and lengths of the files that every finished trial changes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp([Option<(SystemTime, u64)>; 4]);

/// A run as the list shows it.
#[derive(Debug)]
pub struct Card {
    pub title: String,
    /// When it began (RFC 3339).
    pub started_at: String,
    pub subjects: Vec<String>,
    pub planned: usize,
    /// Trials that have a record.
    pub done: usize,
    /// The content of its last report if nothing was added since, otherwise the result of an analysis on demand.
    reported: OnceLock<Reported>,
}

/// The parts of a `report.json` that are read, and of findings that are kept.
#[derive(Debug, Clone, Deserialize)]
struct Reported {
    #[serde(default)]
    scenarios: Vec<Judged>,
    #[serde(default)]
    programs: Vec<Judged>,
    trials_missing: u32,
    unsound: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
struct Judged {
    title: String,
    verdict: String,
}

/// The records of a run and its findings.
#[derive(Debug)]
pub struct Analysed {
    pub stored: StoredRun,
    pub names: Names,
    pub findings: Findings,
}

/// The state of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// A process is writing to its folder.
    Running,
    /// All trials are done, and the answers can be trusted.
    Finished,
    /// All trials are done, but the run is not sound, for these reasons.
    Unsound(Vec<String>),
    /// This many trials are missing, and no process is writing.
    Stopped(u32),
}

impl Library {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, cards: Mutex::default(), analysed: Mutex::default() }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// All runs, latest first: a run's name begins with its start time. A missing folder has none.
    pub fn all(&self) -> Vec<Found> {
        let mut all: Vec<Found> = self.entries().filter(Found::is_run).collect();
        all.sort_by(|one, other| other.id.cmp(&one.id));
        all
    }

    fn entries(&self) -> impl Iterator<Item = Found> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| Some(Found { id: entry.file_name().into_string().ok()?, path: entry.path() }))
    }

    /// The run with exactly this name. The name is only compared with those in the folder and never becomes a path.
    pub fn find(&self, id: &str) -> Option<Found> {
        self.entries().find(|found| found.id == id && found.is_run())
    }

    /// A run as the list shows it.
    pub fn card(&self, found: &Found) -> Result<Arc<Card>, StoreError> {
        kept(&self.cards, found, usize::MAX, || Card::read(&found.path))
    }

    /// The records of a run and its findings.
    pub fn analysed(&self, found: &Found) -> Result<Arc<Analysed>, StoreError> {
        kept(&self.analysed, found, KEPT_MAX, || Analysed::read(&found.path))
    }

    /// The state of a run.
    pub fn state(&self, found: &Found, card: &Card, live: Option<&Live>) -> Result<State, StoreError> {
        let ended = live.and_then(|live| live.missing);
        if ended.is_none() && RunFolder::is_at_work(&found.path) {
            return Ok(State::Running);
        }
        // A stopping rule may end a run before all planned trials are done.
        let missing = match (card.planned - card.done.min(card.planned), ended) {
            (0, _) => 0,
            (_, Some(missing)) => missing,
            (_, None) => self.reported(found, card)?.trials_missing,
        };
        if missing > 0 {
            return Ok(State::Stopped(missing));
        }
        let unsound = self.reported(found, card)?.unsound.clone();
        Ok(if unsound.is_empty() { State::Finished } else { State::Unsound(unsound) })
    }

    /// The verdict on the first scenario of a run, with the scenario's title if there are several. It comes from the last report if nothing
    /// was added since.
    pub fn verdict(&self, found: &Found, card: &Card) -> Result<Option<String>, StoreError> {
        let reported = self.reported(found, card)?;
        let all: Vec<&Judged> = reported.scenarios.iter().chain(&reported.programs).collect();
        Ok(first_of(&all))
    }

    /// The number of runs whose verdict is known.
    #[cfg(test)]
    pub fn analysed_count(&self) -> usize {
        let cards = self.cards.lock().unwrap_or_else(PoisonError::into_inner);
        cards.values().filter(|(_, card)| card.reported.get().is_some()).count()
    }

    /// Analyses a run without a fresh report only once, however often a page lists it.
    fn reported<'c>(&self, found: &Found, card: &'c Card) -> Result<&'c Reported, StoreError> {
        if let Some(reported) = card.reported.get() {
            return Ok(reported);
        }
        let analysed = self.analysed(found)?;
        Ok(card.reported.get_or_init(|| Reported::of(&analysed.findings)))
    }
}

impl Found {
    fn is_run(&self) -> bool {
        Folder::at(&self.path).is_file("run.json")
    }
}

/// The first of several verdicts, with its title. A single verdict needs no title.
fn first_of(all: &[&Judged]) -> Option<String> {
    match all {
        [] => None,
        [only] => Some(only.verdict.clone()),
        [first, ..] => Some(format!("{}: {}", first.title, first.verdict)),
    }
}

/// The cached value of a run, or a fresh one if something was added to the run.
fn kept<T>(
    all: &Mutex<HashMap<String, (Stamp, Arc<T>)>>,
    found: &Found,
    at_most: usize,
    read: impl FnOnce() -> Result<T, StoreError>,
) -> Result<Arc<T>, StoreError> {
    // Taken before reading, so later additions are not mistaken for contents already read.
    let stamp = Stamp::of(&Folder::at(&found.path));
    if let Some((known, value)) = all.lock().unwrap_or_else(PoisonError::into_inner).get(&found.id)
        && *known == stamp
    {
        return Ok(Arc::clone(value));
    }
    let value = Arc::new(read()?);
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    if all.len() >= at_most {
        // Any entry may be dropped: all can be read again.
        all.clear();
    }
    all.insert(found.id.clone(), (stamp, Arc::clone(&value)));
    Ok(value)
}

impl Reported {
    fn of(findings: &Findings) -> Self {
        let judged = |title: &String, verdict: &String| Judged { title: title.clone(), verdict: verdict.clone() };
        Self {
            scenarios: findings.scenarios.iter().map(|it| judged(&it.title, &it.verdict)).collect(),
            programs: findings.programs.iter().map(|it| judged(&it.title, &it.verdict)).collect(),
            trials_missing: findings.trials_missing,
            unsound: findings.unsound.clone(),
        }
    }
}

impl Stamp {
    fn of(run: &Folder) -> Self {
        Self(["run.json", MANIFEST, "trials", "report.json"].map(|name| run.changed(name)))
    }

    /// Whether a report was written after the last trial.
    fn has_fresh_report(&self) -> bool {
        let Self([run, manifest, trials, report]) = self;
        let last = [run, manifest, trials].into_iter().flatten().map(|(time, _)| time).max();
        report.as_ref().zip(last).is_some_and(|((reported, _), last)| reported >= last)
    }
}

impl Card {
    fn read(path: &Path) -> Result<Self, StoreError> {
        let folder = RunFolder::open(path);
        let (run, plan) = (folder.run()?, folder.plan()?);
        let names: Names = folder.names()?;
        let mut subjects = Vec::new();
        let mut seen = BTreeSet::new();
        for case in plan.cases.iter().filter(|case| case.competes() && seen.insert(&case.subject.subject)) {
            let named = names.subjects.get(&case.subject.subject);
            subjects.push(named.map_or_else(|| case.subject.label.clone(), |named| named.title.clone()));
        }
        let fresh =
            Stamp::of(folder.folder()).has_fresh_report().then(|| folder.folder().read("report.json").ok()).flatten();
        Ok(Self {
            title: plan.title.clone(),
            started_at: run.started_at,
            subjects,
            planned: plan.trials.len(),
            done: plan.trials.iter().filter(|trial| folder.is_finished(trial)).count(),
            reported: fresh
                .and_then(|text| serde_json::from_slice::<Reported>(&text).ok())
                .map_or_else(OnceLock::new, OnceLock::from),
        })
    }
}

impl Analysed {
    fn read(path: &Path) -> Result<Self, StoreError> {
        let folder = RunFolder::open(path);
        let (stored, names) = (folder.read()?, folder.names()?);
        let findings = analyse(&records(&stored, &names));
        Ok(Self { stored, names, findings })
    }

    /// The records behind the findings.
    pub fn records(&self) -> Records<'_> {
        records(&self.stored, &self.names)
    }
}

fn records<'a>(stored: &'a StoredRun, names: &'a Names) -> Records<'a> {
    let StoredRun { run, plan, trials, diagnoses, records_sha256, .. } = stored;
    Records { run, plan, names, trials, diagnoses, records_sha256: records_sha256.as_deref() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with these runs, and with entries that are not runs.
    fn library(runs: &[&str]) -> (tempfile::TempDir, Library) {
        let folder = tempfile::tempdir().unwrap();
        for run in runs {
            fs::create_dir_all(folder.path().join("runs").join(run)).unwrap();
            fs::write(folder.path().join("runs").join(run).join("run.json"), "{}").unwrap();
        }
        fs::create_dir_all(folder.path().join("runs/notes")).unwrap();
        fs::write(folder.path().join("run.json"), "{}").unwrap();
        let library = Library::new(folder.path().join("runs"));
        (folder, library)
    }

    #[test]
    fn a_run_is_found_by_its_whole_name_and_by_nothing_else() {
        let (_folder, library) = library(&["2026-11-21-a", "a b%2e"]);
        assert_eq!(library.find("2026-11-21-a").unwrap().path, library.folder().join("2026-11-21-a"));
        assert!(library.find("a b%2e").is_some());
        let absolute = library.folder().join("2026-11-21-a").display().to_string();
        for name in [
            "",
            ".",
            "..",
            "../runs/2026-11-21-a",
            "2026-11-21-a/",
            "./2026-11-21-a",
            "notes",
            "2026-11-21",
            "latest",
            &absolute,
        ] {
            assert_eq!(library.find(name), None, "{name}");
        }
    }

    #[test]
    fn a_folder_that_is_not_there_has_no_runs() {
        assert_eq!(Library::new("/nonexistent/runs".into()).all(), []);
    }

    #[test]
    fn a_run_that_cannot_be_read_says_why() {
        let (_folder, library) = library(&["broken"]);
        let error = library.card(&library.find("broken").unwrap()).unwrap_err();
        assert!(error.to_string().ends_with("is not a run of this version of tolok: it has no `format`"), "{error}");
    }
}
