//! A run: its state, its reports, and its progress while it is active.

use std::time::Instant;

use serde::Serialize;
use tolok_analysis::figures::moment;
use tolok_analysis::{FEWEST_RUNS, Findings};

use super::at_work::AtWork;
use super::list::{PATIENCE, StateWords};
use super::{Refusal, address, downloads, page};
use crate::library::{Analysed, Card, Found, Library, State};
use crate::live::Live;

/// Most other runs of the study that the page offers for a comparison.
const OTHERS_MAX: usize = 100;

#[derive(Serialize)]
struct Run {
    id: String,
    address: String,
    title: String,
    question: String,
    facts: String,
    state: StateWords,
    trials: String,
    /// The command that resumes it, if it was stopped.
    resume: Option<String>,
    /// Commands for a terminal, with their purpose.
    commands: Vec<Command>,
    is_running: bool,
    verdicts: Vec<Verdict>,
    cautions: Vec<String>,
    downloads: Vec<Download>,
    others: Vec<Other>,
    /// Whether the study has enough runs for a history.
    has_history: bool,
    at_work: Option<AtWork>,
}

/// The verdict on a scenario.
#[derive(Serialize)]
struct Verdict {
    title: String,
    id: String,
    sentence: String,
}

/// A command to copy.
#[derive(Serialize)]
struct Command {
    why: &'static str,
    line: String,
}

#[derive(Serialize)]
struct Download {
    name: &'static str,
    what: &'static str,
}

#[derive(Serialize)]
struct Other {
    id: String,
    began: String,
}

/// The page that shows only the progress of a run.
#[derive(Serialize)]
struct LivePage {
    id: String,
    address: String,
    title: String,
    state: StateWords,
    is_running: bool,
    at_work: AtWork,
}

/// The data for both pages.
struct Read {
    card: std::sync::Arc<Card>,
    analysed: std::sync::Arc<Analysed>,
    live: Option<Live>,
    state: State,
}

impl Read {
    fn of(library: &Library, found: &Found) -> Result<Self, Refusal> {
        let live = Live::read(&found.path);
        let read = || {
            let card = library.card(found)?;
            let state = library.state(found, &card, live.as_ref())?;
            Ok((card, library.analysed(found)?, state))
        };
        let (card, analysed, state) = read().map_err(|error| Refusal::unreadable(&found.id, &error))?;
        Ok(Self { card, analysed, live, state })
    }

    fn at_work(&self, found: &Found) -> AtWork {
        AtWork::of(&address(&found.id), &self.card, &self.analysed, self.live.as_ref(), &self.state)
    }
}

/// The page of a run.
pub fn run(library: &Library, found: &Found) -> Result<String, Refusal> {
    let read = Read::of(library, found)?;
    let findings = &read.analysed.findings;
    let facts = &findings.run;
    let is_running = read.state == State::Running;
    let others = others(library, found, &read.card);
    let values = Run {
        id: found.id.clone(),
        address: address(&found.id),
        title: facts.title.clone(),
        question: facts.question.clone(),
        facts: format!("{} · tolok {} · {}", moment(&facts.started_at), facts.tolok_version, facts.machine),
        state: StateWords::of(&read.state),
        trials: format!("{} of {} trials", read.card.done, read.card.planned),
        resume: matches!(read.state, State::Stopped(_)).then(|| format!("tolok resume {}", found.id)),
        commands: commands(found, &facts.command, &read.state, others.first()),
        is_running,
        // An active run gets no verdict, because the next trial may change it.
        verdicts: if is_running { Vec::new() } else { verdicts(findings) },
        cautions: if is_running { Vec::new() } else { findings.cautions.clone() },
        downloads: downloads().map(download).collect(),
        has_history: others.len() + 1 >= FEWEST_RUNS,
        others,
        at_work: is_running.then(|| read.at_work(found)),
    };
    Ok(page("run.html", &values))
}

/// The page of a run's activity, second by second.
pub fn live(library: &Library, found: &Found) -> Result<String, Refusal> {
    let read = Read::of(library, found)?;
    let values = LivePage {
        id: found.id.clone(),
        address: address(&found.id),
        title: read.card.title.clone(),
        state: StateWords::of(&read.state),
        is_running: read.state == State::Running,
        at_work: read.at_work(found),
    };
    Ok(page("live.html", &values))
}

fn commands(found: &Found, again: &str, state: &State, newest: Option<&Other>) -> Vec<Command> {
    let id = &found.id;
    let resume = matches!(state, State::Stopped(_))
        .then(|| Command { why: "go on where it stopped", line: format!("tolok resume {id}") });
    let again = Command { why: "run it again", line: again.to_owned() };
    let compare = newest.map(|other| Command {
        why: "compare it with the newest other run of its study",
        line: format!("tolok compare {id} {}", other.id),
    });
    resume.into_iter().chain([again]).chain(compare).collect()
}

fn verdicts(findings: &Findings) -> Vec<Verdict> {
    let verdict = |title: &str, id: &str, sentence: &str| {
        let [title, id, sentence] = [title, id, sentence].map(str::to_owned);
        Verdict { title, id, sentence }
    };
    let of_servers = findings.scenarios.iter().map(|it| verdict(&it.title, &it.id, &it.verdict));
    of_servers.chain(findings.programs.iter().map(|it| verdict(&it.title, &it.id, &it.verdict))).collect()
}

fn download(format: tolok_report::Format) -> Download {
    let name = format.name();
    let what = match name {
        "html" => "one page that needs nothing but itself",
        "md" => "tables for a pull request or a README",
        "csv" => "one row a case, for a spreadsheet",
        "tidy" => "one row an observation, for statistics of your own",
        "json" => "everything, for programs",
        "tex" => "tables for a paper",
        "svg" => "a picture to share",
        "junit" => "objectives as test cases, for continuous integration",
        _ => "",
    };
    Download { name, what }
}

/// Runs of the same study, latest first, as many as can be read in time.
fn others(library: &Library, found: &Found, card: &Card) -> Vec<Other> {
    let of_study = |other: &Found| {
        let other_card = library.card(other).ok().filter(|it| other.id != found.id && it.title == card.title)?;
        Some((other_card.started_at.clone(), other.id.clone()))
    };
    let until = Instant::now() + PATIENCE;
    let all = library.all();
    let in_time = all.iter().take_while(|_| Instant::now() < until);
    let mut others: Vec<(String, String)> = in_time.filter_map(of_study).take(OTHERS_MAX).collect();
    others.sort_by(|one, other| other.cmp(one));
    others.into_iter().map(|(began, id)| Other { id, began: moment(&began) }).collect()
}
